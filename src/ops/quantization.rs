//! [`Quantization`]: formats of quantized weights.

use super::lengths::product;
use super::shape::Shape;
use crate::{Error, Result};

/// Format of weights: half precision, or formats of ggml in the layout of GGUF files. A block of a K-quant has 256
/// weights, with 16-bit factors for all of them and small factors for groups of 16 or 32; a block of Q8_0 has 32 with one
/// 16-bit factor. Products are summed in 32-bit
/// floats for all formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantization {
    /// Q4_K: 4 bits per weight, 144 bytes per block.
    Q4K,
    /// Q5_K: 5 bits per weight, 176 bytes per block.
    Q5K,
    /// Q6_K: 6 bits per weight, 210 bytes per block.
    Q6K,
    /// Q8_0: 8 bits per weight, 34 bytes per block of 32 weights.
    Q8_0,
    /// 16-bit floats (IEEE binary16), in rows whose length is a multiple of 4. Adapters need not support such floats.
    F16,
}

impl Quantization {
    /// Returns the number of weights of a block. Rows are whole blocks.
    #[must_use]
    pub const fn block_len(self) -> usize {
        match self {
            Self::F16 => 4,
            Self::Q8_0 => 32,
            _ => 256,
        }
    }

    /// Returns the number of bytes of a block.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::Q4K => 144,
            Self::Q5K => 176,
            Self::Q6K => 210,
            Self::Q8_0 => 34,
            Self::F16 => 8,
        }
    }

    /// Returns the number of bits of a weight, without factors.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Q4K => 4,
            Self::Q5K => 5,
            Self::Q6K => 6,
            Self::Q8_0 => 8,
            Self::F16 => 16,
        }
    }

    /// Checks that rows of `k` weights are whole blocks and fit in a launch.
    pub(crate) fn check_row(self, k: usize) -> Result<()> {
        if k.is_multiple_of(self.block_len()) && k <= 1 << 17 {
            return Ok(());
        }
        Err(Error::InvalidArgument {
            name: "k",
            value: k.to_string(),
            expected: "a multiple of 256, of Q8_0 of 32, of F16 of 4, and at most 131,072",
        })
    }

    /// Returns the number of bytes of `[n, k]` weights.
    pub(crate) fn bytes_of(self, n: usize, k: usize) -> Result<u64> {
        self.check_row(k)?;
        let n_blocks = Shape::new(&[n, k / self.block_len()])?.n_elements();
        Ok(product(&[n_blocks, self.block_bytes()]))
    }
}
