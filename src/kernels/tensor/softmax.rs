//! Jobs of softmax over rows.

use super::{
    R, U, W, beyond_binding, check_sizes, grid, kernel, padded_bytes, previous_power_of_two,
    rows_in_parts, takes_row,
};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Registers, Slot};

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
    // Compilers give fewer registers to the invocations of larger workgroups.
    let (widest, held4) = match limits.registers {
        Registers::Fewest => (256, 3),
        Registers::Few => (256, 8),
        Registers::Usual | Registers::Many => (1024, 8),
    };
    // Maximum number of elements that an invocation keeps in registers.
    let held = 4 * held4;
    let most = limits
        .invocations
        .min(limits.workgroup_bytes / 8)
        .min(widest);
    let most = previous_power_of_two(most.into());
    let width = cols.div_ceil(held / 2).next_power_of_two();
    let is_held = cols <= held * most;
    let (kernel, width, threads) = match is_held {
        true => (&SOFTMAX, width.min(most), width.clamp(64, most.max(64))),
        false => (&SOFTMAX_LONG, most.min(256), most.min(256)),
    };
    Launch {
        kernel,
        overrides: vec![
            ("WIDTH", width as u32),
            ("THREADS", threads as u32),
            ("LOG", log.into()),
            ("HELD4", held4 as u32),
        ],
        grid: grid(rows.div_ceil(threads / width)),
        args: vec![
            a,
            out,
            Arg::Params([rows, cols, offset, 0].map(|n| n as u32).to_vec()),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the invocations per row and per workgroup.
    fn widths(invocations: u32, cols: u64) -> (u32, u32) {
        let limits = Limits {
            invocations,
            workgroup_bytes: 49_152,
            ..Limits::WEBGPU
        };
        let args = [Arg::Buffer(Slot::A), Arg::Buffer(Slot::Out)];
        let launch = softmax_launch([7, cols], false, limits, args, 0);
        let value = |of: &str| launch.overrides.iter().find(|(name, _)| *name == of);
        (
            value("WIDTH").map_or(0, |v| v.1),
            value("THREADS").map_or(0, |v| v.1),
        )
    }

    /// Devices have limits such as 384 or 896, while the kernel halves the invocations of a row until one is left.
    #[test]
    fn invocations_of_a_row_are_a_power_of_two_within_any_limit() {
        for invocations in 64..=1200 {
            for cols in [1, 64, 1000, 4096, 9000, 20_000, 28_000, 100_000] {
                let (width, threads) = widths(invocations, cols);
                let fits = width <= threads && threads <= invocations && threads % width == 0;
                assert!(
                    width.is_power_of_two() && fits,
                    "{invocations}, {cols}: {width} of {threads}"
                );
            }
        }
    }
}
