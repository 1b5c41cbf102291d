//! Status words of the kernels.

use super::ring::broken;
use crate::Result;
use crate::lz4::BlockError;
use crate::memory;

/// The status of a page whose decoding the driver cut short: lavapipe ends an invocation after 65,535 iterations of its
/// loops. The page is arbitrary.
pub(crate) const UNFINISHED: u32 = 7;

/// The error that a status word stands for; 0 is none.
///
/// # Errors
/// [`Engine`](crate::Error::Engine) for a word that is no status: the kernel did not run.
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
    if code == UNFINISHED {
        let message = "the driver ended a loop of the kernel before its time";
        return Err(broken(message.into()));
    }
    let found = ALL.into_iter().find(|error| *error as u32 == code);
    found
        .map(Some)
        .ok_or_else(|| broken(format!("the kernel wrote status {code}")))
}

/// Appends the errors of many status words to `errors`.
pub(crate) fn block_errors(codes: &[u32], errors: &mut Vec<Option<BlockError>>) -> Result<()> {
    memory::reserve(errors, codes.len())?;
    for &code in codes {
        errors.push(block_error(code)?);
    }
    Ok(())
}
