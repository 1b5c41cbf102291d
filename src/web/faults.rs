//! A call that panics and one that traps, for the package's own tests.

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use super::promise::promise;

/// Panics or traps in a call, for tests.
#[wasm_bindgen(js_name = failForTests)]
pub fn fail_for_tests(kind: &str, in_promise: bool) -> Promise {
    let fault: fn() = match kind {
        "panic" => panic_for_tests,
        _ => || core::arch::wasm32::unreachable(),
    };
    if !in_promise {
        fault();
    }
    promise(async move {
        fault();
        Ok(JsValue::UNDEFINED)
    })
}

#[expect(clippy::panic, reason = "what tests look for")]
fn panic_for_tests() {
    panic!("a test has it panic");
}
