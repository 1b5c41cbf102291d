//! Bytes and objects between JavaScript and the module.

use std::alloc::Layout;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result};

/// What calls return that give bytes: none, or those in the answer, or an error.
pub(in crate::web) const NOTHING: u32 = 0;
pub(in crate::web) const BYTES: u32 = 1;
pub(in crate::web) const ERROR: u32 = 2;

/// Start, length and capacity of what the last call gave.
static ANSWER: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Memory for `n_bytes`, for a call to take; null if there is none.
#[unsafe(no_mangle)]
extern "C" fn take_memory(n_bytes: usize) -> *mut u8 {
    match Layout::array::<u8>(n_bytes) {
        Ok(layout) if layout.size() == 0 => NonNull::dangling().as_ptr(),
        // SAFETY: the layout has a size.
        Ok(layout) => unsafe { std::alloc::alloc(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Where to read start, length and capacity of the bytes that a call gave.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const AtomicUsize {
    ANSWER.as_ptr()
}

/// Frees the bytes that a call gave, or memory that no call is to take.
///
/// # Safety
/// They are an answer, or all of what [`take_memory`] gave, and were not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_answer(start: *mut u8, capacity: usize) {
    // SAFETY: `ModuleMemory` in module-memory.ts, which alone calls this, gives what `give` made of a vector, or start and
    // size of memory with the layout of a vector's.
    drop(unsafe { Vec::from_raw_parts(start, 0, capacity) });
}

/// The bytes that JavaScript put into memory.
///
/// # Safety
/// The memory is that of [`take_memory`], of this size, all of it was written, and no call had it before.
pub(in crate::web) unsafe fn taken(start: *mut u8, n_bytes: usize) -> Vec<u8> {
    // SAFETY: `ModuleMemory::give` in module-memory.ts reads a length once, takes so much memory, writes all of it, and
    // hands start and length to one call. Memory of `take_memory` has the layout of such a box.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, n_bytes)) }.into_vec()
}

/// Leaves bytes as the answer.
#[inline(never)]
pub(in crate::web) fn give(bytes: Vec<u8>) -> u32 {
    let bytes = ManuallyDrop::new(bytes);
    answer_with(&bytes, bytes.capacity())
}

/// Leaves bytes as the answer that stay whose they are: there is nothing to free.
#[cfg(feature = "npm-cpu")]
pub(in crate::web) fn lend(bytes: &[u8]) -> u32 {
    answer_with(bytes, 0)
}

fn answer_with(bytes: &[u8], capacity: usize) -> u32 {
    let parts = [bytes.as_ptr() as usize, bytes.len(), capacity];
    for (place, part) in ANSWER.iter().zip(parts) {
        place.store(part, Ordering::Relaxed);
    }
    BYTES
}

/// Leaves an error as the answer: its code, a space, its text.
#[inline(never)]
pub(in crate::web) fn fail(error: &Error) -> u32 {
    let mut text = String::from(error.code());
    text.push(' ');
    text.push_str(&error.text());
    give(text.into_bytes());
    ERROR
}

/// Leaves bytes or an error.
pub(in crate::web) fn settle(result: Result<Vec<u8>>) -> u32 {
    match result {
        Ok(bytes) => give(bytes),
        Err(error) => fail(&error),
    }
}

/// Leaves an error, if there is one.
pub(in crate::web) fn settle_empty(result: Result<()>) -> u32 {
    match result {
        Ok(()) => NOTHING,
        Err(error) => fail(&error),
    }
}

/// An object for JavaScript; null, with the error as the answer, if there is none.
pub(in crate::web) fn object<T>(made: Result<T>) -> *mut T {
    match made {
        Ok(made) => Box::into_raw(Box::new(made)),
        Err(error) => {
            fail(&error);
            std::ptr::null_mut()
        }
    }
}
