//! Memory of the library with a result of unknown size.

use std::ffi::c_void;

use crate::call::value;
use crate::memory::handle;

/// A result that the library allocated. Immutable.
#[derive(Debug)]
pub struct pp_buffer(pub(crate) Vec<u8>);

impl pp_buffer {
    /// Returns a handle, which the caller of the C interface frees.
    pub(crate) fn handle(bytes: Vec<u8>) -> *mut Self {
        Box::into_raw(Box::new(Self(bytes)))
    }
}

/// Returns the first byte; null for null. It is valid until the buffer is freed.
///
/// # Safety
/// `buffer` is null or a buffer that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_buffer_data(buffer: *const pp_buffer) -> *const c_void {
    // SAFETY: the caller's guarantee for `buffer`.
    unsafe { handle(buffer, "buffer") }.map_or(std::ptr::null(), |buffer| buffer.0.as_ptr().cast())
}

/// Returns the number of bytes; 0 for null.
///
/// # Safety
/// `buffer` is null or a buffer that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_buffer_size(buffer: *const pp_buffer) -> usize {
    // SAFETY: the caller's guarantee for `buffer`.
    unsafe { handle(buffer, "buffer") }.map_or(0, |buffer| buffer.0.len())
}

/// Frees a buffer. Null is ignored.
///
/// # Safety
/// `buffer` is null or a buffer that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_buffer_free(buffer: *mut pp_buffer) {
    if !buffer.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller guarantees that it was not freed.
        value((), || drop(unsafe { Box::from_raw(buffer) }));
    }
}
