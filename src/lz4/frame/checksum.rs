//! The checksum of the frame format: xxHash32 with seed 0.

use std::hash::Hasher;

use twox_hash::XxHash32;

/// The checksum of bytes that come in parts.
#[derive(Debug)]
pub(crate) struct Checksum(XxHash32);

impl Checksum {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        Self(XxHash32::with_seed(0))
    }

    /// Adds the next part.
    pub(crate) fn add(&mut self, part: &[u8]) {
        self.0.write(part);
    }

    /// The checksum of all parts so far.
    #[inline(never)]
    pub(crate) fn value(&self) -> u32 {
        self.0.finish_32()
    }
}

/// The checksum of `bytes`.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Checksum::new();
    sum.add(bytes);
    sum.value()
}
