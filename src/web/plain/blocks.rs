//! Blocks outside frames.

use crate::Error;
use crate::lz4::frame::{self, Format, Seen};
use crate::web::memory::{fail, settle, taken};

/// Gives the content of a block, which is of at most `limit` bytes.
///
/// # Safety
/// The memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn decompress_block(
    block: *mut u8,
    n_bytes: usize,
    is_size_prefixed: bool,
    limit: f64,
) -> u32 {
    // SAFETY: this function's contract.
    let block = unsafe { taken(block, n_bytes) };
    let format = match is_size_prefixed {
        true => Format::SizePrefixed,
        false => Format::Block,
    };
    settle(frame::decompress_block_of(
        format,
        &block,
        Some(limit as u64),
    ))
}

/// Gives the error for `bytes`, which are no frame, that says what they are.
///
/// # Safety
/// The memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn not_lz4(bytes: *mut u8, n_bytes: usize) -> u32 {
    // SAFETY: this function's contract.
    let bytes = unsafe { taken(bytes, n_bytes) };
    let mut magic = [0; 4];
    for (to, from) in magic.iter_mut().zip(&bytes) {
        *to = *from;
    }
    fail(&Error::NotLz4 {
        magic: u32::from_le_bytes(magic),
        seen: Seen::of(&bytes),
    })
}
