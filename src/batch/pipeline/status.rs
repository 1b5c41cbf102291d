//! Conversion of the kernels' status words to errors.

use super::ring::broken;
use crate::Result;
use crate::lz4::BlockError;
use crate::memory;

/// Lowest byte of the status of a page whose decoding the driver stopped early: lavapipe ends the loops of an invocation after
/// 65,535 iterations. The content of the page is undefined.
const UNFINISHED: u32 = 7;

/// Returns true if the driver stopped the decoding of a page with this status.
pub(crate) const fn is_unfinished(code: u32) -> bool {
    code & 0xff == UNFINISHED
}

/// Returns the error of a status word; `None` for 0.
///
/// # Errors
/// [`Engine`](crate::Error::Engine) for any other word: the kernel did not run.
pub(crate) fn block_error(code: u32) -> Result<Option<BlockError>> {
    const ALL: [BlockError; 6] = [
        BlockError::Truncated,
        BlockError::OutputOverrun,
        BlockError::ZeroOffset,
        BlockError::OffsetTooFar,
        BlockError::OutputUnderrun,
        BlockError::BadTableEntry,
    ];
    if code == 0 {
        return Ok(None);
    }
    if is_unfinished(code) {
        let message = "the driver stopped a loop of the kernel early";
        return Err(broken(message.into()));
    }
    let found = ALL.into_iter().find(|error| *error as u32 == code);
    found
        .map(Some)
        .ok_or_else(|| broken(format!("the kernel wrote status {code}")))
}

/// Appends the errors of status words to `errors`.
pub(crate) fn block_errors(codes: &[u32], errors: &mut Vec<Option<BlockError>>) -> Result<()> {
    memory::reserve(errors, codes.len())?;
    for &code in codes {
        errors.push(block_error(code)?);
    }
    Ok(())
}
