//! The system's allocator, in which one large allocation fails.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// Allocations from so many bytes on count: the small ones that Rust makes everywhere cannot fail.
const LARGE: usize = 64 << 10;

/// Large allocations until the one that fails; 0 while none does.
static LEFT: AtomicU64 = AtomicU64::new(0);

pub struct Failing;

impl Failing {
    /// Whether this allocation fails.
    fn fails(n_bytes: usize) -> bool {
        let next = |left: u64| left.checked_sub(1);
        n_bytes >= LARGE && LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next) == Ok(1)
    }
}

/// Has the n-th large allocation from here on fail; counted from 1.
pub fn fail(n: u64) {
    LEFT.store(n, Ordering::SeqCst);
}

/// Ends that; whether it was met.
pub fn was_met() -> bool {
    LEFT.swap(0, Ordering::SeqCst) == 0
}

// SAFETY: every call goes to the system's allocator with the arguments it came with, or gives null, which means that there
// is no memory; `realloc` then leaves the old block as it is.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::fails(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Self::fails(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, n_bytes: usize) -> *mut u8 {
        if n_bytes > layout.size() && Self::fails(n_bytes) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(old, layout, n_bytes) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(old, layout) }
    }
}
