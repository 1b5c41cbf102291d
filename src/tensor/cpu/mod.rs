//! Operations on the CPU. Results are those of the GPU, except for rounding. Loops are written so that the compiler
//! vectorises them, and run on all cores on native targets.

mod attention;
mod convolve;
mod elementwise;
mod functions;
mod halves;
mod layer;
mod matmul;
mod norm;
mod parallel;
mod quantize;
mod quantized;
mod reduce;
mod rotary;
mod softmax;
mod sum;
mod tiles;

pub use attention::attention;
#[cfg(gpu_engine)]
pub(crate) use convolve::check_sizes;
pub use convolve::convolve2d;
pub use elementwise::elementwise;
pub(crate) use halves::from_le_bytes;
#[cfg(gpu_engine)]
pub(crate) use halves::not_half;
pub use halves::{bf16_bits, bf16_value, f16_bits, f16_value, from_bits, to_bits};
pub use layer::layer_forward;
pub use matmul::{matmul, matmul_with_epilogue};
pub use norm::norm;
pub use quantize::{quantize, quantize_to_vec};
pub use quantized::{dequantize, matmul_quantized, to_f16};
pub use reduce::{dot, reduce, reduce_axis};
#[cfg(gpu_engine)]
pub(crate) use rotary::check_positions;
pub use rotary::rotary;
pub use softmax::{log_softmax, softmax};
pub use tiles::{
    MaxOp, MinOp, ReduceOp, SumOp, TILE_SIZE, tiled_max_2d, tiled_min_2d, tiled_reduce_2d,
    tiled_reduce_partial, tiled_sum_2d,
};
