//! Types of tensor operations: types of elements, shapes, element-wise steps, reductions, norms, formats of quantized weights.
//!
//! This module imports nothing of the crate but `error`, so that kernels, the CPU implementations and the public API
//! can all use it. The public module `tensor` re-exports it.

mod dtype;
mod epilogue;
pub(crate) mod lengths;
mod norm;
mod precision;
pub(crate) mod quantization;
pub(crate) mod shape;
pub(crate) mod step;

pub use dtype::DType;
pub use epilogue::{Activation, Epilogue};
pub use norm::Norm;
pub use precision::Precision;
pub use quantization::Quantization;
pub use shape::{MAX_RANK, Shape};
pub use step::{Reduction, Step};
