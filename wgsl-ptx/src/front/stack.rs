//! Runs compilers on the caller's thread or, for deeply nested sources, on one with a large stack.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::SourceError;

/// Stack bytes for the deepest source that passes [`check`](super::check), in unoptimised builds too. The system commits
/// stack memory on first touch.
const STACK_BYTES: usize = 256 << 20;

/// The stack that the compilation of a checked source needs.
#[derive(Debug, Clone, Copy)]
pub struct CompileStack {
    is_deep: bool,
}

impl CompileStack {
    pub(super) const fn new(is_deep: bool) -> Self {
        Self { is_deep }
    }

    /// Runs `compile`, on a thread of its own if the source is deeply nested.
    ///
    /// # Errors
    /// The system has no thread, or the compiler panicked: third-party parsers may panic on unexpected
    /// input.
    pub fn run<T: Send>(self, compile: impl FnOnce() -> T + Send) -> Result<T, SourceError> {
        if !self.is_deep {
            // After a panic only its message is used, no state that `compile` touched.
            return catch_unwind(AssertUnwindSafe(compile)).map_err(|cause| panicked(&*cause));
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .name("wgsl".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, compile)
                .map_err(|error| {
                    SourceError(format!(
                        "no thread with {STACK_BYTES} bytes of stack for a source this deep: {error}"
                    ))
                })?;
            thread.join().map_err(|cause| panicked(&*cause))
        })
    }
}

fn panicked(cause: &(dyn Any + Send)) -> SourceError {
    let words = cause
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| cause.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given");
    SourceError(format!("the compiler panicked: {words}"))
}
