//! Weights of few bits.

use super::lengths::product;
use super::shape::Shape;
use crate::{Error, Result};

/// How weights are packed: halves, or the K-quants of ggml, as GGUF files have them. A block of 256 weights has factors of
/// 16 bits for all, and small ones for each 16 or 32 of them. Sums are of 32 bits with all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantization {
    /// Q4_K: 4 bits a weight, 144 bytes a block.
    Q4K,
    /// Q5_K: 5 bits a weight, 176 bytes a block.
    Q5K,
    /// Q6_K: 6 bits a weight, 210 bytes a block.
    Q6K,
    /// Numbers of 16 bits (IEEE binary16), rows of a multiple of 4. No adapter needs to know such numbers.
    F16,
}

impl Quantization {
    /// Weights of a block: rows are whole blocks.
    #[must_use]
    pub const fn block_len(self) -> usize {
        match self {
            Self::F16 => 4,
            _ => 256,
        }
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::Q4K => 144,
            Self::Q5K => 176,
            Self::Q6K => 210,
            Self::F16 => 8,
        }
    }

    /// Bits of a weight, factors left out.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Q4K => 4,
            Self::Q5K => 5,
            Self::Q6K => 6,
            Self::F16 => 16,
        }
    }

    /// Returns true if rows of this many weights are whole blocks and fit a launch.
    pub(crate) fn check_row(self, k: usize) -> Result<()> {
        if k.is_multiple_of(self.block_len()) && k <= 1 << 17 {
            return Ok(());
        }
        Err(Error::InvalidArgument {
            name: "k",
            value: k.to_string(),
            expected: "a multiple of 256, of F16 of 4, and at most 131,072",
        })
    }

    /// Bytes of `[n, k]` weights.
    pub(crate) fn bytes_of(self, n: usize, k: usize) -> Result<u64> {
        self.check_row(k)?;
        let n_blocks = Shape::new(&[n, k / self.block_len()])?.n_elements();
        Ok(product(&[n_blocks, self.block_bytes()]))
    }
}
