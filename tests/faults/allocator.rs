//! The system's allocator with one large allocation that fails.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// Size in bytes from which an allocation can fail. Rust aborts if one of its many small allocations fails.
const LARGE: usize = 64 << 10;

/// Number of large allocations up to and including the one that fails; 0 if none is to fail.
static LEFT: AtomicU64 = AtomicU64::new(0);

pub struct Failing;

impl Failing {
    /// Counts an allocation of `n_bytes` and returns true if it must fail.
    fn fails(n_bytes: usize) -> bool {
        let next = |left: u64| left.checked_sub(1);
        n_bytes >= LARGE && LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next) == Ok(1)
    }
}

/// Makes the n-th large allocation from now on fail, counted from 1.
pub fn fail(n: u64) {
    LEFT.store(n, Ordering::SeqCst);
}

/// Cancels the failure; returns true if it has already occurred.
pub fn was_met() -> bool {
    LEFT.swap(0, Ordering::SeqCst) == 0
}

// SAFETY: every call is forwarded to the system's allocator with its arguments, or returns null, which reports that
// there is no memory; `realloc` then leaves the old block unchanged.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::fails(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the contracts are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Self::fails(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the contracts are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, n_bytes: usize) -> *mut u8 {
        if n_bytes > layout.size() && Self::fails(n_bytes) {
            return std::ptr::null_mut();
        }
        // SAFETY: the contracts are the same.
        unsafe { System.realloc(old, layout, n_bytes) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the contracts are the same.
        unsafe { System.dealloc(old, layout) }
    }
}
