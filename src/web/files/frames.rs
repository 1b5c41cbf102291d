//! Streaming compression and decompression of frames.

use std::cell::Cell;
use std::mem::ManuallyDrop;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::lz4::Dictionary;
use crate::lz4::frame::{FrameDecoder, FrameOptions, FrameWriter};
use crate::memory::reserve;
use crate::web::bytes::append;
use crate::web::level::Level;
use crate::{Error, Result};

/// A frame that is being written.
#[wasm_bindgen]
#[derive(Debug)]
pub struct FrameEncoder {
    writer: FrameWriter,
    /// Bytes of the frame that have not been taken yet. Initially the header.
    made: Vec<u8>,
}

#[wasm_bindgen]
impl FrameEncoder {
    /// Starts a frame. `contentSize`, if given, is written to its header.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unsupported block size.
    #[wasm_bindgen(constructor)]
    pub fn new(
        block_size: u32,
        level: Level,
        content_checksum: bool,
        block_checksums: bool,
        index: bool,
        content_size: Option<f64>,
    ) -> std::result::Result<FrameEncoder, JsValue> {
        let checksums = [content_checksum, block_checksums];
        let options = frame_options(block_size, level, checksums, index, None);
        Ok(Self::create(options, content_size)?)
    }

    /// Compresses `content`, whose length must be a multiple of the block size unless `isLast`, which ends the frame.
    /// Returns the number of bytes that can be taken.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `CONTENT_SIZE_MISMATCH` if the length of the content differs from the header's `contentSize`.
    pub fn push(&mut self, content: &[u8], is_last: bool) -> std::result::Result<usize, JsValue> {
        // An upper bound for the blocks, without their sizes and checksums.
        reserve(&mut self.made, content.len())?;
        self.writer.push(content, &mut self.made)?;
        if is_last {
            self.writer.end(&mut self.made)?;
        }
        Ok(self.made.len())
    }

    /// Returns the available bytes of the frame and removes them.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.made)
    }

    /// Moves the available bytes of the frame into an array of exactly their length.
    ///
    /// # Errors
    /// `LENGTH_MISMATCH` for an array of another length.
    #[wasm_bindgen(js_name = takeInto)]
    pub fn take_into(&mut self, to: &Uint8Array) -> std::result::Result<(), JsValue> {
        copy_to(&self.made, to)?;
        self.made.clear();
        Ok(())
    }

    /// Adds content whose blocks are compressed elsewhere to the content checksum.
    #[wasm_bindgen(js_name = addContent)]
    pub fn add_content(&mut self, content: &[u8]) {
        self.writer.add_content(content);
    }

    /// Returns the checksum of the content so far. Meaningful only if the frame has a content checksum.
    #[must_use]
    #[wasm_bindgen(getter, js_name = contentChecksum)]
    pub fn content_checksum(&self) -> u32 {
        self.writer.content_checksum()
    }

    /// Counts `nBytes` of content whose blocks are compressed elsewhere. `blocks` are needed only for an index; each is
    /// preceded by its size and followed by its checksum, if it has one.
    #[wasm_bindgen(js_name = noteBlocks)]
    pub fn note_blocks(&mut self, n_bytes: usize, blocks: &[u8]) {
        self.writer.note_blocks(n_bytes, blocks);
    }
}

/// Returns the options of a frame without a content size. `checksums` are those of the content and of the blocks.
pub(in crate::web) fn frame_options(
    block_size: u32,
    level: Level,
    checksums: [bool; 2],
    index: bool,
    dictionary: Option<Dictionary>,
) -> FrameOptions {
    let [content_checksum, block_checksums] = checksums;
    FrameOptions {
        block_size,
        level: level.into(),
        content_checksum,
        block_checksums,
        content_size: None,
        index,
        dictionary,
    }
}

impl FrameEncoder {
    /// Starts a frame with these options and a content size, if it is given.
    pub(in crate::web) fn create(
        mut options: FrameOptions,
        content_size: Option<f64>,
    ) -> Result<Self> {
        options.content_size = content_size.map(|n_bytes| n_bytes as u64);
        let mut made = Vec::new();
        let writer = FrameWriter::new(&options, &mut made)?;
        Ok(Self { writer, made })
    }
}

/// Maximum size of memory that a decoder passes on to the next: first-touch page faults of fresh memory cost about as
/// much as decoding.
const MOST_SPARE_BYTES: usize = 2 << 20;

thread_local! {
    /// Memory for input and content of the last dropped decoder. It needs no destructor, since the thread never ends.
    static SPARE: Cell<ManuallyDrop<[Vec<u8>; 2]>> =
        const { Cell::new(ManuallyDrop::new([Vec::new(), Vec::new()])) };
}

/// Frames that are being decompressed.
#[wasm_bindgen(js_name = FrameDecoder)]
#[derive(Debug)]
pub struct WebFrameDecoder {
    decoder: FrameDecoder,
    /// Input; the first `at` bytes have been consumed.
    held: Vec<u8>,
    at: usize,
}

#[wasm_bindgen(js_class = FrameDecoder)]
impl WebFrameDecoder {
    /// Creates a decoder that returns at most `maxOutputSize` bytes in total, and at most `groupBytes` per call unless
    /// a single block is larger.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(max_output_size: f64, group_bytes: usize) -> Self {
        Self::with_dictionary(max_output_size, group_bytes, None)
    }

    /// Adds input.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn add(&mut self, input: &Uint8Array) -> std::result::Result<(), JsValue> {
        self.held.drain(..self.at);
        self.at = 0;
        Ok(append(&mut self.held, input)?)
    }

    /// Decodes some content and returns its length; 0 if more input is needed.
    ///
    /// # Errors
    /// The errors of the frame.
    pub fn advance(&mut self) -> std::result::Result<usize, JsValue> {
        loop {
            let (consumed, content) = self.decoder.advance_serial(&self.held[self.at..])?;
            self.at += consumed;
            if consumed == 0 || !content.is_empty() {
                return Ok(content.len());
            }
        }
    }

    /// Copies the content of the last [`advance`](Self::advance) into an array of exactly its length.
    ///
    /// # Errors
    /// `OUTPUT_LIMIT` for a shorter array, which the caller sizes by what remains of the limit for all content.
    #[wasm_bindgen(js_name = copyInto)]
    pub fn copy_into(&self, to: &Uint8Array) -> std::result::Result<(), JsValue> {
        let content = self.decoder.content();
        let (length, needed) = (u64::from(to.length()), self.decoder.n_bytes());
        if length < content.len() as u64 {
            let actual = needed - content.len() as u64 + length;
            return Err(Error::OutputTooSmall { needed, actual }.into());
        }
        Ok(copy_to(content, to)?)
    }

    /// Ends the input, after [`advance`](Self::advance) has returned 0.
    ///
    /// # Errors
    /// The errors of an incomplete frame.
    pub fn end(&mut self) -> std::result::Result<(), JsValue> {
        Ok(self.decoder.finish(&self.held[self.at..])?)
    }

    /// Returns the number of bytes of input that were decoded or skipped.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> f64 {
        self.decoder.position() as f64
    }
}

impl WebFrameDecoder {
    /// As [`new`](Self::new). If there is a dictionary, it stands before each block.
    pub(in crate::web) fn with_dictionary(
        max_output_size: f64,
        group_bytes: usize,
        dictionary: Option<&Dictionary>,
    ) -> Self {
        let spare = SPARE.try_with(Cell::take).unwrap_or_default();
        let [held, room] = ManuallyDrop::into_inner(spare);
        let decoder = FrameDecoder::in_memory(room, Some(max_output_size as u64))
            .with_group_bytes(group_bytes)
            .with_dictionary(dictionary.cloned());
        Self {
            decoder,
            held,
            at: 0,
        }
    }

    /// Decodes frames that are complete in `bytes`; `None` if the content is too long for one step.
    pub(super) fn decompress_at_once(&mut self, bytes: &[u8]) -> Result<Option<&[u8]>> {
        let (consumed, _) = self.decoder.advance_serial(bytes)?;
        if consumed < bytes.len() {
            return Ok(None);
        }
        self.decoder.finish(&[])?;
        Ok(Some(self.decoder.content()))
    }
}

impl Drop for WebFrameDecoder {
    fn drop(&mut self) {
        let mut spare = [std::mem::take(&mut self.held), self.decoder.take_memory()];
        for bytes in &mut spare {
            if bytes.capacity() > MOST_SPARE_BYTES {
                *bytes = Vec::new();
            }
        }
        spare[0].clear();
        // Frees the memory of another decoder that was dropped meanwhile.
        let earlier = SPARE.try_with(|kept| kept.replace(ManuallyDrop::new(spare)));
        drop(earlier.map(ManuallyDrop::into_inner));
    }
}

fn copy_to(bytes: &[u8], to: &Uint8Array) -> Result<()> {
    if to.length() as usize != bytes.len() {
        return Err(Error::LengthMismatch {
            name: "array",
            expected: bytes.len() as u64,
            actual: to.length().into(),
        });
    }
    to.copy_from(bytes);
    Ok(())
}
