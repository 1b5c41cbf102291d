//! Verification of a frame's content: its size and its checksum.

use super::FrameHeader;
use super::checksum::Checksum;
use super::read::verify;
use crate::{Error, Result};

/// Length and, if the frame has a content checksum, hash of the content decoded so far.
#[derive(Debug)]
pub(crate) struct FrameContent {
    header: FrameHeader,
    sum: Checksum,
    n_bytes: u64,
}

impl FrameContent {
    /// Returns the state at the start of the frame of `header`.
    pub(crate) fn new(header: FrameHeader) -> Self {
        Self {
            header,
            sum: Checksum::new(),
            n_bytes: 0,
        }
    }

    /// Counts and hashes the bytes decoded next.
    pub(crate) fn add(&mut self, decoded: &[u8]) {
        self.n_bytes += decoded.len() as u64;
        if self.header.content_checksum {
            self.sum.add(decoded);
        }
    }

    /// As [`add`](Self::add), for bytes of which the first `n_summed` are in the [`sum`](Self::sum) already.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(super) fn add_rest(&mut self, decoded: &[u8], n_summed: usize) {
        self.n_bytes += n_summed as u64;
        self.add(&decoded[n_summed..]);
    }

    /// Returns the hash, if the frame has a content checksum.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(super) fn sum(&mut self) -> Option<&mut Checksum> {
        self.header.content_checksum.then_some(&mut self.sum)
    }

    /// Compares the content with the size in the header and with the checksum after the end mark, if the frame has
    /// them.
    pub(crate) fn end(self, content_checksum: Option<u32>) -> Result<()> {
        let actual = self.n_bytes;
        match self.header.content_size {
            Some(stored) if stored != actual => Err(Error::ContentSizeMismatch { stored, actual }),
            _ => verify("content", content_checksum, || self.sum.value()),
        }
    }
}
