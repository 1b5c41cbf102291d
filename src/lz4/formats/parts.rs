//! The parts of a container: LZ4 blocks whose content has a known size.

use super::Container;
use crate::lz4::decode::decode;
use crate::lz4::parse::{MAX_BLOCK_SIZE, MIN_PAGE_SIZE};
use crate::lz4::{BlockError, Encoder, Level, Parse};
use crate::memory::extend;
use crate::{Error, Result};

/// Most bytes of content per byte of a block.
const MOST_EXPANSION: u64 = 255;

/// Fails if a container of `length` bytes cannot have `n_bytes` of content. Its size is stated at byte `at`.
pub(super) fn check_plausible(
    format: Container,
    n_bytes: u64,
    length: usize,
    at: u64,
) -> Result<()> {
    if n_bytes <= MOST_EXPANSION.saturating_mul(length as u64) {
        return Ok(());
    }
    Err(Error::InvalidContainer {
        format,
        what: "content size",
        value: n_bytes,
        at,
    })
}

/// Decodes a part to `to`; one of the same length is the content itself. `number` is that of its block, for errors.
pub(super) fn decode_part(number: usize, part: &[u8], to: &mut [u8]) -> Result<()> {
    if part.len() == to.len() {
        to.copy_from_slice(part);
        return Ok(());
    }
    decode_exactly(number, part, to)
}

/// Decodes an LZ4 block that must fill `to`.
pub(super) fn decode_exactly(number: usize, block: &[u8], to: &mut [u8]) -> Result<()> {
    let source = match decode(block, to, 0) {
        Ok(n) if n == to.len() => return Ok(()),
        Ok(_) => BlockError::OutputUnderrun,
        Err(source) => source,
    };
    Err(Error::CorruptPage {
        page: number,
        source,
    })
}

/// Returns an encoder for parts of at most `n_bytes`.
pub(super) fn encoder_of(n_bytes: usize, level: Level) -> Result<Encoder> {
    let page_size = n_bytes.clamp(MIN_PAGE_SIZE as usize, MAX_BLOCK_SIZE as usize);
    Ok(Encoder::new(&Parse::new(page_size as u32, level)?))
}

/// Appends `content` as an LZ4 block, or as it is if the block is not shorter.
pub(super) fn encode_part(content: &[u8], encoder: &mut Encoder, out: &mut Vec<u8>) -> Result<()> {
    let at = out.len();
    encoder.append_whole(content, out)?;
    if out.len() - at >= content.len() {
        out.truncate(at);
        extend(out, content)?;
    }
    Ok(())
}
