//! WGSL of the crate's own kernels: name, source, bindings. They run on every engine; [`KernelSource::of`] accepts them.
//!
//! ```
//! use pagepress::gpu::shaders;
//! let matmul = shaders::named("tensor_matmul").ok_or("no such kernel")?;
//! assert!(matmul.wgsl.contains("fn tensor_matmul("));
//! # Ok::<(), &str>(())
//! ```
//!
//! [`KernelSource::of`]: super::KernelSource::of

pub use crate::kernels::KernelInfo;
pub use crate::kernels::codec::KERNELS as LZ4;
pub use crate::kernels::tensor::KERNELS as TENSOR;

/// Returns all kernels.
pub fn all() -> impl Iterator<Item = &'static KernelInfo> {
    LZ4.into_iter().chain(TENSOR)
}

/// Returns the kernel with a name, that of its entry point.
#[must_use]
pub fn named(name: &str) -> Option<&'static KernelInfo> {
    all().find(|kernel| kernel.name == name)
}
