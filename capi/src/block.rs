//! Blocks without a frame, on the CPU.

use std::ffi::c_void;

use pagepress::lz4::{Dictionary, Level, decompress_block, formats};
use pagepress::{Error, lz4};

use crate::call::{Failure, call};
use crate::dictionary::{self, pp_dictionary};
use crate::memory::{give, input, output, variable};
use crate::options;
use crate::status::pp_status;

/// Returns the most bytes of a block of `content_size` bytes; 0 if that exceeds `SIZE_MAX`.
#[unsafe(no_mangle)]
pub extern "C" fn pp_compress_block_bound(content_size: usize) -> usize {
    // A run of literals: its token and its length, one byte for each 255.
    content_size
        .checked_add(content_size / 255 + 16)
        .unwrap_or(0)
}

/// Compresses `content`; `auto` is the level sequential.
pub(crate) fn compress(
    content: &[u8],
    level: u32,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<u8>, Failure> {
    let level = options::level(level, Level::Sequential)?;
    Ok(match dictionary {
        Some(dictionary) => dictionary.compress_block(content, level)?,
        None => formats::compress(content, formats::Format::Block, level)?,
    })
}

/// Decompresses a block that must fill `out`.
pub(crate) fn decompress(
    block: &[u8],
    dictionary: Option<&Dictionary>,
    out: &mut [u8],
) -> Result<(), Failure> {
    let decompressed = match dictionary {
        Some(dictionary) => dictionary.decompress_block(block, out),
        None => decompress_block(block, out),
    };
    Ok(decompressed.map_err(corrupt)?)
}

fn corrupt(source: lz4::BlockError) -> Error {
    Error::CorruptPage { page: 0, source }
}

/// Compresses `source` to one block, as `LZ4_compress_default` does. Levels fast and high take at most 4 MiB, sequential 2,113,929,216
/// bytes. `dictionary` may be null. `*written` is the size of the block; 0 after an error.
///
/// # Safety
/// `source` has `source_size` bytes, `target` has `capacity` bytes and overlaps nothing else; `dictionary` is null or was not
/// freed; `written` points to a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compress_block(
    source: *const c_void,
    source_size: usize,
    level: u32,
    dictionary: *const pp_dictionary,
    target: *mut c_void,
    capacity: usize,
    written: *mut usize,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (written, content, out, dictionary) = unsafe {
            let written = variable(written, "written")?;
            *written = 0;
            (
                written,
                input(source, source_size, "source")?,
                output(target, capacity, "target")?,
                dictionary::optional(dictionary)?,
            )
        };
        give(&compress(content, level, dictionary)?, out, written)
    })
}

/// Decompresses a block whose content has exactly `content_size` bytes. `target` is all zeros after `PP_CORRUPT_PAGE`. Without knowledge of the
/// size, `pp_block_content_size` finds it.
///
/// # Safety
/// `source` has `source_size` bytes, `target` has `content_size` bytes and overlaps nothing else; `dictionary` is null or was not
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompress_block(
    source: *const c_void,
    source_size: usize,
    dictionary: *const pp_dictionary,
    target: *mut c_void,
    content_size: usize,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (block, out, dictionary) = unsafe {
            (
                input(source, source_size, "source")?,
                output(target, content_size, "target")?,
                dictionary::optional(dictionary)?,
            )
        };
        decompress(block, dictionary, out)
    })
}

/// Sets `*content_size` to the size of the content of a block that needs no dictionary, from its sequences, without decoding it. A block
/// can hold 255 times its size, so compare it with a limit before allocating.
///
/// # Safety
/// `source` has `source_size` bytes; `content_size` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_block_content_size(
    source: *const c_void,
    source_size: usize,
    content_size: *mut u64,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (content_size, block) = unsafe {
            let content_size = variable(content_size, "content_size")?;
            *content_size = 0;
            (content_size, input(source, source_size, "source")?)
        };
        *content_size = formats::measure_block(block).map_err(corrupt)?;
        Ok(())
    })
}
