//! The operations on the CPU: the same results, but for rounding, as on a GPU. Loops are written such that the compiler
//! makes vector instructions of them, and run on all cores natively.

mod convolve;
mod elementwise;
mod functions;
mod matmul;
mod parallel;
mod reduce;
mod softmax;
mod tiles;

#[cfg(gpu_engine)]
pub(crate) use convolve::check_sizes;
pub use convolve::convolve2d;
pub use elementwise::elementwise;
pub use matmul::matmul;
pub use reduce::{dot, reduce, reduce_axis};
pub use softmax::{log_softmax, softmax};
pub use tiles::{
    MaxOp, MinOp, ReduceOp, SumOp, TILE_SIZE, tiled_max_2d, tiled_min_2d, tiled_reduce_2d,
    tiled_reduce_partial, tiled_sum_2d,
};
