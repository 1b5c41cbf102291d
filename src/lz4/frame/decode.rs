//! The content of frames.

use super::content::FrameContent;
#[cfg(not(target_arch = "wasm32"))]
use super::parallel::Scratch;
use super::window::Window;
use super::{FrameEvent, FrameHeader, FrameReader};
use crate::{Error, Result};

/// Content that one call of [`FrameDecoder::advance`] gives at most, if blocks are not larger.
const GROUP_BYTES: usize = 16 << 20;

/// Decodes any sequence of frames, piece by piece, from slices that the caller gives; independent blocks on all
/// cores natively.
#[derive(Debug)]
pub struct FrameDecoder {
    pub(super) reader: FrameReader,
    pub(super) frame: Option<Frame>,
    limit: Option<u64>,
    /// Content that one call gives at most, if blocks are not larger.
    pub(super) group_bytes: usize,
    /// Content of all frames so far, in bytes.
    pub(super) n_bytes: u64,
    /// Content of linked blocks, or of all where blocks are decoded in turn.
    pub(super) window: Window,
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) scratch: Scratch,
    /// The error after which there is no more content.
    pub(super) failed: Option<Error>,
}

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) header: FrameHeader,
    pub(super) content: FrameContent,
    /// Content that blocks of this frame have, once known.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) slot: Option<usize>,
}

impl FrameDecoder {
    /// A decoder that fails with [`Error::OutputLimit`] rather than give more than `limit` bytes.
    #[must_use]
    pub fn new(limit: Option<u64>) -> Self {
        Self::in_memory(Vec::new(), limit)
    }

    /// The same, which decodes in `memory` whatever it holds, as far as that is enough.
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

    /// The same, giving at most `group_bytes` of content in one call, if blocks are not larger, in place of 16 MiB.
    #[must_use]
    pub const fn with_group_bytes(mut self, group_bytes: usize) -> Self {
        self.group_bytes = if group_bytes < GROUP_BYTES {
            group_bytes
        } else {
            GROUP_BYTES
        };
        self
    }

    /// Decodes some of `input`, which starts with the first byte not consumed yet, appends its content to `out`, and
    /// says how many bytes it consumed: 0 if the next piece is longer than `input`.
    ///
    /// One call gives 16 MiB of content at most, or one block if that is larger. Content of a frame whose end shows that it is
    /// wrong may have been given before, by another call.
    ///
    /// # Errors
    /// What [`FrameReader::step`] finds, and [`Error::CorruptPage`] with the number of the block in its frame,
    /// [`Error::ChecksumMismatch`], [`Error::ContentSizeMismatch`], [`Error::OutputLimit`], [`Error::OutOfMemory`]. Nothing is
    /// appended to `out` then, and every call after it gives the same error.
    pub fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        #[cfg(not(target_arch = "wasm32"))]
        return self.advance_parallel(input, out);
        #[cfg(target_arch = "wasm32")]
        self.advance_serial(input).and_then(|(consumed, content)| {
            crate::memory::extend(out, content)?;
            Ok(consumed)
        })
    }

    /// Says that nothing follows `rest`, the bytes not consumed yet, of which [`Self::advance`] consumed nothing.
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

    /// The memory that content was decoded in. It ends the decoding.
    #[cfg(web_files)]
    pub(crate) fn take_memory(&mut self) -> Vec<u8> {
        self.window.take_bytes()
    }

    /// Content of all frames so far in bytes.
    #[cfg(web_files)]
    pub(crate) const fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The content of the last [`advance_serial`](Self::advance_serial).
    #[cfg(web_files)]
    pub(crate) fn content(&self) -> &[u8] {
        self.window.content()
    }

    pub(super) fn refuse_if_failed(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Bytes of input that were decoded or skipped.
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
    decompress_frames(bytes, limit).map_err(|error| error.with_detected_format(bytes))
}

fn decompress_frames(bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
    let mut decoder = FrameDecoder::new(limit);
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        match decoder.advance(&bytes[at..], &mut out)? {
            0 => break,
            consumed => at += consumed,
        }
    }
    decoder.finish(&bytes[at..])?;
    Ok(out)
}
