//! Jobs of softmax over rows.

use super::row_workgroup::RowWorkgroup;
use super::{
    R, U, W, check_row, check_sizes, indexable_bytes, kernel, padded_bytes, rows_in_parts,
};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::DType;

const WGSL: &str = shader!("tensor_softmax.wgsl");
pub(super) static SOFTMAX: KernelInfo = kernel("tensor_softmax", WGSL, &[R, W, U]);
pub(super) static SOFTMAX_LONG: KernelInfo = kernel("tensor_softmax_long", WGSL, &[R, W, U]);
const OF_HALVES: &str = shader!("tensor_softmax.halves.wgsl");
pub(super) static HALVES: KernelInfo = kernel("tensor_softmax", OF_HALVES, &[R, W, U]);
pub(super) static HALVES_LONG: KernelInfo = kernel("tensor_softmax_long", OF_HALVES, &[R, W, U]);

/// Returns the launches that compute the softmax of each row of `A`, `[rows, cols]` of `dtype`, or its logarithm, into
/// [`Slot::Out`]. There are several if all rows together are larger than a binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, for a row that is larger than a binding,
/// and for rows of 16 bits that are not whole words, see `takes_row`.
pub fn softmax_job(dtype: DType, [rows, cols]: [u64; 2], log: bool, limits: Limits) -> Result<Job> {
    let max_binding_bytes = indexable_bytes(dtype, limits.binding_bytes);
    check_sizes(&[&[rows, cols]])?;
    check_row(cols, dtype, max_binding_bytes)?;
    let n_words = cols / dtype.per_word();
    let n_bytes = padded_bytes(rows * n_words);
    let parts = rows_in_parts([rows, n_words], max_binding_bytes);
    let launch = |(rows, args, offset)| {
        let offset = offset * dtype.per_word();
        softmax_launch(dtype, [rows, cols], log, limits, args, offset)
    };
    Ok(Job {
        buffers: vec![(Slot::A, n_bytes), (Slot::Out, n_bytes)],
        launches: parts.map(launch).collect(),
    })
}

/// Returns one launch over rows that start at element `offset` of both arguments.
pub(in crate::kernels) fn softmax_launch(
    dtype: DType,
    [rows, cols]: [u64; 2],
    log: bool,
    limits: Limits,
    [a, out]: [Arg; 2],
    offset: u64,
) -> Launch {
    let rows_of = RowWorkgroup::new(cols, limits);
    let kernel = match (dtype, rows_of.is_held) {
        (DType::F32, true) => &SOFTMAX,
        (DType::F32, false) => &SOFTMAX_LONG,
        (_, true) => &HALVES,
        (_, false) => &HALVES_LONG,
    };
    Launch {
        kernel,
        overrides: rows_of.overrides(dtype, [("LOG", log.into())]),
        grid: rows_of.grid(rows),
        args: vec![
            a,
            out,
            Arg::Params([rows, cols, offset, 0].map(|n| n as u32).to_vec()),
        ],
    }
}
