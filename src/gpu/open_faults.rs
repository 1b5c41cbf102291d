//! Failures to open an adapter, injected by tests. The engines ask for them, so they are below the engines.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use crate::{Error, Result};

/// Number of subsequent attempts to open an adapter that fail.
static FAULTS: AtomicU32 = AtomicU32::new(0);

/// Makes the next `n` attempts to open an adapter fail, for tests.
#[doc(hidden)]
pub fn fail_opening(n: u32) {
    FAULTS.store(n, SeqCst);
}

/// Returns the injected failure of this attempt, if there is one.
pub(super) fn fault(backend: &'static str) -> Result<()> {
    let taken = FAULTS.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1));
    match taken {
        Err(_) => Ok(()),
        Ok(_) => Err(Error::BackendUnavailable {
            backend,
            reason: "a test has it fail".into(),
        }),
    }
}
