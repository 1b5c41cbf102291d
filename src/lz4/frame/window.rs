//! Memory in which blocks are decoded one after the other, so that matches of linked blocks reach back.
//!
//! It is zeroed once and used again, by as many blocks and frames as a decoder meets: what a block may hold at most costs
//! nothing, only what it does hold.

use super::decode::Frame;
use super::{FrameBlock, FrameHeader, HISTORY_BYTES};
use crate::Result;
use crate::lz4::BlockError;
use crate::lz4::decode::decode;
use crate::lz4::formats::fault;
use crate::memory::zeros;

/// Content that may be passed before what matches reach is moved to the start: small, so that a cache holds it.
const PASSED: usize = 4 * HISTORY_BYTES;

/// Where content is decoded.
#[derive(Debug)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// The first content of the frame that is still there.
    frame_start: usize,
    /// The first content of this call.
    start: usize,
    /// The end of the content.
    end: usize,
}

impl Window {
    /// A room in this memory, whose content does not matter.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            frame_start: 0,
            start: 0,
            end: 0,
        }
    }

    /// Bytes of its memory.
    #[cfg(test)]
    pub(super) const fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Its memory; it is empty then.
    #[cfg(web_files)]
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::replace(self, Self::new(Vec::new())).bytes
    }

    /// Drops the content, but for what matches of `frame` may reach.
    pub(super) fn begin(&mut self, frame: Option<&Frame>) {
        let kept = self.kept(frame.is_some_and(|frame| frame.header.linked));
        if kept == self.end || kept >= PASSED {
            self.bytes.copy_within(kept..self.end, 0);
            self.end -= kept;
            self.frame_start = 0;
        }
        self.start = self.end;
    }

    /// Begins a frame: its matches do not reach into what was before.
    pub(super) const fn begin_frame(&mut self) {
        self.frame_start = self.end;
    }

    /// The content since [`begin`](Self::begin).
    pub(super) fn content(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Drops the content since [`begin`](Self::begin) from byte `n_bytes` on.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(super) fn truncate(&mut self, n_bytes: usize) {
        self.end = self.end.min(self.start + n_bytes);
    }

    /// Decodes a block of a frame behind the content so far.
    pub(super) fn push(&mut self, block: &FrameBlock<'_>, header: &FrameHeader) -> Result<()> {
        let most = block.max_content(header);
        let mut capacity = most;
        if let (Some(size), true) = (header.content_size, block.compressed) {
            // The header may lie.
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
            let history = self.end - base;
            match decode(block.data, &mut self.bytes[base..end], history) {
                Err(BlockError::OutputOverrun) if capacity < most => capacity = most,
                Err(source) => {
                    return Err(fault(block.index, block.data, history as u64, source));
                }
                Ok(end) => {
                    self.end = base + end;
                    return Ok(());
                }
            }
        }
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
        self.end -= kept;
        Ok(())
    }

    /// The first byte that matches to come may reach.
    fn kept(&self, is_linked: bool) -> usize {
        if is_linked {
            self.frame_start.max(self.end.saturating_sub(HISTORY_BYTES))
        } else {
            self.end
        }
    }
}
