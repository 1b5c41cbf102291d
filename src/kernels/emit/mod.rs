//! Kernels of tensors by name and size, as PTX: for programs that launch them through the CUDA driver themselves. They are
//! those of the one table, compiled from the same WGSL; nothing here needs a GPU.

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
    /// How it is launched: overrides of its WGSL, grid, and the roles of its arguments in order with the words of the
    /// uniform, which the PTX takes by value. Elements are `f32`; a buffer has whole groups of four and 64 bytes behind
    /// them that kernels may read, but do not use.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for sizes that there is no such kernel for.
    fn launch(&self) -> Result<Launch>;

    /// The kernel for a compute capability, ten times, from 70 to 121: 75, 80, 90, 100; it runs on that and on later ones.
    ///
    /// # Errors
    /// As [`launch`](Self::launch); [`Error::InvalidArgument`] for another compute capability.
    fn compile(&self, sm: u32) -> Result<CompiledPtx> {
        let launch = self.launch()?;
        let overrides = launch.overrides.iter();
        let overrides: Vec<(&str, f64)> = overrides
            .map(|&(name, value)| (name, f64::from(value)))
            .collect();
        let kernel = launch.kernel;
        let options = PtxOptions {
            overrides: &overrides,
            sm,
            bounds: Bounds::Unchecked,
            clear_workgroup: !kernel.fills_workgroup(),
            ..PtxOptions::new(kernel.name)
        };
        Ok(compile_wgsl(kernel.wgsl, &options)?)
    }

    /// The text of a PTX module for compute capability 7.5 and all later ones.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    fn emit_ptx(&self) -> Result<String> {
        Ok(self.compile(75)?.text)
    }
}

/// Returns true if kernels take these numbers of elements: each length is above 0, each product below 2^31.
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
