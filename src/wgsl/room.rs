//! Where sources are compiled: on the caller's thread, or on one with a stack for deep ones.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Stack for the deepest source that [`check`](super::check) lets pass, in builds without optimisation too. Memory is
/// taken as far as it is used.
const STACK_BYTES: usize = 256 << 20;

/// What compiling a checked source takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    is_deep: bool,
}

impl Room {
    pub(super) const fn new(is_deep: bool) -> Self {
        Self { is_deep }
    }

    /// Runs `compile`, on a thread of its own if the source is deep.
    ///
    /// # Errors
    /// The system gives no thread, or the compiler broke off: parsers are other people's, and may panic at what they do
    /// not expect.
    pub(crate) fn run<T: Send>(self, compile: impl FnOnce() -> T + Send) -> Result<T, String> {
        if !self.is_deep {
            // Nothing that `compile` touched is used after a panic but the message.
            return catch_unwind(AssertUnwindSafe(compile)).map_err(|cause| broke_off(&*cause));
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .name("wgsl".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, compile)
                .map_err(|error| {
                    format!("no thread with {STACK_BYTES} bytes of stack for a source this deep: {error}")
                })?;
            thread.join().map_err(|cause| broke_off(&*cause))
        })
    }
}

fn broke_off(cause: &(dyn Any + Send)) -> String {
    let words = cause
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| cause.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given");
    format!("the compiler broke off: {words}")
}
