//! Matrix products with quantized weights.

use super::{R, U, W, grid, kernel, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::tensor::Quantization;

pub(super) static MATMUL_QUANTIZED: KernelInfo = kernel(
    "tensor_matmul_quantized",
    shader!("tensor_matmul_quantized.wgsl"),
    &[R, R, W, U],
);

/// Rows and columns of a workgroup.
const ROWS: u64 = 32;
const COLS: u64 = 64;

/// Launches that make [`Slot::Out`], `[m, n]`, of `A`, `[m, k]`, and the quantized rows of `B`, `[n, k]`. None is 0, and k
/// is a multiple of [`Quantization::block_len`].
#[must_use]
pub fn matmul_quantized_job(quantization: Quantization, m: u64, n: u64, k: u64) -> Job {
    let n_blocks = n * (k / quantization.block_len() as u64);
    let weight_bytes = (n_blocks * quantization.block_bytes() as u64).next_multiple_of(16);
    let tiles_n = n.div_ceil(COLS);
    let n_tiles = tiles_n * m.div_ceil(ROWS);
    let words = [m, n, k, tiles_n, n_tiles, 0, 0, 0];
    Job {
        buffers: vec![
            (Slot::A, padded_bytes(m * k)),
            (Slot::B, weight_bytes),
            (Slot::Out, padded_bytes(m * n)),
        ],
        launches: vec![Launch {
            kernel: &MATMUL_QUANTIZED,
            overrides: vec![("BITS", quantization.bits())],
            grid: grid(n_tiles),
            args: vec![
                Arg::Buffer(Slot::A),
                Arg::Buffer(Slot::B),
                Arg::Buffer(Slot::Out),
                Arg::Params(words.map(|n| n as u32).to_vec()),
            ],
        }],
    }
}
