//! [`GemmKernel`]: matrix products.

use super::{Kernel, check_sizes};
use crate::kernels::Launch;
use crate::kernels::tensor::{Matrix, Product, naive_launch, tiled_launch};
use crate::{Error, Result};

/// Product of `[m, k]` and `[k, n]`, row-major. Arguments: both factors and the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmKernel {
    m: u32,
    n: u32,
    k: u32,
    /// Number of rows and columns of a workgroup's tile; `None` for the naive kernel.
    tile: Option<u32>,
}

impl GemmKernel {
    /// Creates a kernel in which each invocation computes one element, without workgroup memory: simple and slow.
    #[must_use]
    pub const fn naive(m: u32, n: u32, k: u32) -> Self {
        Self {
            m,
            n,
            k,
            tile: None,
        }
    }

    /// Creates a kernel in which each workgroup computes a square tile of 32, 64 or 128 rows and columns, and each
    /// invocation 16 to 64 elements of it in registers. Large tiles need less memory bandwidth; small tiles keep a
    /// device busy with small products.
    #[must_use]
    pub const fn tiled(m: u32, n: u32, k: u32, tile: u32) -> Self {
        Self {
            m,
            n,
            k,
            tile: Some(tile),
        }
    }
}

impl Kernel for GemmKernel {
    fn launch(&self) -> Result<Launch> {
        let Self { m, n, k, tile } = *self;
        check_sizes("shape", &[&[m, k], &[k, n], &[m, n]])?;
        let (m, n, k) = (u64::from(m), u64::from(n), u64::from(k));
        let Some(tile) = tile else {
            return Ok(naive_launch(m, n, k));
        };
        let product = Product {
            batch: 1,
            m,
            n,
            k,
            a: Matrix::dense(m, k, m * k),
            b: Matrix::dense(k, n, k * n),
        };
        tiled_launch(&product, tile.into()).ok_or_else(|| Error::InvalidArgument {
            name: "tile",
            value: tile.to_string(),
            expected: "32, 64 or 128",
        })
    }
}
