//! Frames in parts, and the checksum of contents that workers put together.

use crate::Result;
use crate::lz4::frame::{Checksum, FrameDecoder, FrameOptions, FrameWriter};
use crate::web::level;
use crate::web::memory::{NOTHING, fail, lend, object, settle, settle_empty, taken};
use crate::web::table::read_table;

/// Bits of the options of a frame; the lowest two are its level.
const CONTENT_CHECKSUM: u32 = 4;
const BLOCK_CHECKSUMS: u32 = 8;
const INDEX: u32 = 16;

/// A frame that is being compressed.
struct Compression {
    writer: FrameWriter,
    /// The header, until it is given.
    header: Vec<u8>,
}

/// Options from their bits; `content_size` is negative if it is not known.
fn frame_options(block_size: u32, flags: u32, content_size: f64) -> FrameOptions {
    FrameOptions {
        block_size,
        level: level(flags),
        content_checksum: flags & CONTENT_CHECKSUM != 0,
        block_checksums: flags & BLOCK_CHECKSUMS != 0,
        content_size: (content_size >= 0.0).then_some(content_size as u64),
        index: flags & INDEX != 0,
    }
}

/// Begins a frame. `content_size` is negative if it is not known.
#[unsafe(no_mangle)]
extern "C" fn begin_compression(
    block_size: u32,
    flags: u32,
    content_size: f64,
) -> *mut Compression {
    let options = frame_options(block_size, flags, content_size);
    let mut header = Vec::new();
    let writer = FrameWriter::new(&options, &mut header);
    object(writer.map(|writer| Compression { writer, header }))
}

/// Gives the blocks of `content`, which are whole ones but for the last of the frame.
///
/// # Safety
/// The object is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn compress(
    frame: *mut Compression,
    content: *mut u8,
    n_bytes: usize,
    is_last: bool,
) -> u32 {
    // SAFETY: the caller says so.
    let (frame, content) = unsafe { (&mut *frame, taken(content, n_bytes)) };
    settle(frame.add(is_last, |writer, out| writer.push(&content, out)))
}

impl Compression {
    /// What `push` appends, after the header if that was not given yet, before the end if this is the last part.
    fn add(
        &mut self,
        is_last: bool,
        push: impl FnOnce(&mut FrameWriter, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Vec<u8>> {
        let mut out = std::mem::take(&mut self.header);
        push(&mut self.writer, &mut out)?;
        if is_last {
            self.writer.end(&mut out)?;
        }
        Ok(out)
    }
}

/// The same, of pages that are compressed already: their blocks, and their table.
///
/// # Safety
/// The object is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn push_pages(
    frame: *mut Compression,
    content: *mut u8,
    n_bytes: usize,
    packed: *mut u8,
    n_packed: usize,
    table: *mut u8,
    n_table: usize,
    page_size: u32,
    is_last: bool,
) -> u32 {
    // SAFETY: the caller says so.
    let (frame, content) = unsafe { (&mut *frame, taken(content, n_bytes)) };
    // SAFETY: likewise.
    let (packed, table) = unsafe { (taken(packed, n_packed), taken(table, n_table)) };
    settle(frame.add(is_last, |writer, out| {
        let table = read_table(&table, &packed)?;
        writer.push_pages(&content, &packed, &table, page_size, out)
    }))
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_compression(frame: *mut Compression) {
    // SAFETY: the caller says so.
    drop(unsafe { Box::from_raw(frame) });
}

/// Frames that are being decompressed.
struct Decompression {
    decoder: FrameDecoder,
    /// Input, of which the first `at` bytes are done with.
    held: Vec<u8>,
    at: usize,
}

/// Begins to decompress frames to at most `limit` bytes, and to at most `group_bytes` at once, if blocks are not larger.
#[unsafe(no_mangle)]
extern "C" fn begin_decompression(limit: f64, group_bytes: usize) -> *mut Decompression {
    object(Ok(Decompression {
        decoder: FrameDecoder::new(Some(limit as u64)).with_group_bytes(group_bytes),
        held: Vec::new(),
        at: 0,
    }))
}

/// Takes `n_bytes` more of input, which are to be written where this says before any other call.
///
/// # Safety
/// The object is there, and the bytes are written.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_input(frames: *mut Decompression, n_bytes: usize) -> *mut u8 {
    // SAFETY: the caller says so.
    let frames = unsafe { &mut *frames };
    let held = &mut frames.held;
    held.drain(..frames.at);
    frames.at = 0;
    held.reserve(n_bytes);
    let start = held.len();
    // SAFETY: there is room, which the caller fills.
    unsafe {
        held.set_len(start + n_bytes);
        held.as_mut_ptr().add(start)
    }
}

/// Gives some content, which stays where it is until the next call for these frames; nothing if there is none before more
/// input comes.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn decompress(frames: *mut Decompression) -> u32 {
    // SAFETY: the caller says so.
    let frames = unsafe { &mut *frames };
    match frames.decoder.in_turn(&frames.held[frames.at..]) {
        Ok((0, _)) => NOTHING,
        Ok((consumed, content)) => {
            frames.at += consumed;
            lend(content)
        }
        Err(error) => fail(&error),
    }
}

/// Says that no more input comes, once there is no more content.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn end_input(frames: *mut Decompression) -> u32 {
    // SAFETY: the caller says so.
    let frames = unsafe { &mut *frames };
    settle_empty(frames.decoder.finish(&frames.held[frames.at..]))
}

/// Bytes of input done so far.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn input_done(frames: *const Decompression) -> f64 {
    // SAFETY: the caller says so.
    unsafe { &*frames }.decoder.position() as f64
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_decompression(frames: *mut Decompression) {
    // SAFETY: the caller says so.
    drop(unsafe { Box::from_raw(frames) });
}

/// The checksum of a content that comes in parts.
#[unsafe(no_mangle)]
extern "C" fn begin_sum() -> *mut Checksum {
    object(Ok(Checksum::new()))
}

/// Adds the next part, and gives the checksum of all parts so far.
///
/// # Safety
/// The object is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_to_sum(sum: *mut Checksum, part: *mut u8, n_bytes: usize) -> u32 {
    // SAFETY: the caller says so.
    let (sum, part) = unsafe { (&mut *sum, taken(part, n_bytes)) };
    sum.add(&part);
    sum.value()
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_sum(sum: *mut Checksum) {
    // SAFETY: the caller says so.
    drop(unsafe { Box::from_raw(sum) });
}
