//! Runs futures: blocking natively, spawned on the event loop in a browser, where nothing blocks.

/// Returns true if this target has blocking calls: true natively, false on wasm32.
#[must_use]
pub const fn sync_available() -> bool {
    cfg!(not(target_arch = "wasm32"))
}

/// Runs a future to its end on this thread. Native only: a browser's main thread must never block.
#[cfg(not(target_arch = "wasm32"))]
pub fn block_on<F: Future>(future: F) -> F::Output {
    pollster::block_on(future)
}

/// Runs a future on the browser's event loop and returns at once. wasm32 only.
#[cfg(all(target_arch = "wasm32", feature = "wgpu"))]
pub fn spawn_local(future: impl Future<Output = ()> + 'static) {
    wasm_bindgen_futures::spawn_local(future);
}
