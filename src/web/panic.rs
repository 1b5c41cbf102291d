//! What becomes of a module that panics or traps: its calls reject, its GPUs are given up, and the next call from
//! JavaScript gets a fresh instance.
//!
//! A panic is told to the console, and its text to all calls under way. Any other trap reaches JavaScript as an exception,
//! of which wasm-bindgen's abort handler hears (`--force-enable-abort-handler`).

use std::cell::Cell;
use std::panic::PanicHookInfo;

use js_sys::{Error, Reflect};
use wasm_bindgen::prelude::*;

use super::promise;

/// What calls reject with that were under way in an instance that trapped without a text.
const STOPPED: &str = "the engine stopped";

/// Installs the hooks. Called once an instance, before any other code of it.
#[wasm_bindgen(start)]
fn install() {
    std::panic::set_hook(Box::new(panicked));
    wasm_bindgen::handler::set_on_abort(aborted);
}

fn panicked(info: &PanicHookInfo<'_>) {
    console_error_panic_hook::hook(info);
    stop(&format!("{STOPPED}: {info}"));
}

/// Called by the generated JavaScript after a trap, before the exception goes on.
fn aborted() {
    stop(STOPPED);
    wasm_bindgen::handler::schedule_reinit();
}

/// Gives up all that this instance has under way, the first time it is called.
fn stop(message: &str) {
    thread_local! {
        static IS_STOPPED: Cell<bool> = const { Cell::new(false) };
    }
    if IS_STOPPED.replace(true) {
        return;
    }
    let error = Error::new(message);
    // An object that was made here is neither frozen nor a proxy.
    let _ = Reflect::set(&error, &"code".into(), &"INTERNAL".into());
    promise::reject_all(&error);
    #[cfg(web_engine)]
    crate::gpu::wgpu::destroy_all();
}

/// Panics, or traps, in a call: for tests.
#[cfg(feature = "web-faults")]
#[wasm_bindgen(js_name = failForTests)]
pub fn fail_for_tests(kind: &str, in_promise: bool) -> js_sys::Promise {
    let fault: fn() = match kind {
        "panic" => panic_for_tests,
        _ => || core::arch::wasm32::unreachable(),
    };
    if !in_promise {
        fault();
    }
    promise::promise(async move {
        fault();
        Ok(JsValue::UNDEFINED)
    })
}

#[cfg(feature = "web-faults")]
#[expect(clippy::panic, reason = "what tests look for")]
fn panic_for_tests() {
    panic!("a test has it panic");
}
