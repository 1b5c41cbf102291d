//! [`GemmKernel`]: matrix products.

use super::{Kernel, check_sizes};
use crate::kernels::tensor::{Product, half_launch, naive_launch, tf32_launch, tiled_launch};
use crate::kernels::{Launch, Limits};
use crate::{Error, Result};

/// Product of `[m, k]` and `[k, n]`, row-major. Arguments: both factors and the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmKernel {
    m: u32,
    n: u32,
    k: u32,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Naive,
    /// Tiles with a number of rows and columns.
    Tiled(u32),
    TensorCore,
    TensorCoreTf32,
}

impl GemmKernel {
    /// Creates a kernel in which each invocation computes one element, without workgroup memory: simple and slow.
    #[must_use]
    pub const fn naive(m: u32, n: u32, k: u32) -> Self {
        Self {
            m,
            n,
            k,
            form: Form::Naive,
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
            form: Form::Tiled(tile),
        }
    }

    /// Creates a kernel for tensor cores: the factors are 16-bit floats (IEEE binary16), the result and all sums are `f32`. `k` and
    /// `n` are multiples of 8. Each workgroup computes a tile of 128 rows and columns, and copies the next tiles of the
    /// factors while it multiplies. Needs compute capability 7.5; from 8.0 on, the copies are asynchronous. Compiled for 9.0
    /// [exactly](Kernel::compile_exact), warpgroups multiply tiles of 128 rows and 256 columns (`wgmma`).
    #[must_use]
    pub const fn tensor_core(m: u32, n: u32, k: u32) -> Self {
        Self {
            m,
            n,
            k,
            form: Form::TensorCore,
        }
    }

    /// Creates a kernel for tensor cores, which round factors of `f32` to TF32, that is, to 10 bits after the binary point; the result
    /// and all sums are `f32`. `k` and `n` are multiples of 4. Each workgroup computes a tile of 64 rows and 128 columns. Needs compute
    /// capability 8.0.
    #[must_use]
    pub const fn tensor_core_tf32(m: u32, n: u32, k: u32) -> Self {
        Self {
            m,
            n,
            k,
            form: Form::TensorCoreTf32,
        }
    }
}

/// The compute capability, times ten, with products of warpgroups.
const WARPGROUPS_SM: u32 = 90;

impl Kernel for GemmKernel {
    fn launch(&self) -> Result<Launch> {
        self.launch_of(false)
    }

    fn launch_exact(&self, sm: u32) -> Result<Launch> {
        self.launch_of(sm == WARPGROUPS_SM)
    }
}

impl GemmKernel {
    /// Returns the launch, for tensor cores by warpgroups or by subgroups.
    fn launch_of(&self, by_warpgroups: bool) -> Result<Launch> {
        let Self { m, n, k, form } = *self;
        check_sizes("shape", &[&[m, k], &[k, n], &[m, n]])?;
        let (m, n, k) = (u64::from(m), u64::from(n), u64::from(k));
        let uneven = |expected| Error::InvalidArgument {
            name: "shape",
            value: format!("[{m}, {k}] [{k}, {n}]"),
            expected,
        };
        let tile = match form {
            Form::Naive => return Ok(naive_launch([m, n, k], Limits::WEBGPU)),
            Form::Tiled(tile) => tile,
            Form::TensorCore => {
                let launch = half_launch(m, n, k, by_warpgroups);
                return launch.ok_or_else(|| uneven("k and n that are multiples of 8"));
            }
            Form::TensorCoreTf32 => {
                let launch = tf32_launch(m, n, k);
                return launch.ok_or_else(|| uneven("k and n that are multiples of 4"));
            }
        };
        let product = Product::dense(1, m, n, k);
        tiled_launch(&product, tile.into()).ok_or_else(|| Error::InvalidArgument {
            name: "tile",
            value: tile.to_string(),
            expected: "32, 64 or 128",
        })
    }
}
