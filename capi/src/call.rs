//! The frame of every call: errors become a status and a message, panics too.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pagepress::Error;

use crate::status::{pp_status, set_last};

/// The error of a call.
#[derive(Debug)]
pub(crate) struct Failure {
    status: pp_status,
    message: String,
}

impl Failure {
    /// Returns the error of an argument outside its domain.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self {
            status: pp_status::PP_INVALID_ARGUMENT,
            message: message.into(),
        }
    }

    /// Returns the error of a result that does not fit.
    pub(crate) fn too_small(needed: usize, actual: usize) -> Self {
        Error::OutputTooSmall {
            needed: needed as u64,
            actual: actual as u64,
        }
        .into()
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> pp_status {
        self.status
    }

    /// Stores the message for `pp_last_error`, and returns the status.
    pub(crate) fn report(self) -> pp_status {
        set_last(&self.message);
        self.status
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            status: pp_status::of(&error),
            message: error.to_string(),
        }
    }
}

/// Runs a call and returns its status. No panic crosses to the caller.
pub(crate) fn call(work: impl FnOnce() -> Result<(), Failure>) -> pp_status {
    // Whatever a panic leaves half done is owned by the call, or behind a mutex, which is poisoned then.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => pp_status::PP_OK,
        Ok(Err(failure)) => failure.report(),
        Err(payload) => {
            // Dropping a payload could panic again.
            std::mem::forget(payload);
            set_last(
                "internal error: the library panicked; please report the message on standard error",
            );
            pp_status::PP_INTERNAL
        }
    }
}

/// Runs a call that cannot fail and returns its value, or `fallback` if it panics.
pub(crate) fn value<T>(fallback: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        std::mem::forget(payload);
        fallback
    })
}
