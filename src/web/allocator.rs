//! The allocator of the modules: half a kilobyte, where Rust's own for wasm is 8. It looks through a list of what is free,
//! which is short: a module has few pieces of memory at a time, and those that meet are joined.

use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};

#[cfg(not(target_feature = "atomics"))]
#[global_allocator]
// SAFETY: without atomics there is one thread.
static ALLOCATOR: AssumeSingleThreaded<FreeListAllocator> =
    unsafe { AssumeSingleThreaded::new(FreeListAllocator::new()) };
