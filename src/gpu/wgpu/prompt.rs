//! Waits that end as soon as the device is done, in Chromium.
//!
//! Its GPU process looks for finished work after each batch of commands, and every 2 to 3 ms if there are none. A read of 4 KB
//! that is ready after 0.3 ms takes that long. So while a future waits, the page sends commands that are answered without the
//! device: those of an empty error scope. `docs/decisions/059` has the measurements.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use js_sys::Reflect;
use wasm_bindgen::JsValue;

use super::shared::Shared;
use crate::Result;
use crate::clock::Clock;
use crate::gpu::budget::{Budget, Charge};
use crate::gpu::info::GpuDeviceInfo;

/// Longest time for which a wait sends commands. After that, Chromium's interval adds little.
const MOST_NS: u64 = 20_000_000;

/// Most bytes on their way between device and staging buffers beside which a wait sends commands. Large jobs have others in
/// flight, whose commands do as well, and the GPU process has copies to make.
const MOST_BYTES: u64 = 16 << 20;

/// Decides if a wait of a device sends commands.
#[derive(Debug)]
pub(super) struct Prompt {
    is_useful: bool,
    /// Bytes on their way between device and staging buffers.
    in_flight: Arc<Budget>,
}

impl Prompt {
    /// A software adapter runs on the cores that would answer. The module that tests make fail has no other.
    pub(super) fn new(info: &GpuDeviceInfo) -> Self {
        Self {
            is_useful: is_chromium() && (cfg!(feature = "web-faults") || !info.is_software()),
            in_flight: Budget::new(None),
        }
    }

    /// Notes that `n_bytes` are on their way until the charge is dropped.
    pub(super) fn transfer(&self, n_bytes: u64) -> Result<Charge> {
        self.in_flight.charge(n_bytes, n_bytes)
    }

    fn sends(&self, begin: Clock) -> bool {
        self.is_useful && self.in_flight.held() <= MOST_BYTES && begin.elapsed_ns() < MOST_NS
    }
}

/// Returns true in Chromium and in browsers of its engine.
fn is_chromium() -> bool {
    let get = |object: &JsValue, name: &str| Reflect::get(object, &JsValue::from_str(name)).ok();
    let navigator = get(&js_sys::global(), "navigator");
    let agent = navigator.and_then(|navigator| get(&navigator, "userAgent")?.as_string());
    agent.is_some_and(|agent| agent.contains("Chrome/"))
}

impl Shared {
    /// Waits for an answer of the device.
    pub(super) async fn promptly<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        let begin = Clock::start();
        while self.prompt.sends(begin) {
            // Pushed and popped at once, so that scopes of the page around it stay in order.
            let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
            let mut reply = pin!(scope.pop());
            let first = poll_fn(|context| match answer.as_mut().poll(context) {
                Poll::Ready(value) => Poll::Ready(Some(value)),
                Poll::Pending => reply.as_mut().poll(context).map(|_| None),
            });
            if let Some(value) = first.await {
                return value;
            }
        }
        answer.await
    }
}
