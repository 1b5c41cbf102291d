//! Bytes and objects between JavaScript and the module.

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result};

/// What calls return that give bytes: none, or those in the answer, or an error.
pub(in crate::web) const NOTHING: u32 = 0;
pub(in crate::web) const BYTES: u32 = 1;
pub(in crate::web) const ERROR: u32 = 2;

/// Start, length and capacity of what the last call gave.
static ANSWER: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Memory for `n_bytes`, for a call to take.
#[unsafe(no_mangle)]
extern "C" fn take_memory(n_bytes: usize) -> *mut u8 {
    Box::into_raw(Box::<[u8]>::new_uninit_slice(n_bytes)).cast()
}

/// Where to read start, length and capacity of the bytes that a call gave.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const AtomicUsize {
    ANSWER.as_ptr()
}

/// Frees the bytes that a call gave.
///
/// # Safety
/// They are an answer, and were not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_answer(start: *mut u8, capacity: usize) {
    // SAFETY: `give` took a vector apart to these.
    drop(unsafe { Vec::from_raw_parts(start, 0, capacity) });
}

/// The bytes that JavaScript put into memory.
///
/// # Safety
/// The memory is that of [`take_memory`], of this size, all of it was written, and no call had it before.
#[cfg(not(js_tensor))]
pub(in crate::web) unsafe fn taken(start: *mut u8, n_bytes: usize) -> Vec<u8> {
    // SAFETY: the caller says that this is the box, initialised.
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
#[cfg(not(js_pages))]
pub(in crate::web) fn settle_empty(result: Result<()>) -> u32 {
    match result {
        Ok(()) => NOTHING,
        Err(error) => fail(&error),
    }
}

/// An object for JavaScript; null, with the error as the answer, if there is none.
#[cfg(not(js_pages))]
pub(in crate::web) fn object<T>(made: Result<T>) -> *mut T {
    match made {
        Ok(made) => Box::into_raw(Box::new(made)),
        Err(error) => {
            fail(&error);
            std::ptr::null_mut()
        }
    }
}
