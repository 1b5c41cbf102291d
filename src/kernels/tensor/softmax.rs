//! Softmax over rows.

use super::{R, SLICE, U, W, around, elements_of_binding, grid, kernel, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};

const WGSL: &str = shader!("tensor_softmax.wgsl");
pub(super) static SOFTMAX: KernelInfo = kernel("tensor_softmax", WGSL, &[R, W, U]);
pub(super) static SOFTMAX_LONG: KernelInfo = kernel("tensor_softmax_long", WGSL, &[R, W, U]);

/// Elements that an invocation holds in registers.
const HELD: u64 = 32;

/// What a device can do for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoftmaxLimits {
    /// Invocations of one workgroup.
    pub invocations: u32,
    /// Bytes of its memory.
    pub workgroup_bytes: u32,
}

impl SoftmaxLimits {
    /// What WebGPU promises.
    pub const DEFAULT: Self = Self {
        invocations: 256,
        workgroup_bytes: 16_384,
    };

    /// Whether a row fits in a binding, wherever it starts.
    #[must_use]
    pub const fn takes_row(cols: u64, max_binding_bytes: u64) -> bool {
        cols + SLICE <= elements_of_binding(max_binding_bytes)
    }
}

/// Launches that make [`Slot::Out`] of `A`, `[rows, cols]`: the softmax of each row or, for `log`, its logarithm.
/// Neither is 0. There are several where all rows together are larger than a binding; one row is not, see
/// [`takes_row`](SoftmaxLimits::takes_row).
#[must_use]
pub fn softmax_job(
    rows: u64,
    cols: u64,
    log: bool,
    limits: SoftmaxLimits,
    max_binding_bytes: u64,
) -> Job {
    let n = rows * cols;
    let at_once = match elements_of_binding(max_binding_bytes) {
        most if n <= most => rows,
        most => (most.saturating_sub(SLICE) / cols).max(1),
    };
    let mut launches = Vec::new();
    let mut from = 0;
    while from < rows {
        let to = (from + at_once).min(rows);
        let (args, offset) = match at_once == rows {
            true => ([Slot::A, Slot::Out].map(Arg::Buffer), 0),
            false => {
                let of = |slot| around(slot, from * cols, to * cols);
                let ((a, offset), (out, _)) = (of(Slot::A), of(Slot::Out));
                ([a, out], offset)
            }
        };
        launches.push(softmax_launch([to - from, cols], log, limits, args, offset));
        from = to;
    }
    Job {
        buffers: vec![(Slot::A, padded_bytes(n)), (Slot::Out, padded_bytes(n))],
        launches,
    }
}

/// One launch, over rows that start at an element of both arguments.
pub(in crate::kernels) fn softmax_launch(
    [rows, cols]: [u64; 2],
    log: bool,
    limits: SoftmaxLimits,
    [a, out]: [Arg; 2],
    offset: u64,
) -> Launch {
    let most = limits.invocations.min(limits.workgroup_bytes / 8).min(1024);
    let most = u64::from(most.max(1))
        .next_power_of_two()
        .min(u64::from(most.max(1)));
    let width = cols.div_ceil(HELD / 2).next_power_of_two();
    let is_held = cols <= HELD * most;
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
        ],
        grid: grid(rows.div_ceil(threads / width)),
        args: vec![
            a,
            out,
            Arg::Params([rows, cols, offset, 0].map(|n| n as u32).to_vec()),
        ],
    }
}
