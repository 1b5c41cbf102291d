//! The content size of a block, computed from its sequences without decoding them.

use crate::Error;
use crate::lz4::BlockError;
use crate::lz4::parse::{MIN_MATCH, TOKEN_MAX};

/// Returns the bytes of content of an independent block, or the error that decoding it would give.
///
/// # Errors
/// Any [`BlockError`] except those of an output that is too short or too long.
pub fn measure_block(block: &[u8]) -> Result<u64, BlockError> {
    measure(block, 0)
}

/// As [`measure_block`], for a block whose matches may reach `history` bytes back.
pub(crate) fn measure(block: &[u8], history: u64) -> Result<u64, BlockError> {
    walk(block, history, &mut 0)
}

/// Returns the error of block number `page` of a frame, in which a decoder found `source`. Its matches may reach
/// `history` bytes back.
pub(crate) fn fault(page: usize, block: &[u8], history: u64, source: BlockError) -> Error {
    let mut n_bytes = 0;
    match source {
        BlockError::OffsetTooFar => {
            // `source` is the error of this call.
            let _ = walk(block, history, &mut n_bytes);
            Error::MatchBeforeContent { page, n_bytes }
        }
        source => Error::CorruptPage { page, source },
    }
}

fn walk(block: &[u8], history: u64, reach: &mut u64) -> Result<u64, BlockError> {
    let (mut at, mut n_bytes) = (0, 0_u64);
    loop {
        let token = usize::from(*block.get(at).ok_or(BlockError::Truncated)?);
        let (n_literals, from) = length(block, at + 1, token >> 4)?;
        n_bytes += n_literals;
        at = from.saturating_add(usize::try_from(n_literals).unwrap_or(usize::MAX));
        match block.len().checked_sub(at) {
            None => return Err(BlockError::Truncated),
            Some(0) => return Ok(n_bytes),
            Some(_) => {}
        }
        let offset = block.get(at..at + 2).ok_or(BlockError::Truncated)?;
        match u64::from(offset[0]) | u64::from(offset[1]) << 8 {
            0 => return Err(BlockError::ZeroOffset),
            offset if offset > history + n_bytes => {
                *reach = offset - history - n_bytes;
                return Err(BlockError::OffsetTooFar);
            }
            _ => {}
        }
        let (extra, next) = length(block, at + 2, token & TOKEN_MAX)?;
        n_bytes += extra + MIN_MATCH as u64;
        at = next;
    }
}

/// Returns a length that starts with the nibble `half` of a token and may be extended at `at`, and the position after
/// it.
fn length(block: &[u8], mut at: usize, half: usize) -> Result<(u64, usize), BlockError> {
    let mut length = half as u64;
    if half == TOKEN_MAX {
        loop {
            let byte = *block.get(at).ok_or(BlockError::Truncated)?;
            at += 1;
            length += u64::from(byte);
            if byte != 255 {
                break;
            }
        }
    }
    Ok((length, at))
}
