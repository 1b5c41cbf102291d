//! The streaming frame decoder.

use super::content::FrameContent;
#[cfg(not(target_arch = "wasm32"))]
use super::expected_content;
use super::output::{Given, Output};
#[cfg(not(target_arch = "wasm32"))]
use super::scratch::Scratch;
use super::window::Window;
use super::{FrameEvent, FrameHeader, FrameReader};
use crate::lz4::Dictionary;
use crate::{Error, Result};

/// Most bytes of content from one call of [`FrameDecoder::advance`], unless a block is larger.
const GROUP_BYTES: usize = 16 << 20;

/// Decodes any sequence of frames, piece by piece, from slices that the caller supplies; natively independent blocks
/// are decoded on all cores.
#[derive(Debug)]
pub struct FrameDecoder {
    pub(super) reader: FrameReader,
    pub(super) frame: Option<Frame>,
    limit: Option<u64>,
    /// Most bytes of content from one call, unless a block is larger.
    pub(super) group_bytes: usize,
    /// Bytes of content of all frames so far.
    pub(super) n_bytes: u64,
    /// Content of linked blocks, or of all blocks where they are decoded serially.
    pub(super) window: Window,
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) scratch: Scratch,
    /// The error after which the decoder returns no more content.
    pub(super) failed: Option<Error>,
}

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) header: FrameHeader,
    pub(super) content: FrameContent,
    /// Content bytes of a block of this frame, as expected from earlier blocks.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) slot: Option<usize>,
}

impl FrameDecoder {
    /// Returns a decoder that fails with [`Error::OutputLimit`] instead of returning more than `limit` bytes.
    #[must_use]
    pub fn new(limit: Option<u64>) -> Self {
        Self::in_memory(Vec::new(), limit)
    }

    /// As [`new`](Self::new), with `memory`, whose content is arbitrary, as the first window.
    pub(crate) fn in_memory(memory: Vec<u8>, limit: Option<u64>) -> Self {
        Self {
            reader: FrameReader::new(),
            frame: None,
            limit,
            group_bytes: GROUP_BYTES,
            n_bytes: 0,
            window: Window::new(memory),
            #[cfg(not(target_arch = "wasm32"))]
            scratch: Scratch::default(),
            failed: None,
        }
    }

    /// Decodes frames with this dictionary: those that state its id, and those that state none, such as the frames of `lz4 -D`. A
    /// frame that states another id is [`Error::WrongDictionary`].
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: impl Into<Option<Dictionary>>) -> Self {
        self.reader = self.reader.with_dictionary(dictionary);
        self
    }

    /// Lowers the most content of one call from 16 MiB to `group_bytes`, unless a block is larger.
    #[must_use]
    pub const fn with_group_bytes(mut self, group_bytes: usize) -> Self {
        self.group_bytes = if group_bytes < GROUP_BYTES {
            group_bytes
        } else {
            GROUP_BYTES
        };
        self
    }

    /// Decodes a part of `input`, which starts with the first byte that was not consumed yet, and appends its content
    /// to `out`. Returns the number of bytes consumed: 0 if the next piece is longer than `input`.
    ///
    /// One call returns at most 16 MiB of content, or one block if that is larger; at most 64 MiB where blocks hold more than
    /// the first block of their frame. If a frame turns out to be wrong only at its end, an earlier call may have returned some
    /// of its content.
    ///
    /// # Errors
    /// The errors of [`FrameReader::step`], and [`Error::CorruptPage`] with the number of the block in its frame,
    /// [`Error::ChecksumMismatch`], [`Error::ContentSizeMismatch`], [`Error::OutputLimit`], [`Error::OutOfMemory`].
    /// `out` is unchanged then, and every later call returns the same error.
    pub fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        self.advance_to(input, out)
    }

    /// As [`advance`](Self::advance), to any memory. Fails with [`Error::OutputTooSmall`] if the content does not fit.
    pub(crate) fn advance_to(&mut self, input: &[u8], out: &mut dyn Output) -> Result<usize> {
        #[cfg(not(target_arch = "wasm32"))]
        return self.advance_parallel(input, out);
        #[cfg(target_arch = "wasm32")]
        self.advance_serial(input).and_then(|(consumed, content)| {
            out.extend(content)?;
            Ok(consumed)
        })
    }

    /// Ends the decoding: nothing follows `rest`, the bytes not consumed yet, of which [`Self::advance`] consumed
    /// nothing.
    ///
    /// # Errors
    /// As [`FrameReader::finish`], and the error of an earlier call.
    pub fn finish(&mut self, rest: &[u8]) -> Result<()> {
        self.refuse_if_failed()?;
        let finished = match self.reader.finish(rest) {
            Ok(Some(FrameEvent::End { content_checksum })) => self.end(content_checksum),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        finished.inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// Takes the memory of the window, for reuse. It ends the decoding.
    #[cfg(web_files)]
    pub(crate) fn take_memory(&mut self) -> Vec<u8> {
        self.window.take_bytes()
    }

    /// Returns the bytes of content of all frames so far.
    #[cfg(web_files)]
    pub(crate) const fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Returns the content of the last [`advance_serial`](Self::advance_serial).
    #[cfg(web_files)]
    pub(crate) fn content(&self) -> &[u8] {
        self.window.content()
    }

    pub(super) fn refuse_if_failed(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Returns the bytes of input that were decoded or skipped.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.reader.position()
    }

    pub(super) fn start(&mut self, header: FrameHeader) -> Result<()> {
        self.check_limit(header.content_size.unwrap_or(0))?;
        self.window.begin_frame();
        self.frame = Some(Frame {
            header,
            content: FrameContent::new(header),
            #[cfg(not(target_arch = "wasm32"))]
            slot: None,
        });
        Ok(())
    }

    pub(super) fn end(&mut self, content_checksum: Option<u32>) -> Result<()> {
        let frame = self.frame.take();
        frame.map_or(Ok(()), |frame| frame.content.end(content_checksum))
    }

    pub(super) fn check_limit(&self, added: u64) -> Result<()> {
        match self.limit {
            Some(limit) if self.n_bytes.saturating_add(added) > limit => {
                Err(Error::OutputLimit { limit })
            }
            _ => Ok(()),
        }
    }
}

/// Decompresses all frames in `bytes`, on all cores natively.
///
/// # Errors
/// As [`FrameDecoder::advance`] and [`FrameDecoder::finish`].
pub fn decompress(bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
    decompress_by(FrameDecoder::new(limit), bytes)
}

fn decompress_by(decoder: FrameDecoder, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    #[cfg(not(target_arch = "wasm32"))]
    {
        let expected = expected_content(bytes, decoder.reader.dictionary());
        out.expect(expected.min(decoder.limit.unwrap_or(u64::MAX)));
    }
    let decoded = decompress_frames(decoder, bytes, &mut out);
    decoded.map_err(|error| error.with_detected_format(bytes))?;
    Ok(out)
}

/// As [`decompress`], to the start of `out`; returns the bytes of content. Bytes of `out` behind it are not written if all
/// blocks of a frame but its last have content of one size, as most writers make them; else up to 16 MiB of them may be.
///
/// # Errors
/// As [`decompress`], after which `out` has arbitrary content; [`Error::OutputTooSmall`] if the content does not fit, with its
/// size as far as it was decoded or is in the header.
pub fn decompress_into(bytes: &[u8], out: &mut [u8]) -> Result<usize> {
    decompress_into_by(FrameDecoder::new(None), bytes, out)
}

fn decompress_into_by(decoder: FrameDecoder, bytes: &[u8], out: &mut [u8]) -> Result<usize> {
    let mut out = Given::new(out);
    let decoded = decompress_frames(decoder, bytes, &mut out);
    decoded.map_err(|error| error.with_detected_format(bytes))?;
    Ok(out.len())
}

/// Frames with a dictionary, which [`FrameOptions::dictionary`](super::FrameOptions::dictionary) writes.
impl Dictionary {
    /// As [`decompress`], with this dictionary.
    ///
    /// # Errors
    /// As [`decompress`]; [`Error::WrongDictionary`] if a frame states another id.
    pub fn decompress_frame(&self, bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
        decompress_by(
            FrameDecoder::new(limit).with_dictionary(self.clone()),
            bytes,
        )
    }

    /// As [`decompress_into`], with this dictionary.
    ///
    /// # Errors
    /// As [`decompress_into`]; [`Error::WrongDictionary`] if a frame states another id.
    pub fn decompress_frame_into(&self, bytes: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoder = FrameDecoder::new(None).with_dictionary(self.clone());
        decompress_into_by(decoder, bytes, out)
    }
}

fn decompress_frames(mut decoder: FrameDecoder, bytes: &[u8], out: &mut dyn Output) -> Result<()> {
    let mut at = 0;
    loop {
        match decoder.advance_to(&bytes[at..], out)? {
            0 => break,
            consumed => at += consumed,
        }
    }
    decoder.finish(&bytes[at..])
}
