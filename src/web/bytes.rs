//! Copies of JavaScript arrays.

use js_sys::Uint8Array;

use crate::Result;
use crate::memory::reserve;

/// Appends a copy of an array. Fails if there is not enough memory.
pub(super) fn append(bytes: &mut Vec<u8>, array: &Uint8Array) -> Result<()> {
    let n_bytes = array.length() as usize;
    reserve(bytes, n_bytes)?;
    let start = bytes.len();
    let room = &mut bytes.spare_capacity_mut()[..n_bytes];
    let added = array.copy_to_uninit(room).len();
    // SAFETY: `copy_to_uninit` has initialised the `added` bytes after `start`, within the capacity.
    unsafe { bytes.set_len(start + added) };
    Ok(())
}

/// Copies an array.
pub(super) fn copied(array: &Uint8Array) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    append(&mut bytes, array)?;
    Ok(bytes)
}
