//! Work on a thread of its own, beside a call that may block.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::{Mutex, PoisonError};
#[cfg(not(target_arch = "wasm32"))]
use std::thread;

use crate::Result;

/// Runs `call`, which may block this thread if `hash` is there, and `hash` meanwhile on a thread of its own. A thread of the pool
/// would be missing from the work of `call`. Where the system starts no thread, `hash` runs behind `call`.
pub(in crate::batch) async fn aside<T>(
    hash: Option<impl FnMut() + Send>,
    call: impl Future<Output = Result<T>>,
) -> Result<T> {
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(hash) = hash {
        let hash = Mutex::new(hash);
        let run = || hash.lock().unwrap_or_else(PoisonError::into_inner)();
        return thread::scope(|scope| {
            let builder = thread::Builder::new().name("pagepress-hash".into());
            let started = builder.spawn_scoped(scope, run);
            let done = crate::gpu::runtime::block_on(call);
            if started.is_err() {
                run();
            }
            done
        });
    }
    // No call blocks in a browser.
    #[cfg(target_arch = "wasm32")]
    drop(hash);
    call.await
}
