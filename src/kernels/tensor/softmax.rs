//! Jobs of softmax over rows.

use super::row_workgroup::RowWorkgroup;
use super::{R, U, W, beyond_binding, check_sizes, kernel, padded_bytes, rows_in_parts, takes_row};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};

const WGSL: &str = shader!("tensor_softmax.wgsl");
pub(super) static SOFTMAX: KernelInfo = kernel("tensor_softmax", WGSL, &[R, W, U]);
pub(super) static SOFTMAX_LONG: KernelInfo = kernel("tensor_softmax_long", WGSL, &[R, W, U]);

/// Returns the launches that compute the softmax of each row of `A`, `[rows, cols]`, or its logarithm, into
/// [`Slot::Out`]. There are several if all rows together are larger than a binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for a row that is larger than a
/// binding, see `takes_row`.
pub fn softmax_job(rows: u64, cols: u64, log: bool, limits: Limits) -> Result<Job> {
    let max_binding_bytes = limits.binding_bytes;
    check_sizes(&[&[rows, cols]])?;
    if !takes_row(cols, max_binding_bytes) {
        return Err(beyond_binding("cols", cols, max_binding_bytes));
    }
    let n_bytes = padded_bytes(rows * cols);
    let parts = rows_in_parts([rows, cols], max_binding_bytes);
    let launch = |(rows, args, offset)| softmax_launch([rows, cols], log, limits, args, offset);
    Ok(Job {
        buffers: vec![(Slot::A, n_bytes), (Slot::Out, n_bytes)],
        launches: parts.map(launch).collect(),
    })
}

/// Returns one launch over rows that start at element `offset` of both arguments.
pub(in crate::kernels) fn softmax_launch(
    [rows, cols]: [u64; 2],
    log: bool,
    limits: Limits,
    [a, out]: [Arg; 2],
    offset: u64,
) -> Launch {
    let rows_of = RowWorkgroup::new(cols, limits);
    let kernel = match rows_of.is_held {
        true => &SOFTMAX,
        false => &SOFTMAX_LONG,
    };
    Launch {
        kernel,
        overrides: rows_of.overrides([("LOG", log.into())]),
        grid: rows_of.grid(rows),
        args: vec![
            a,
            out,
            Arg::Params([rows, cols, offset, 0].map(|n| n as u32).to_vec()),
        ],
    }
}
