//! [`QuantizedGemmKernel`]: matrix products with quantized weights.

use super::{Kernel, check_sizes};
use crate::kernels::Launch;
use crate::kernels::tensor::{QuantizedProduct, matmul_quantized_job};
use crate::ops::Quantization;
use crate::{Error, Result};

/// Product of `[m, k]` and the transpose of quantized weights, `[n, k]`. Arguments: both factors and the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantizedGemmKernel {
    quantization: Quantization,
    m: u32,
    n: u32,
    k: u32,
}

impl QuantizedGemmKernel {
    /// Creates a kernel for weights of this format. `k` must be a multiple of [`Quantization::block_len`].
    #[must_use]
    pub const fn new(quantization: Quantization, m: u32, n: u32, k: u32) -> Self {
        Self {
            quantization,
            m,
            n,
            k,
        }
    }
}

impl Kernel for QuantizedGemmKernel {
    fn launch(&self) -> Result<Launch> {
        let Self { m, n, k, .. } = *self;
        check_sizes("shape", &[&[m, k], &[k, n], &[m, n]])?;
        self.quantization.check_row(k as usize)?;
        let product = QuantizedProduct {
            quantization: self.quantization,
            is_bfloat: false,
            m: m.into(),
            n: n.into(),
            k: k.into(),
        };
        let mut launches = matmul_quantized_job(&product, u64::MAX, u64::MAX)?.launches;
        match (launches.pop(), launches.is_empty()) {
            (Some(launch), true) => Ok(launch),
            _ => Err(Error::InvalidArgument {
                name: "shape",
                value: format!("[{m}, {k}], [{n}, {k}]"),
                expected: "sizes that one launch can take",
            }),
        }
    }
}
