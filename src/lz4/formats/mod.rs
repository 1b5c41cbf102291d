//! Formats of LZ4 data: frames, raw blocks, size-prefixed blocks, Hadoop records; each in one call. Containers of other
//! formats: [Blosc chunks](blosc), and [chunks of HDF5](hdf5).
//!
//! Blocks without a frame have no magic number, no checksum and, if raw, no length, so the caller must name the format.

pub mod blosc;
mod hadoop;
pub mod hdf5;
mod input;
mod measure;
mod parts;
pub mod shuffle;

pub use measure::measure_block;
pub(crate) use measure::{fault, measure};

use super::decode::decode_with;
use super::frame::{self, FrameOptions, put_word};
use super::parse::{MAX_BLOCK_SIZE, MIN_PAGE_SIZE};
use super::{Dictionary, Encoder, Level, Parse};
use crate::memory::reserve;
use crate::{Error, Result};

const SIZE_BYTES: usize = 4;
/// Longest content of a block in bytes that liblz4 accepts.
const MOST_BLOCK_CONTENT: usize = 0x7e00_0000;

/// Most bytes that are allocated for each byte of a block that has not been measured.
const MOST_ROOM: u64 = 8;

/// A format of LZ4 data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Format {
    /// LZ4 frames, legacy and skippable frames included: the content of a `.lz4` file.
    #[default]
    Frame,
    /// One LZ4 block and nothing else.
    Block,
    /// The size of the content in four bytes, little-endian, then one LZ4 block.
    SizePrefixed,
    /// Records of blocks as Hadoop's `Lz4Codec` writes them, and Arrow and Parquet as `LZ4_HADOOP`.
    Hadoop,
}

/// A container of LZ4 blocks of another format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Container {
    /// A chunk of Blosc.
    #[error("Blosc chunk")]
    Blosc,
    /// A chunk of HDF5 by the LZ4 filter, number 32004.
    #[error("LZ4 chunk of HDF5")]
    Hdf5Lz4,
    /// A chunk of HDF5 by the bitshuffle filter, number 32008.
    #[error("bitshuffle chunk of HDF5")]
    Bitshuffle,
}

/// Compresses `content`. A frame has the default options and this level.
///
/// [`Level::Fast`] and [`Level::High`] write one block of at most 4 MiB of content, [`Level::Sequential`] of
/// 2,113,929,216 bytes. Frames and [`Format::Hadoop`] have several blocks and no limit.
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
    let mut blocks = compress_to_blocks(content, format, level, None)?;
    blocks.shrink_to_fit();
    Ok(blocks)
}

/// As [`compress`] without frames: [`Format::Frame`] gives one block. If there is a dictionary, it stands before the block.
pub(crate) fn compress_to_blocks(
    content: &[u8],
    format: Format,
    level: Level,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    if format == Format::Hadoop {
        refuse_dictionary(dictionary)?;
        hadoop::compress(content, level, &mut out)?;
        return Ok(out);
    }
    if format == Format::SizePrefixed {
        put_word(&mut out, content.len() as u32);
    }
    append_block(content, level, dictionary, &mut out)?;
    Ok(out)
}

/// Blocks without a frame. [`Dictionary::decompress_block`] decodes them.
impl Dictionary {
    /// As [`compress`] with [`Format::Block`], with this dictionary.
    ///
    /// # Errors
    /// As [`compress`].
    pub fn compress_block(&self, content: &[u8], level: Level) -> Result<Vec<u8>> {
        let mut block = Vec::new();
        append_block(content, level, Some(self), &mut block)?;
        block.shrink_to_fit();
        Ok(block)
    }
}

/// Appends `content` as one block to `out`.
fn append_block(
    content: &[u8],
    level: Level,
    dictionary: Option<&Dictionary>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let most = match level {
        Level::Sequential => MOST_BLOCK_CONTENT,
        _ => MAX_BLOCK_SIZE as usize,
    };
    if content.len() > most {
        let expected = "give a block at most 4 MiB, or 2113929216 bytes at the level sequential";
        return Err(Error::invalid(
            "content length",
            content.len() as u64,
            expected,
        ));
    }
    let size = (content.len() as u32).clamp(MIN_PAGE_SIZE, MAX_BLOCK_SIZE);
    let mut encoder = Encoder::with_dictionary(&Parse::new(size, level)?, dictionary.cloned());
    encoder.append_whole(content, out)
}

/// Decompresses `bytes` to at most `limit` bytes.
///
/// # Errors
/// For frames those of [`frame::decompress`]. For blocks [`Error::CorruptPage`] with the number of the block;
/// [`Error::TruncatedFrame`] if a length or a block is cut off; [`Error::ContentSizeMismatch`] if blocks have another
/// size than the one stored before them; [`Error::OutputLimit`]; [`Error::OutOfMemory`].
pub fn decompress(bytes: &[u8], format: Format, limit: Option<u64>) -> Result<Vec<u8>> {
    if format == Format::Frame {
        return frame::decompress(bytes, limit);
    }
    decompress_blocks(bytes, format, limit, None)
}

/// Fails if there is a dictionary: records of Hadoop have none.
fn refuse_dictionary(dictionary: Option<&Dictionary>) -> Result<()> {
    match dictionary {
        None => Ok(()),
        Some(dictionary) => {
            let expected = "leave it out with records of Hadoop, which have none";
            let id = dictionary.id().into();
            Err(Error::invalid("dictionary", id, expected))
        }
    }
}

/// As [`decompress`] without frames: [`Format::Frame`] is read as one block. If there is a dictionary, it stands before the block.
pub(crate) fn decompress_blocks(
    bytes: &[u8],
    format: Format,
    limit: Option<u64>,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<u8>> {
    let mut content = Content {
        bytes: Vec::new(),
        limit: limit.unwrap_or(u64::MAX),
        n_blocks: 0,
        dictionary: dictionary.cloned(),
    };
    match format {
        Format::Frame | Format::Block => content.push(bytes)?,
        Format::SizePrefixed => {
            let (stored, block) = split_size(bytes).ok_or(Error::TruncatedFrame {
                at: bytes.len() as u64,
                needed: SIZE_BYTES.saturating_sub(bytes.len()) as u64,
            })?;
            content.push(block)?;
            content.check_size(0, stored)?;
        }
        Format::Hadoop => {
            refuse_dictionary(dictionary)?;
            hadoop::decompress(bytes, &mut content)?;
        }
    }
    Ok(content.bytes)
}

/// The content of independent blocks.
struct Content {
    bytes: Vec<u8>,
    limit: u64,
    n_blocks: usize,
    dictionary: Option<Dictionary>,
}

impl Content {
    /// Appends the content of a block. The block is measured first, so that only the memory it needs is allocated, unless the
    /// limit is as low: callers who know the size of the content give it as the limit.
    fn push(&mut self, block: &[u8]) -> Result<()> {
        let (page, start) = (self.n_blocks, self.bytes.len());
        let room = self.limit.saturating_sub(start as u64);
        let is_low = room <= MOST_ROOM * block.len() as u64;
        let n_bytes = if is_low { room } else { self.measured(block)? };
        // `reserve` reports a size that exceeds memory.
        let n_bytes = usize::try_from(n_bytes).unwrap_or(usize::MAX);
        reserve(&mut self.bytes, n_bytes)?;
        self.bytes.resize(start + n_bytes, 0);
        let decoded = decode_with(block, &mut self.bytes[start..], 0, self.dictionary.as_ref());
        if decoded.is_err() {
            // Content beyond the limit is another error than a fault.
            self.bytes.truncate(start);
            self.measured(block)?;
        }
        let end = decoded.map_err(|source| Error::CorruptPage { page, source })?;
        self.bytes.truncate(start + end);
        self.n_blocks += 1;
        Ok(())
    }

    /// Returns the bytes of content of a block, within the limit.
    fn measured(&self, block: &[u8]) -> Result<u64> {
        let page = self.n_blocks;
        let corrupt = |source| Error::CorruptPage { page, source };
        let history = self.dictionary.as_ref().map_or(0, Dictionary::n_bytes);
        let n_bytes = measure(block, history as u64).map_err(corrupt)?;
        let limit = self.limit;
        if n_bytes.saturating_add(self.bytes.len() as u64) > limit {
            return Err(Error::OutputLimit { limit });
        }
        Ok(n_bytes)
    }

    /// Fails unless `stored` bytes were appended since the content had `start` bytes.
    fn check_size(&self, start: usize, stored: u64) -> Result<()> {
        match (self.bytes.len() - start) as u64 {
            actual if actual != stored => Err(Error::ContentSizeMismatch { stored, actual }),
            _ => Ok(()),
        }
    }
}

/// Splits a size-prefixed block into size and block.
pub(crate) fn split_size(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (size, block) = bytes.split_first_chunk::<SIZE_BYTES>()?;
    Some((u32::from_le_bytes(*size).into(), block))
}
