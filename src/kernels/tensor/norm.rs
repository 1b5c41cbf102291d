//! Normalisation of rows.

use super::{R, U, W, grid, kernel, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::tensor::layer::Norm;

pub(super) static NORM: KernelInfo =
    kernel("tensor_norm", shader!("tensor_norm.wgsl"), &[R, R, R, W, U]);

/// Elements that an invocation takes before another row's invocations do better.
const ITEMS: u64 = 16;
/// Most invocations of a row.
const MAX_WIDTH: u64 = 256;

/// Launches that make [`Slot::Out`] of the rows of `A`, `[rows, cols]`, with a weight for each column in `B` and a bias
/// for each in `Bias`, if there are such. Neither length is 0.
#[must_use]
pub fn norm_job(norm: Norm, rows: u64, cols: u64, has_weight: bool, has_bias: bool) -> Job {
    let n_bytes = padded_bytes(rows * cols);
    let mut buffers = vec![(Slot::A, n_bytes), (Slot::Out, n_bytes)];
    buffers.extend(has_weight.then(|| (Slot::B, padded_bytes(cols))));
    buffers.extend(has_bias.then(|| (Slot::Bias, padded_bytes(cols))));
    Job {
        buffers,
        launches: vec![norm_launch(norm, [rows, cols], has_weight, has_bias)],
    }
}

/// The launch of [`norm_job`].
pub(in crate::kernels) fn norm_launch(
    norm: Norm,
    [rows, cols]: [u64; 2],
    has_weight: bool,
    has_bias: bool,
) -> Launch {
    let width = cols.div_ceil(ITEMS).next_power_of_two().min(MAX_WIDTH);
    let threads = width.max(64);
    let given = |slot, is_there| Arg::Buffer(if is_there { slot } else { Slot::A });
    let params = vec![rows as u32, cols as u32, norm.epsilon().to_bits(), 0];
    Launch {
        kernel: &NORM,
        overrides: vec![
            ("WIDTH", width as u32),
            ("THREADS", threads as u32),
            ("RMS", matches!(norm, Norm::Rms { .. }).into()),
            ("HAS_WEIGHT", has_weight.into()),
            ("HAS_BIAS", has_bias.into()),
        ],
        grid: grid(rows.div_ceil(threads / width)),
        args: vec![
            Arg::Buffer(Slot::A),
            given(Slot::B, has_weight),
            given(Slot::Bias, has_bias),
            Arg::Buffer(Slot::Out),
            Arg::Params(params),
        ],
    }
}
