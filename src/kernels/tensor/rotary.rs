//! Rotary positions.

use super::{R, U, W, grid, kernel, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};

pub(super) static ROTARY: KernelInfo = kernel(
    "tensor_rotary",
    shader!("tensor_rotary.wgsl"),
    &[R, R, W, U],
);

/// Rows of heads to turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotary {
    /// Rows, each at one position.
    pub rows: u64,
    /// Heads of a row.
    pub heads: u64,
    /// Half the elements of a head.
    pub half: u64,
    /// Position of the first row.
    pub first: u64,
    /// Where the result starts in its buffer, in elements.
    pub to: u64,
}

/// Launches that make [`Slot::Out`] of `A`, `[rows, heads, 2 half]`, with the cosine and sine of each position and point
/// in `B`. Nothing is 0 but `first` and `to`.
#[must_use]
pub fn rotary_job(what: &Rotary) -> Job {
    let n = what.rows * what.heads * what.half;
    let words = [n, what.heads, what.half, what.first, what.to, 0, 0, 0];
    Job {
        buffers: vec![
            (Slot::A, padded_bytes(2 * n)),
            (
                Slot::B,
                padded_bytes(2 * (what.first + what.rows) * what.half),
            ),
            (Slot::Out, padded_bytes(what.to + 2 * n)),
        ],
        launches: vec![Launch {
            kernel: &ROTARY,
            overrides: Vec::new(),
            grid: grid(n.div_ceil(256)),
            args: vec![
                Arg::Buffer(Slot::A),
                Arg::Buffer(Slot::B),
                Arg::Buffer(Slot::Out),
                Arg::Params(words.map(|n| n as u32).to_vec()),
            ],
        }],
    }
}
