//! What LZ4 data may be besides a frame, and all of it in one call.
//!
//! Blocks without a frame have no mark, checksum or, if raw, length; a reader has to be told what they are.

mod hadoop;
mod measure;

pub use measure::measure_block;
pub(crate) use measure::{fault, measure};

use super::decode::decode;
use super::frame::{self, FrameOptions, put_word};
use super::parse::{MAX_BLOCK_SIZE, MIN_PAGE_SIZE};
use super::{Encoder, Level, Parse};
use crate::memory::zeros;
use crate::{Error, Result};

const SIZE_BYTES: usize = 4;
/// Longest content of a block in bytes that liblz4 takes.
const MOST_BLOCK_CONTENT: usize = 0x7e00_0000;

/// What compressed bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Format {
    /// LZ4 frames, legacy and skippable ones too: what a `.lz4` file is.
    #[default]
    Frame,
    /// One LZ4 block and nothing else.
    Block,
    /// One LZ4 block after the size of its content, four bytes, little-endian.
    SizePrefixed,
    /// Records of blocks as Hadoop's `Lz4Codec` writes them, and Arrow and Parquet as `LZ4_HADOOP`.
    Hadoop,
}

/// Compresses `content`; a frame has the default options but for the level.
///
/// [`Level::Fast`] and [`Level::High`] make one block of at most 4 MiB of content, [`Level::Sequential`] of 2,113,929,216
/// bytes. Frames and [`Format::Hadoop`] have several blocks and no limit.
///
/// # Errors
/// [`Error::InvalidArgument`] for content that is too long for one block; [`Error::OutOfMemory`].
pub fn compress(content: &[u8], format: Format, level: Level) -> Result<Vec<u8>> {
    if format == Format::Frame {
        let options = FrameOptions {
            level,
            ..FrameOptions::default()
        };
        return frame::compress(content, &options);
    }
    let mut blocks = compress_to_blocks(content, format, level)?;
    blocks.shrink_to_fit();
    Ok(blocks)
}

/// [`compress`] without frames: [`Format::Frame`] is one block.
pub(crate) fn compress_to_blocks(content: &[u8], format: Format, level: Level) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    if format == Format::Hadoop {
        hadoop::compress(content, level, &mut out)?;
        return Ok(out);
    }
    let (most, expected) = match level {
        Level::Sequential => (
            MOST_BLOCK_CONTENT,
            "give at most 2113929216 bytes to a block",
        ),
        _ => (
            MAX_BLOCK_SIZE as usize,
            "give at most 4 MiB to a block, or the level sequential",
        ),
    };
    if content.len() > most {
        return Err(Error::invalid(
            "content length",
            content.len() as u64,
            expected,
        ));
    }
    let size = content.len() as u32;
    if format == Format::SizePrefixed {
        put_word(&mut out, size);
    }
    let parse = Parse::new(size.clamp(MIN_PAGE_SIZE, MAX_BLOCK_SIZE), level)?;
    Encoder::new(&parse).append_whole(content, &mut out)?;
    Ok(out)
}

/// Decompresses `bytes` to at most `limit` bytes.
///
/// # Errors
/// Of frames those of [`frame::decompress`]. Of blocks [`Error::CorruptPage`] with the number of the block;
/// [`Error::TruncatedFrame`] where lengths or blocks are cut off; [`Error::ContentSizeMismatch`] if blocks hold another size
/// than is stored before them; [`Error::OutputLimit`]; [`Error::OutOfMemory`].
pub fn decompress(bytes: &[u8], format: Format, limit: Option<u64>) -> Result<Vec<u8>> {
    if format == Format::Frame {
        return frame::decompress(bytes, limit);
    }
    decompress_blocks(bytes, format, limit)
}

/// [`decompress`] without frames: [`Format::Frame`] is one block.
pub(crate) fn decompress_blocks(
    bytes: &[u8],
    format: Format,
    limit: Option<u64>,
) -> Result<Vec<u8>> {
    let corrupt = |page| move |source| Error::CorruptPage { page, source };
    let n_bytes = each_block(bytes, format, &mut |i, block| {
        measure_block(block).map_err(corrupt(i))
    })?;
    let limit = limit.unwrap_or(u64::MAX).min(usize::MAX as u64);
    if n_bytes > limit {
        return Err(Error::OutputLimit { limit });
    }
    let mut content = zeros(n_bytes as usize)?;
    let mut at = 0;
    each_block(bytes, format, &mut |i, block| {
        let n_bytes = decode(block, &mut content[at..], 0).map_err(corrupt(i))?;
        at += n_bytes;
        Ok(n_bytes as u64)
    })?;
    Ok(content)
}

/// Gives each block with its number to `take`, which returns the length of its content. Returns the length of all content.
fn each_block(
    bytes: &[u8],
    format: Format,
    take: &mut dyn FnMut(usize, &[u8]) -> Result<u64>,
) -> Result<u64> {
    match format {
        Format::Frame | Format::Block => take(0, bytes),
        Format::SizePrefixed => {
            let (stored, block) = split_size(bytes).ok_or(Error::TruncatedFrame {
                at: bytes.len() as u64,
                needed: SIZE_BYTES.saturating_sub(bytes.len()) as u64,
            })?;
            let actual = take(0, block)?;
            if stored == actual {
                return Ok(actual);
            }
            Err(Error::ContentSizeMismatch { stored, actual })
        }
        Format::Hadoop => hadoop::each_block(bytes, take),
    }
}

/// The size in front of a block, and the block.
pub(crate) fn split_size(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (size, block) = bytes.split_first_chunk::<SIZE_BYTES>()?;
    Some((u32::from_le_bytes(*size).into(), block))
}
