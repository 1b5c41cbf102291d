//! Yields to the browser's event loop.

/// Yields to the event loop of a browser once, so that a device-lost event can arrive. Natively it returns at once.
pub(super) async fn turn() {
    #[cfg(target_arch = "wasm32")]
    {
        use wasm_bindgen::{JsCast, JsValue};
        let promise = js_sys::Promise::new(&mut |resolve, _| {
            let timer = js_sys::Reflect::get(&js_sys::global(), &JsValue::from_str("setTimeout"));
            let started = timer
                .and_then(|timer| timer.dyn_into::<js_sys::Function>())
                .and_then(|timer| timer.call1(&JsValue::UNDEFINED, &resolve));
            if started.is_err() {
                // A host without timers: the promise itself is a turn of the microtask queue.
                drop(resolve.call0(&JsValue::UNDEFINED));
            }
        });
        drop(wasm_bindgen_futures::JsFuture::from(promise).await);
    }
}
