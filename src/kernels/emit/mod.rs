//! Tensor kernels as PTX, by name and size, for programs that launch them through the CUDA driver themselves. They are
//! compiled from the same WGSL as the kernels that the engines run. No GPU is needed.

mod attention;
mod gemm;
mod norm;
mod quantized;
mod softmax;

pub use attention::AttentionKernel;
pub use gemm::GemmKernel;
pub use norm::LayerNormKernel;
pub use quantized::QuantizedGemmKernel;
pub use softmax::SoftmaxKernel;

use super::Launch;
use crate::ptx::{Bounds, CompiledPtx, PtxOptions, compile_wgsl};
use crate::{Error, Result};

/// A kernel for certain sizes.
///
/// ```
/// use pagepress::kernels::{GemmKernel, Kernel};
/// let kernel = GemmKernel::tiled(1024, 1024, 1024, 32);
/// let ptx = kernel.emit_ptx()?;
/// assert!(ptx.contains(".entry tensor_matmul("));
/// assert_eq!(kernel.launch()?.grid, [1024, 1, 1]);
/// # Ok::<(), pagepress::Error>(())
/// ```
pub trait Kernel {
    /// Returns the launch: overrides of the WGSL, grid, and the slots of the arguments in order, with the words of the
    /// uniform parameters, which the PTX kernel accepts by value. Elements are `f32`. The number of elements of a
    /// buffer must be a multiple of four, followed by 64 bytes that kernels may read, but whose values they do not use.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for sizes that the kernel does not support.
    fn launch(&self) -> Result<Launch>;

    /// Compiles the kernel for a compute capability times ten, from 70 to 121, such as 75, 80, 90 or 100. The result
    /// runs on that and on later ones.
    ///
    /// # Errors
    /// As [`launch`](Self::launch); [`Error::InvalidArgument`] for an unsupported compute capability; [`Error::KernelCompile`] for
    /// one without the matrix units that the kernel needs.
    fn compile(&self, sm: u32) -> Result<CompiledPtx> {
        compile(&self.launch()?, sm, false)
    }

    /// Returns the launch of what [`compile_exact`](Self::compile_exact) returns.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    fn launch_exact(&self, _sm: u32) -> Result<Launch> {
        self.launch()
    }

    /// Compiles the kernel for GPUs of a compute capability and no later ones: 90 has instructions that later ones lack.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    fn compile_exact(&self, sm: u32) -> Result<CompiledPtx> {
        compile(&self.launch_exact(sm)?, sm, true)
    }

    /// Returns the text of a PTX module for compute capability 7.5 and later, or 8.0 and later if the kernel multiplies TF32.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    fn emit_ptx(&self) -> Result<String> {
        let sm = if self.launch()?.kernel.is_of_tf32() {
            80
        } else {
            75
        };
        Ok(self.compile(sm)?.text)
    }
}

/// Compiles the kernel of a launch, for a compute capability and later ones or, if `is_exact`, for it alone.
fn compile(launch: &Launch, sm: u32, is_exact: bool) -> Result<CompiledPtx> {
    let overrides = launch.overrides.iter();
    let overrides: Vec<(&str, f64)> = overrides
        .map(|&(name, value)| (name, f64::from(value)))
        .collect();
    let kernel = launch.kernel;
    let options = PtxOptions {
        overrides: &overrides,
        sm,
        is_exact,
        bounds: Bounds::Unchecked,
        clear_workgroup: !kernel.fills_workgroup(),
        floats_as_tf32: kernel.is_of_tf32(),
        ..PtxOptions::new(kernel.name)
    };
    Ok(compile_wgsl(kernel.wgsl, &options)?)
}

/// Checks that each length is above 0 and each product below 2^31.
fn check_sizes(name: &'static str, products: &[&[u32]]) -> Result<()> {
    let fits = |lengths: &&[u32]| {
        let product = lengths
            .iter()
            .try_fold(1u32, |n, &length| n.checked_mul(length));
        product.is_some_and(|n| (1..1 << 31).contains(&n))
    };
    if products.iter().all(fits) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        name,
        value: format!("{products:?}"),
        expected: "lengths above 0, and fewer than 2^31 elements",
    })
}
