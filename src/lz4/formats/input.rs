//! [`Input`]: the numbers and parts of a container, read from its front.

use crate::{Error, Result};

/// A container that is being read.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Returns the container from `at` on, which may be past its end.
    pub(super) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Takes the next `n` bytes.
    ///
    /// # Errors
    /// [`Error::TruncatedFrame`].
    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let part = rest.get(..n).ok_or_else(|| Error::TruncatedFrame {
            at: self.bytes.len() as u64,
            needed: (n - rest.len()) as u64,
        })?;
        self.at += n;
        Ok(part)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N]> {
        let part = self.take(N)?;
        // `take` gives as many bytes as asked for.
        Ok(part.first_chunk().copied().unwrap_or([0; N]))
    }

    /// Takes a little-endian number of four bytes.
    pub(super) fn little(&mut self) -> Result<u32> {
        self.chunk().map(u32::from_le_bytes)
    }

    /// Takes a big-endian number of four bytes.
    pub(super) fn big(&mut self) -> Result<u32> {
        self.chunk().map(u32::from_be_bytes)
    }

    /// Takes a big-endian number of eight bytes.
    pub(super) fn big_u64(&mut self) -> Result<u64> {
        self.chunk().map(u64::from_be_bytes)
    }
}
