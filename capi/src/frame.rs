//! Frames in memory: the content of `.lz4` files.

use std::ffi::c_void;

use pagepress::Error;
use pagepress::lz4::frame::{FrameEvent, FrameReader, Step};

use crate::buffer::pp_buffer;
use crate::call::call;
use crate::context::{pp_context, with};
use crate::dictionary::{self, pp_dictionary};
use crate::memory::{give, input, output, variable};
use crate::options::{frame_options, pp_frame_options};
use crate::status::pp_status;

/// `pp_frame_content_size` of a frame that does not state its size.
pub const PP_CONTENT_SIZE_UNKNOWN: u64 = u64::MAX;

/// Bytes of the longest header, of the end mark with a checksum, and of an index without its entries.
const FRAME_BYTES: usize = 19 + 8 + 36;
/// Bytes beside the content of a block: its size, its checksum, its entry in the index.
const BLOCK_BYTES: usize = 4 + 4 + 8;
/// Content of the smallest block.
const SMALLEST_BLOCK: usize = 4096;

/// Returns the most bytes of a frame of `content_size` bytes with any options; 0 if that exceeds `SIZE_MAX`.
#[unsafe(no_mangle)]
pub extern "C" fn pp_compress_frame_bound(content_size: usize) -> usize {
    let blocks = content_size
        .div_ceil(SMALLEST_BLOCK)
        .checked_mul(BLOCK_BYTES);
    let bound = blocks.and_then(|n| n.checked_add(content_size)?.checked_add(FRAME_BYTES));
    bound.unwrap_or(0)
}

/// Compresses `source` to one frame. `context` may be null for the CPU, `options` for the defaults.
/// `*written` is the size of the frame; 0 after an error.
///
/// # Safety
/// `context` is null or was not closed; `source` has `source_size` bytes, `target` has `capacity` bytes and overlaps nothing else;
/// `options` is null or points to options; `written` points to a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compress_frame(
    context: *const pp_context,
    source: *const c_void,
    source_size: usize,
    options: *const pp_frame_options,
    target: *mut c_void,
    capacity: usize,
    written: *mut usize,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (written, content, out) = unsafe {
            let written = variable(written, "written")?;
            *written = 0;
            (
                written,
                input(source, source_size, "source")?,
                output(target, capacity, "target")?,
            )
        };
        let compress = |work: &mut crate::context::Work| {
            let auto = work.codec.auto_level(false);
            // SAFETY: the caller's guarantee for `options`.
            let options = unsafe { frame_options(options, auto, Some(source_size)) }?;
            let frame = &mut work.frame;
            work.codec.compress_frame_into(content, &options, frame)?;
            give(frame, out, written)
        };
        // SAFETY: the caller's guarantee for `context`.
        unsafe { with(context, compress) }
    })
}

/// Decompresses all frames in `source` to `target`. The content must have at most `capacity` bytes; a larger one is `PP_OUTPUT_LIMIT`.
/// `context` may be null for the CPU, `dictionary` for none; with one, the CPU decompresses. `*written` is the size of the content; 0 after an error, when
/// `target` has arbitrary bytes.
///
/// # Safety
/// As `pp_compress_frame`; `dictionary` is null or was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompress_frame(
    context: *const pp_context,
    source: *const c_void,
    source_size: usize,
    dictionary: *const pp_dictionary,
    target: *mut c_void,
    capacity: usize,
    written: *mut usize,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (written, frames, out, dictionary) = unsafe {
            let written = variable(written, "written")?;
            *written = 0;
            (
                written,
                input(source, source_size, "source")?,
                output(target, capacity, "target")?,
                dictionary::optional(dictionary)?,
            )
        };
        let decompress = |work: &mut crate::context::Work| {
            *written = match dictionary {
                Some(dictionary) => dictionary.decompress_frame_into(frames, out)?,
                None => work.codec.decompress_frame_into(frames, out)?.0,
            };
            Ok(())
        };
        // SAFETY: the caller's guarantee for `context`.
        unsafe { with(context, decompress) }
    })
}

/// As `pp_decompress_frame`, for content of unknown size, to memory of the library. Content above `limit` bytes is `PP_OUTPUT_LIMIT`, and no
/// more is allocated; `UINT64_MAX` is no limit. `*buffer` is null after an error.
///
/// # Safety
/// As `pp_decompress_frame`; `buffer` points to a pointer. Free the buffer with `pp_buffer_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompress_frame_to_buffer(
    context: *const pp_context,
    source: *const c_void,
    source_size: usize,
    dictionary: *const pp_dictionary,
    limit: u64,
    buffer: *mut *mut pp_buffer,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (buffer, frames, dictionary) = unsafe {
            let buffer = variable(buffer, "buffer")?;
            *buffer = std::ptr::null_mut();
            (
                buffer,
                input(source, source_size, "source")?,
                dictionary::optional(dictionary)?,
            )
        };
        let decompress = |work: &mut crate::context::Work| match dictionary {
            Some(dictionary) => Ok(dictionary.decompress_frame(frames, Some(limit))?),
            None => Ok(work.codec.decompress_frame(frames, Some(limit))?.0),
        };
        // SAFETY: the caller's guarantee for `context`.
        *buffer = pp_buffer::handle(unsafe { with(context, decompress) }?);
        Ok(())
    })
}

/// Sets `*content_size` to the size that the header of the first frame states, or to `PP_CONTENT_SIZE_UNKNOWN`. The start of the
/// frame is enough: `source` may be cut off behind the header. A frame can state a false size, so compare it with a limit before
/// allocating. `dictionary` is that of the frame; null for none.
///
/// # Safety
/// `source` has `source_size` bytes; `dictionary` is null or was not freed; `content_size` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_frame_content_size(
    source: *const c_void,
    source_size: usize,
    dictionary: *const pp_dictionary,
    content_size: *mut u64,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (content_size, mut rest, dictionary) = unsafe {
            let content_size = variable(content_size, "content_size")?;
            *content_size = PP_CONTENT_SIZE_UNKNOWN;
            (
                content_size,
                input(source, source_size, "source")?,
                dictionary::optional(dictionary)?,
            )
        };
        let mut reader = FrameReader::new().with_dictionary(dictionary.cloned());
        loop {
            match reader.step(rest)? {
                Step::Event {
                    event: FrameEvent::Header(header),
                    ..
                } => {
                    *content_size = header.content_size.unwrap_or(PP_CONTENT_SIZE_UNKNOWN);
                    return Ok(());
                }
                Step::Event { consumed, .. } => rest = rest.get(consumed..).unwrap_or_default(),
                Step::More { consumed, .. } if consumed > 0 => {
                    rest = rest.get(consumed..).unwrap_or_default();
                }
                Step::More { needed, .. } => {
                    let at = source_size as u64;
                    let needed = needed as u64;
                    return Err(Error::TruncatedFrame { at, needed }.into());
                }
            }
        }
    })
}
