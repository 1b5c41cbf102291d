//! Convolution of one picture, without padding.

use super::{R, U, W, grid, kernel, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};

pub(super) static CONVOLVE2D: KernelInfo = kernel(
    "tensor_convolve2d",
    shader!("tensor_convolve2d.wgsl"),
    &[R, R, W, U],
);

/// Rows and columns of a workgroup.
const GROUP_ROWS: u64 = 32;
const GROUP_COLS: u64 = 64;
/// Rows and columns of the kernel that are taken at a time.
const PIECE: u64 = 16;
/// Most elements of a kernel that one launch takes: software GPUs stop long loops, and browsers long launches.
const MAX_TAPS: u64 = 1 << 15;

/// Sizes of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution {
    /// Rows and columns of the picture.
    pub input: [u64; 2],
    /// Those of the kernel; not larger.
    pub kernel: [u64; 2],
}

impl Convolution {
    /// Rows and columns of the result.
    #[must_use]
    pub const fn output(&self) -> [u64; 2] {
        [
            self.input[0] - self.kernel[0] + 1,
            self.input[1] - self.kernel[1] + 1,
        ]
    }
}

/// Launches that make [`Slot::Out`] of the picture in `A` and the kernel in `B`. No length is 0.
#[must_use]
pub fn convolve2d_job(what: &Convolution) -> Job {
    let [out_rows, out_cols] = what.output();
    let groups_x = out_cols.div_ceil(GROUP_COLS);
    let n_groups = groups_x * out_rows.div_ceil(GROUP_ROWS);
    let rows_at_once = (MAX_TAPS / what.kernel[1] / PIECE * PIECE).max(PIECE);
    let mut launches = Vec::new();
    let mut from = 0;
    while from < what.kernel[0] {
        let to = (from + rows_at_once).min(what.kernel[0]);
        let words = [
            what.input[0],
            what.input[1],
            what.kernel[0],
            what.kernel[1],
            out_rows,
            out_cols,
            groups_x,
            n_groups,
            from,
            to,
            0,
            0,
        ];
        launches.push(Launch {
            kernel: &CONVOLVE2D,
            overrides: Vec::new(),
            grid: grid(n_groups),
            args: vec![
                Arg::Buffer(Slot::A),
                Arg::Buffer(Slot::B),
                Arg::Buffer(Slot::Out),
                Arg::Params(words.map(|n| n as u32).to_vec()),
            ],
        });
        from = to;
    }
    Job {
        buffers: vec![
            (Slot::A, padded_bytes(what.input[0] * what.input[1])),
            (Slot::B, padded_bytes(what.kernel[0] * what.kernel[1])),
            (Slot::Out, padded_bytes(out_rows * out_cols)),
        ],
        launches,
    }
}
