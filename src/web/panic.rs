//! Panics reach JavaScript as errors with the code `INTERNAL`, after which the package makes a new instance of the module.

use std::panic::PanicHookInfo;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(hook));
}

/// Writes the panic and its stack to the console, and throws it. The instance is not used afterwards, so that nothing needs
/// to be unwound.
fn hook(info: &PanicHookInfo<'_>) {
    let text = info.to_string();
    console_error_panic_hook::hook(info);
    let error = js_sys::Error::new(&text);
    // An object that was made here is neither frozen nor a proxy.
    let _ = js_sys::Reflect::set(&error, &"code".into(), &"INTERNAL".into());
    wasm_bindgen::throw_val(error.into());
}
