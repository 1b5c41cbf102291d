//! WGSL of the crate's own kernels: name, source, bindings. They run on every engine, and [`KernelSource::of`] takes them.
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
pub use crate::kernels::lz4::KERNELS as LZ4;
pub use crate::kernels::tensor::KERNELS as TENSOR;

/// All kernels.
pub fn all() -> impl Iterator<Item = &'static KernelInfo> {
    LZ4.into_iter().chain(TENSOR)
}

/// The kernel of a name: that of its file and of its entry point.
#[must_use]
pub fn named(name: &str) -> Option<&'static KernelInfo> {
    all().find(|kernel| kernel.name == name)
}
