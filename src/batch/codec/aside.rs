//! Work on a thread of its own, beside a call that may block.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs `first` on a new thread and `second` on this one, and returns the result of `second`. A thread of the pool would be
/// missing from the work of `second`. Where the system starts no thread, `first` runs behind `second`.
pub(in crate::batch) fn aside<T>(first: impl FnMut() + Send, second: impl FnOnce() -> T) -> T {
    let first = Mutex::new(first);
    let run = || first.lock().unwrap_or_else(PoisonError::into_inner)();
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("pagepress-hash".into());
        let started = builder.spawn_scoped(scope, run);
        let second = second();
        if started.is_err() {
            run();
        }
        second
    })
}
