//! Frames in parts, and the checksum of contents that workers put together.

use crate::Result;
use crate::lz4::frame::{Checksum, FrameDecoder, FrameOptions, FrameWriter};
use crate::memory::reserve;
use crate::web::level;
use crate::web::memory::{NOTHING, fail, lend, object, settle, settle_empty, taken};

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

/// Gives the blocks of `content`, which are whole ones but for the last of the frame: after the header if that was not
/// given yet, before the end if this is the last part.
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
    // SAFETY: this function's contract.
    let (frame, content) = unsafe { (&mut *frame, taken(content, n_bytes)) };
    settle(frame.push(&content, is_last))
}

impl Compression {
    fn push(&mut self, content: &[u8], is_last: bool) -> Result<Vec<u8>> {
        let mut out = std::mem::take(&mut self.header);
        // Most that comes of it, but for what is around blocks.
        reserve(&mut out, content.len())?;
        self.writer.push(content, &mut out)?;
        if is_last {
            self.writer.end(&mut out)?;
        }
        Ok(out)
    }
}

/// Adds content whose blocks are made elsewhere to the checksum, if there is to be one.
///
/// # Safety
/// The object is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_content(frame: *mut Compression, content: *mut u8, n_bytes: usize) {
    // SAFETY: this function's contract.
    let (frame, content) = unsafe { (&mut *frame, taken(content, n_bytes)) };
    frame.writer.add_content(&content);
}

/// Counts blocks that are made elsewhere, of `n_content` bytes of content in all. `sizes` are the words before them, which
/// only an index needs.
///
/// # Safety
/// The object is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn note_blocks(
    frame: *mut Compression,
    n_content: usize,
    sizes: *mut u8,
    n_bytes: usize,
) {
    // SAFETY: this function's contract.
    let (frame, sizes) = unsafe { (&mut *frame, taken(sizes, n_bytes)) };
    frame.writer.note_blocks(n_content, &sizes);
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_compression(frame: *mut Compression) {
    // SAFETY: this function's contract.
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

/// Takes `n_bytes` more of input, which are to be written where this says before any other call; null if there is no memory
/// for them.
///
/// # Safety
/// The object is there, and the bytes are written.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_input(frames: *mut Decompression, n_bytes: usize) -> *mut u8 {
    // SAFETY: this function's contract.
    let frames = unsafe { &mut *frames };
    let held = &mut frames.held;
    held.drain(..frames.at);
    frames.at = 0;
    if held.try_reserve(n_bytes).is_err() {
        return std::ptr::null_mut();
    }
    let start = held.len();
    // SAFETY: there is room, which `FrameDecompression.add` in plain.ts fills before it returns.
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
    // SAFETY: this function's contract.
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
    // SAFETY: this function's contract.
    let frames = unsafe { &mut *frames };
    settle_empty(frames.decoder.finish(&frames.held[frames.at..]))
}

/// Bytes of input done so far.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn input_done(frames: *const Decompression) -> f64 {
    // SAFETY: this function's contract.
    unsafe { &*frames }.decoder.position() as f64
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_decompression(frames: *mut Decompression) {
    // SAFETY: this function's contract.
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
    // SAFETY: this function's contract.
    let (sum, part) = unsafe { (&mut *sum, taken(part, n_bytes)) };
    sum.add(&part);
    sum.value()
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_sum(sum: *mut Checksum) {
    // SAFETY: this function's contract.
    drop(unsafe { Box::from_raw(sum) });
}
