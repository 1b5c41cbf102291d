//! Handles panics and traps. When the module panics or traps, its pending calls reject with `INTERNAL` and its GPU
//! devices are destroyed. The package then creates a new instance (`__wbg_reset_state`).
//!
//! A panic is logged to the console and thrown. A trap in a poll rejects a promise (`promise.rs`). wasm-bindgen's own
//! abort handler would catch all traps, but it requires WebAssembly exceptions with references, which browsers support
//! only since 2025 and Node 20 does not.

use std::panic::PanicHookInfo;

use wasm_bindgen::prelude::*;

use crate::error::coded;

#[cfg(web_engine)]
use super::pending;

/// Installs the panic hook. Called once per instance, before any other code of it.
#[wasm_bindgen(start)]
fn install() {
    std::panic::set_hook(Box::new(panicked));
}

fn panicked(info: &PanicHookInfo<'_>) {
    console_error_panic_hook::hook(info);
    // The instance is not used again, so nothing needs to be unwound.
    wasm_bindgen::throw_val(stop(&format!("the engine stopped: {info}")));
}

/// Creates an error with the code `INTERNAL`.
fn internal(reason: &str) -> JsValue {
    coded(reason, "INTERNAL")
}

#[cfg(not(web_engine))]
use internal as stop;

#[cfg(web_engine)]
thread_local! {
    /// The reason why this instance stopped.
    static CAUSE: std::cell::OnceCell<JsValue> = const { std::cell::OnceCell::new() };
}

/// Returns the reason why this instance stopped; `None` if it runs.
#[cfg(web_engine)]
pub(in crate::web) fn stopped() -> Option<JsValue> {
    CAUSE.with(|stopped| stopped.get().cloned())
}

/// Stops this instance: its promises reject with `INTERNAL`, and its GPU devices are destroyed. JavaScript calls it
/// after an exception without a code, and must then replace the instance.
#[cfg(web_engine)]
#[wasm_bindgen(js_name = stop)]
pub fn stop_for_js(reason: &str) {
    stop(reason);
}

/// Stops this instance, if it has not stopped yet, and returns the error with which it stopped.
#[cfg(web_engine)]
pub(in crate::web) fn stop(reason: &str) -> JsValue {
    if let Some(error) = stopped() {
        return error;
    }
    let error = internal(reason);
    CAUSE.with(|stopped| drop(stopped.set(error.clone())));
    pending::reject_all(&error);
    crate::gpu::wgpu::destroy_all();
    error
}
