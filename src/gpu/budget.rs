//! [`Budget`]: the limit of all allocations of a device, at which tests also inject failures.

use std::sync::Arc;
#[cfg(feature = "fault-injection")]
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result};

/// The number of bytes that the allocations of a device occupy: buffers in use, pooled buffers, and memory shared with
/// the host.
#[derive(Debug)]
pub(super) struct Budget {
    limit: u64,
    held: AtomicU64,
    #[cfg(feature = "fault-injection")]
    faults: Mutex<Faults>,
}

/// Injected failures of allocations.
#[cfg(feature = "fault-injection")]
#[derive(Debug, Default)]
struct Faults {
    /// Number of allocations that succeed before the failures.
    n_before: u64,
    /// Number of allocations that fail then.
    n_failing: u64,
    /// Number of allocations requested since these numbers were set.
    n_asked: u64,
}

/// A share of a budget, returned on drop.
#[derive(Debug)]
pub(super) struct Charge {
    budget: Arc<Budget>,
    n_bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.n_bytes, Ordering::Relaxed);
    }
}

impl Budget {
    /// Creates a budget of `limit` bytes; `None` leaves the limit to the device.
    pub(super) fn new(limit: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            limit: limit.unwrap_or(u64::MAX),
            held: AtomicU64::new(0),
            #[cfg(feature = "fault-injection")]
            faults: Mutex::default(),
        })
    }

    /// Returns the number of bytes that allocations occupy.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Charges `n_bytes` for an allocation. The error names `requested`.
    pub(super) fn charge(self: &Arc<Self>, n_bytes: u64, requested: u64) -> Result<Charge> {
        #[cfg(feature = "fault-injection")]
        if self.lock().is_next_failing() {
            return Err(Error::OutOfMemory { requested });
        }
        let fits = |held: u64| held.checked_add(n_bytes).filter(|&all| all <= self.limit);
        let taken = self
            .held
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        match taken {
            Ok(_) => Ok(Charge {
                budget: Arc::clone(self),
                n_bytes,
            }),
            Err(_) => Err(Error::OutOfMemory { requested }),
        }
    }

    /// Returns the smaller of `free` bytes of the device and the limit.
    pub(super) fn free_of(&self, free: Option<u64>) -> Option<u64> {
        match self.limit {
            u64::MAX => free,
            limit => Some(free.unwrap_or(limit).min(limit)),
        }
    }
}

#[cfg(feature = "fault-injection")]
impl Faults {
    fn is_next_failing(&mut self) -> bool {
        self.n_asked += 1;
        if self.n_before > 0 {
            self.n_before -= 1;
            return false;
        }
        let fails = self.n_failing > 0;
        self.n_failing = self.n_failing.saturating_sub(1);
        fails
    }
}

#[cfg(feature = "fault-injection")]
impl Budget {
    fn lock(&self) -> std::sync::MutexGuard<'_, Faults> {
        self.faults
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Makes `n_failing` allocations fail after `n_before` more. Returns the number requested since the last call.
    pub(super) fn fail(&self, n_before: u64, n_failing: u64) -> u64 {
        let faults = Faults {
            n_before,
            n_failing,
            n_asked: 0,
        };
        std::mem::replace(&mut *self.lock(), faults).n_asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_exceeded_and_is_returned() {
        let budget = Budget::new(Some(100));
        let first = budget.charge(60, 60).unwrap();
        let error = budget.charge(41, 40).unwrap_err();
        assert_eq!(error, Error::OutOfMemory { requested: 40 });
        let second = budget.charge(40, 40).unwrap();
        drop(first);
        assert!(budget.charge(61, 61).is_err());
        drop(second);
        assert!(budget.charge(100, 100).is_ok());
        assert!(budget.charge(u64::MAX, u64::MAX).is_err());
        assert_eq!(budget.free_of(None), Some(100));
        assert_eq!(budget.free_of(Some(50)), Some(50));
        assert_eq!(Budget::new(None).free_of(Some(50)), Some(50));
    }

    #[cfg(feature = "fault-injection")]
    #[test]
    fn only_the_requested_allocations_fail() {
        let budget = Budget::new(None);
        budget.fail(2, 2);
        let found: Vec<bool> = (0..6).map(|_| budget.charge(1, 1).is_ok()).collect();
        assert_eq!(found, [true, true, false, false, true, true]);
        assert_eq!(budget.fail(0, 0), 6);
    }
}
