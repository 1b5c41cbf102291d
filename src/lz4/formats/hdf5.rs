//! Chunks of HDF5 that the filters LZ4 (32004) and bitshuffle (32008) have written.
//!
//! All numbers are big-endian. A chunk of either filter is the size of its content in eight bytes, the size of a block in
//! four bytes, and the blocks; each is the length of an LZ4 block in four bytes, and that block. The content of the last
//! block may be shorter.
//!
//! [LZ4](https://github.com/nexusformat/HDF5-External-Filter-Plugins/blob/master/LZ4/src/H5Zlz4.c) stores a block that does
//! not become shorter; its length is that of the content then.
//! [Bitshuffle](https://github.com/kiyo-masui/bitshuffle/blob/master/src/bshuf_h5filter.c) shuffles the bits of each block,
//! whose elements are a multiple of eight. Up to seven elements that are left are stored behind the last block. Without
//! compression a chunk is only the shuffled blocks, with no numbers.

use super::Container;
use super::MOST_BLOCK_CONTENT;
use super::input::Input;
use super::parts::{check_plausible, decode_exactly, decode_part, encode_part, encoder_of};
use super::shuffle::{GROUP, bit_shuffle_to, bit_unshuffle_to};
use crate::lz4::{Level, MAX_BLOCK_SIZE};
use crate::memory::{extend, reserve, zeros};
use crate::{Error, Result};

/// Content of a block of the filter LZ4 in bytes, if the caller does not say.
const LZ4_BLOCK_BYTES: usize = 4 << 20;
/// Content of a block of bitshuffle in bytes, if the caller does not say, and least number of its elements.
const BITSHUFFLE_BLOCK_BYTES: usize = 8192;
const LEAST_ELEMENTS: usize = 128;

/// Decompresses a chunk of the filter LZ4 (32004) to at most `limit` bytes. Bytes after the chunk are ignored, as by the
/// filter.
///
/// # Errors
/// [`Error::InvalidContainer`] for a size that cannot be; [`Error::TruncatedFrame`]; [`Error::CorruptPage`] with the number
/// of the block; [`Error::OutputLimit`]; [`Error::OutOfMemory`].
pub fn decompress_lz4(bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
    let mut input = Input::new(bytes, 0);
    let mut content = content_of(Container::Hdf5Lz4, &mut input, bytes, limit)?;
    let block_bytes = input.big()? as usize;
    if block_bytes == 0 && !content.is_empty() {
        return Err(invalid(Container::Hdf5Lz4, "block size", 0, 8));
    }
    for (number, to) in content.chunks_mut(block_bytes.max(1)).enumerate() {
        let n = input.big()? as usize;
        decode_part(number, input.take(n)?, to)?;
    }
    Ok(content)
}

/// Compresses `content` as the filter LZ4 (32004) does, in blocks of `block_size` bytes of content, by default 4 MiB.
///
/// # Errors
/// [`Error::InvalidArgument`] for a block size of 0 or above 2,113,929,216 bytes, and at a level other than
/// [`Level::Sequential`] above 4 MiB; [`Error::OutOfMemory`].
pub fn compress_lz4(content: &[u8], block_size: Option<usize>, level: Level) -> Result<Vec<u8>> {
    let block_bytes = block_size.unwrap_or(LZ4_BLOCK_BYTES);
    if !(1..=MOST_BLOCK_CONTENT).contains(&block_bytes) {
        let expected = "give 1 to 2113929216 bytes";
        return Err(Error::invalid("block size", block_bytes as u64, expected));
    }
    let block_bytes = block_bytes.min(content.len().max(1));
    let mut encoder = encoder_of(block_bytes, level)?;
    let mut out = header(content.len(), block_bytes)?;
    for block in content.chunks(block_bytes) {
        put_part(&mut out, |out| encode_part(block, &mut encoder, out))?;
    }
    Ok(out)
}

/// Decompresses a chunk of bitshuffle (32008) with LZ4 to at most `limit` bytes.
///
/// # Errors
/// Those of [`decompress_lz4`], and [`Error::InvalidArgument`] for an element size of 0.
pub fn decompress_bitshuffle(
    bytes: &[u8],
    element_size: usize,
    limit: Option<u64>,
) -> Result<Vec<u8>> {
    check_element_size(element_size)?;
    let mut input = Input::new(bytes, 0);
    let mut content = content_of(Container::Bitshuffle, &mut input, bytes, limit)?;
    let n_bytes = content.len() as u64;
    let stated = input.big()?;
    let elements = match stated as usize / element_size {
        0 if stated == 0 => default_elements(element_size),
        elements => elements,
    };
    if !content.len().is_multiple_of(element_size) {
        return Err(invalid(Container::Bitshuffle, "content size", n_bytes, 0));
    }
    if elements == 0 || !elements.is_multiple_of(GROUP) {
        return Err(invalid(
            Container::Bitshuffle,
            "block size",
            stated.into(),
            8,
        ));
    }
    let room = elements.saturating_mul(element_size).min(content.len());
    let (mut shuffled, mut planes) = (zeros(room)?, zeros(room)?);
    let (blocks, rest) = split_mut(&mut content, element_size);
    for (number, to) in blocks.chunks_mut(room.max(1)).enumerate() {
        let n = input.big()? as usize;
        let shuffled = &mut shuffled[..to.len()];
        decode_exactly(number, input.take(n)?, shuffled)?;
        bit_unshuffle_to(shuffled, element_size, &mut planes, to);
    }
    let n = rest.len();
    rest.copy_from_slice(input.take(n)?);
    Ok(content)
}

/// Compresses `content` as bitshuffle (32008) with LZ4 does, in blocks of `block_elements`, by default as many as
/// bitshuffle takes.
///
/// # Errors
/// [`Error::InvalidArgument`] for an element size of 0, content of incomplete elements, and a number of elements that is not
/// a multiple of eight or of more than 4 MiB; [`Error::OutOfMemory`].
pub fn compress_bitshuffle(
    content: &[u8],
    element_size: usize,
    block_elements: Option<usize>,
    level: Level,
) -> Result<Vec<u8>> {
    let block_bytes = block_bytes(content, element_size, block_elements)?;
    if block_bytes > MAX_BLOCK_SIZE as usize {
        let expected = "give a block at most 4 MiB";
        return Err(Error::invalid("block size", block_bytes as u64, expected));
    }
    let mut encoder = encoder_of(block_bytes, level)?;
    let mut out = header(content.len(), block_bytes)?;
    let (mut shuffled, mut planes) = (zeros(block_bytes)?, zeros(block_bytes)?);
    let (blocks, rest) = content.split_at(whole_bytes(content.len(), element_size));
    for block in blocks.chunks(block_bytes) {
        let shuffled = &mut shuffled[..block.len()];
        bit_shuffle_to(block, element_size, &mut planes, shuffled);
        put_part(&mut out, |out| encoder.append_whole(shuffled, out))?;
    }
    extend(&mut out, rest)?;
    Ok(out)
}

/// Shuffles the bits of `content` as bitshuffle (32008) without compression does, in blocks of `block_elements`.
///
/// # Errors
/// [`Error::InvalidArgument`] for an element size of 0, content of incomplete elements, and a number of elements that is not
/// a multiple of eight; [`Error::OutOfMemory`].
pub fn bit_shuffle(
    content: &[u8],
    element_size: usize,
    block_elements: Option<usize>,
) -> Result<Vec<u8>> {
    by_blocks(content, element_size, block_elements, bit_shuffle_to)
}

/// Undoes [`bit_shuffle`].
///
/// # Errors
/// Those of [`bit_shuffle`].
pub fn bit_unshuffle(
    bytes: &[u8],
    element_size: usize,
    block_elements: Option<usize>,
) -> Result<Vec<u8>> {
    by_blocks(bytes, element_size, block_elements, bit_unshuffle_to)
}

fn by_blocks(
    bytes: &[u8],
    element_size: usize,
    block_elements: Option<usize>,
    convert: fn(&[u8], usize, &mut [u8], &mut [u8]),
) -> Result<Vec<u8>> {
    let block_bytes = block_bytes(bytes, element_size, block_elements)?;
    let whole = whole_bytes(bytes.len(), element_size);
    let room = block_bytes.min(whole);
    let (mut to, mut planes) = (zeros(bytes.len())?, zeros(room)?);
    let parts = to.chunks_mut(room.max(1)).zip(bytes.chunks(room.max(1)));
    for (to, from) in parts {
        // Elements after the last eight are not shuffled.
        convert(from, element_size, &mut planes, to);
    }
    Ok(to)
}

fn block_bytes(
    content: &[u8],
    element_size: usize,
    block_elements: Option<usize>,
) -> Result<usize> {
    check_element_size(element_size)?;
    if !content.len().is_multiple_of(element_size) {
        let expected = "give whole elements";
        return Err(Error::invalid(
            "content length",
            content.len() as u64,
            expected,
        ));
    }
    match block_elements.filter(|&n| n > 0) {
        None => Ok(default_elements(element_size).saturating_mul(element_size)),
        Some(n) if n.is_multiple_of(GROUP) => Ok(n.saturating_mul(element_size)),
        Some(n) => {
            let expected = "give a multiple of 8 elements";
            Err(Error::invalid("block elements", n as u64, expected))
        }
    }
}

/// Returns the elements of a block, if nobody says: a constant of the format.
fn default_elements(element_size: usize) -> usize {
    let elements = BITSHUFFLE_BLOCK_BYTES / element_size / GROUP * GROUP;
    elements.max(LEAST_ELEMENTS)
}

/// Returns the bytes of the elements that form groups of eight.
const fn whole_bytes(n_bytes: usize, element_size: usize) -> usize {
    n_bytes / element_size / GROUP * GROUP * element_size
}

fn split_mut(content: &mut [u8], element_size: usize) -> (&mut [u8], &mut [u8]) {
    let whole = whole_bytes(content.len(), element_size);
    content.split_at_mut(whole)
}

fn check_element_size(element_size: usize) -> Result<()> {
    match element_size {
        0 => Err(Error::invalid("element size", 0, "give at least 1 byte")),
        _ => Ok(()),
    }
}

/// Takes the size of the content, and returns memory for it.
fn content_of(
    format: Container,
    input: &mut Input<'_>,
    bytes: &[u8],
    limit: Option<u64>,
) -> Result<Vec<u8>> {
    let n_bytes = input.big_u64()?;
    let limit = limit.unwrap_or(u64::MAX);
    check_plausible(format, n_bytes, bytes.len(), 0)?;
    if n_bytes > limit {
        return Err(Error::OutputLimit { limit });
    }
    zeros(usize::try_from(n_bytes).unwrap_or(usize::MAX))
}

fn header(n_bytes: usize, block_bytes: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    reserve(&mut out, n_bytes / 2)?;
    extend(&mut out, &(n_bytes as u64).to_be_bytes())?;
    extend(&mut out, &(block_bytes as u32).to_be_bytes())?;
    Ok(out)
}

/// Appends what `write` appends, with its length before it.
fn put_part(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let at = out.len();
    extend(out, &[0; 4])?;
    write(out)?;
    let n = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&n.to_be_bytes());
    Ok(())
}

const fn invalid(format: Container, what: &'static str, value: u64, at: u64) -> Error {
    Error::InvalidContainer {
        format,
        what,
        value,
        at,
    }
}
