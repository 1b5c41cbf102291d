//! The sliding window of serial decoding: content that matches of linked blocks may reach stays in front of the new
//! content.
//!
//! The memory is zeroed once and reused by all blocks and frames of a decoder, so that memory is touched only for
//! content that exists, however large a block could be.

use super::{Checksum, FrameBlock, FrameHeader, HISTORY_BYTES};
use crate::Result;
use crate::lz4::decode::{Positions, decode_and_sum, decode_with};
use crate::lz4::formats::fault;
use crate::lz4::{BlockError, Dictionary};
use crate::memory::zeros;

/// Content that may accumulate before the history is moved to the start: small enough for the cache.
const PASSED: usize = 4 * HISTORY_BYTES;

/// The window: history, then the content of the current call.
#[derive(Debug)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// Start of the current frame's content that is still in the window.
    frame_start: usize,
    /// Start of the content of the current call.
    start: usize,
    /// End of the content.
    end: usize,
    /// End of the content that is in the checksum of the current frame, or the start of its content in this call.
    summed: usize,
}

impl Window {
    /// Returns an empty window in this memory, whose content is arbitrary.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            frame_start: 0,
            start: 0,
            end: 0,
            summed: 0,
        }
    }

    /// Returns the size of the memory in bytes.
    #[cfg(test)]
    pub(super) const fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the memory, which leaves the window empty.
    #[cfg(web_files)]
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::replace(self, Self::new(Vec::new())).bytes
    }

    /// Starts a call: drops all content but the history that matches may reach, if the frame that goes on is linked.
    pub(super) fn begin(&mut self, is_linked: bool) {
        let kept = self.kept(is_linked);
        if kept == self.end || kept >= PASSED {
            self.bytes.copy_within(kept..self.end, 0);
            self.end -= kept;
            self.frame_start = 0;
        }
        (self.start, self.summed) = (self.end, self.end);
    }

    /// Starts a frame, whose matches do not reach into earlier content.
    pub(super) const fn begin_frame(&mut self) {
        (self.frame_start, self.summed) = (self.end, self.end);
    }

    /// Returns the content since [`begin`](Self::begin).
    pub(super) fn content(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the bytes of [`content`](Self::content) up to the last one that is in the checksum of the current frame.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(super) const fn n_summed(&self) -> usize {
        self.summed - self.start
    }

    /// Drops the content since [`begin`](Self::begin) from byte `n_bytes` on.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(super) fn truncate(&mut self, n_bytes: usize) {
        self.end = self.end.min(self.start + n_bytes);
    }

    /// Decodes a block of a frame after the content so far, and adds some of the content to `sum`. If the frame has a dictionary, it
    /// stands before the content that matches may reach.
    pub(super) fn push(
        &mut self,
        block: &FrameBlock<'_>,
        header: &FrameHeader,
        dictionary: Option<&Dictionary>,
        mut sum: Option<&mut Checksum>,
    ) -> Result<()> {
        let most = block.max_content(header);
        let mut capacity = most;
        if let (Some(size), true) = (header.content_size, block.compressed) {
            // The size in the header is a hint only; it may be wrong.
            capacity = size.min(most as u64) as usize;
        }
        loop {
            self.reserve(capacity, header.linked)?;
            let end = self.end + capacity;
            if !block.compressed {
                self.bytes[self.end..end].copy_from_slice(block.data);
                self.end = end;
                return Ok(());
            }
            let base = if header.linked {
                self.frame_start
            } else {
                self.end
            };
            let history = self.end - base + dictionary.map_or(0, Dictionary::n_bytes);
            match self.decode(block.data, base, end, dictionary, sum.as_deref_mut()) {
                Err(BlockError::OutputOverrun) if capacity < most => capacity = most,
                Err(source) => {
                    return Err(fault(block.index, block.data, history as u64, source));
                }
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Decodes a block to the memory up to `most`. Its matches reach back to `base`.
    fn decode(
        &mut self,
        block: &[u8],
        base: usize,
        most: usize,
        dictionary: Option<&Dictionary>,
        sum: Option<&mut Checksum>,
    ) -> std::result::Result<(), BlockError> {
        let Some(sum) = sum.filter(|_| dictionary.is_none()) else {
            let out = &mut self.bytes[base..most];
            self.end = base + decode_with(block, out, self.end - base, dictionary)?;
            return Ok(());
        };
        let positions = Positions {
            base,
            start: self.end,
            summed: self.summed,
        };
        (self.end, self.summed) = decode_and_sum(block, &mut self.bytes[..most], positions, sum)?;
        Ok(())
    }

    fn reserve(&mut self, most: usize, is_linked: bool) -> Result<()> {
        if self.end + most <= self.bytes.len() {
            return Ok(());
        }
        let kept = self.kept(is_linked).min(self.start);
        let length = (self.end - kept + most).max(2 * self.bytes.len());
        let mut bytes = zeros(length)?;
        bytes[..self.end - kept].copy_from_slice(&self.bytes[kept..self.end]);
        self.bytes = bytes;
        self.frame_start = self.frame_start.saturating_sub(kept);
        self.start -= kept;
        self.summed -= kept;
        self.end -= kept;
        Ok(())
    }

    /// Returns the first byte that later matches may reach.
    fn kept(&self, is_linked: bool) -> usize {
        if is_linked {
            self.frame_start.max(self.end.saturating_sub(HISTORY_BYTES))
        } else {
            self.end
        }
    }
}
