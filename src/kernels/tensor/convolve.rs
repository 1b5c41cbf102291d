//! Jobs of the convolution of an image, without padding.

use super::{R, U, W, around, beyond_binding, check_sizes, elements_of_binding, elements_of_slice};
use super::{grid, how_many, kernel, padded_bytes, parts};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot, pace};

pub(super) static CONVOLVE2D: KernelInfo = kernel(
    "tensor_convolve2d",
    shader!("tensor_convolve2d.wgsl"),
    &[R, R, W, U],
);

/// Columns of a workgroup's tile, and most rows of one.
const GROUP_COLS: u64 = 64;
const GROUP_ROWS: u64 = 32;
/// Maximum number of rows and columns of the kernel that are processed per step.
const PIECE: u64 = 16;
/// Maximum number of kernel elements of one launch: software GPUs stop long loops, and browsers long launches.
const MAX_TAPS: u64 = 1 << 15;

/// Sizes of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution {
    /// Rows and columns of the image.
    pub input: [u64; 2],
    /// Rows and columns of the kernel, not more than those of the image.
    pub kernel: [u64; 2],
}

impl Convolution {
    /// Returns the numbers of rows and columns of the result. They are 0 along an axis in which the kernel is larger
    /// than the image.
    #[must_use]
    pub const fn output(&self) -> [u64; 2] {
        [
            self.input[0]
                .saturating_add(1)
                .saturating_sub(self.kernel[0]),
            self.input[1]
                .saturating_add(1)
                .saturating_sub(self.kernel[1]),
        ]
    }
}

/// Tile of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tile {
    /// Number of invocations.
    threads: u32,
    /// Number of rows and columns of the kernel that are processed per step.
    piece: u32,
}

impl Tile {
    /// From the largest to the smallest.
    const ALL: [Self; 3] = [Self::new(256, 16), Self::new(128, 16), Self::new(64, 8)];

    const fn new(threads: u32, piece: u32) -> Self {
        Self { threads, piece }
    }

    /// Returns the largest tile that a device allows.
    fn of(limits: Limits) -> Self {
        let [.., smallest] = Self::ALL;
        let allowed = |tile: &Self| limits.allow(tile.threads, tile.workgroup_bytes());
        Self::ALL.into_iter().find(allowed).unwrap_or(smallest)
    }

    /// Returns the number of rows of the result.
    fn rows(self) -> u64 {
        u64::from(self.threads) / 8
    }

    /// Returns the workgroup memory in bytes: of the window of the image, and of a piece of the kernel.
    const fn workgroup_bytes(self) -> u32 {
        let (rows, piece) = (self.threads / 8, self.piece);
        16 * ((rows + piece - 1) * (16 + piece / 4) + piece * piece / 4)
    }
}

/// Part of a convolution: rows and columns of the kernel, and of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    kernel: [u64; 2],
    out: [u64; 2],
}

impl Part {
    /// Returns the largest part such that no buffer has more than `most` elements from its first to its last; `None` if
    /// there is none.
    fn choose(what: &Convolution, most: u64) -> Option<Self> {
        let [in_pitch, kernel_pitch] = [what.input[1], what.kernel[1]];
        let out = what.output();
        // The number of image columns is that of the kernel plus that of the result, minus 1.
        let half = most / 2;
        let kernel_cols = kernel_pitch.min(half.max(most.saturating_sub(out[1])));
        let out_cols = out[1].min((most + 1).checked_sub(kernel_cols)?);
        let in_cols = out_cols + kernel_cols - 1;
        // The same holds for rows.
        let in_rows = how_many(what.input[0], in_pitch, in_cols, most);
        let taps = (MAX_TAPS / kernel_cols / PIECE * PIECE).max(PIECE);
        let fitting = how_many(what.kernel[0], kernel_pitch, kernel_cols, most);
        // Few kernel rows per part need many launches; few result rows read the image often.
        let kernel_rows = match fitting.min(taps) {
            rows if rows + GROUP_ROWS > in_rows => rows.min(in_rows.div_ceil(2)),
            rows => rows,
        };
        let kernel_rows = match kernel_rows {
            rows if rows < what.kernel[0] && rows > PIECE => rows / PIECE * PIECE,
            rows => rows,
        };
        let out_rows = (in_rows + 1).checked_sub(kernel_rows)?;
        let out_rows = out_rows.min(how_many(out[0], out[1], out_cols, most));
        let is_some = kernel_rows.min(kernel_cols).min(out_rows).min(out_cols) > 0;
        is_some.then_some(Self {
            kernel: [kernel_rows, kernel_cols],
            out: [out_rows, out_cols],
        })
    }

    /// Returns the part with fewer rows of the result, whole tiles if possible, if it has more than `most_terms` multiply-adds.
    fn within(self, most_terms: u64) -> Self {
        let of_row = self.kernel[0].saturating_mul(self.kernel[1]);
        let of_row = of_row.saturating_mul(self.out[1]);
        let rows = (most_terms / of_row).max(1);
        let rows = match rows {
            _ if rows >= self.out[0] => self.out[0],
            _ if rows > GROUP_ROWS => rows / GROUP_ROWS * GROUP_ROWS,
            _ => rows,
        };
        Self {
            out: [rows, self.out[1]],
            ..self
        }
    }

    /// Returns the whole convolution, or fewer rows of the kernel if it has more than [`MAX_TAPS`] elements.
    fn whole(what: &Convolution) -> Self {
        let rows = (MAX_TAPS / what.kernel[1] / PIECE * PIECE).max(PIECE);
        Self {
            kernel: [rows.min(what.kernel[0]), what.kernel[1]],
            out: what.output(),
        }
    }
}

/// Returns the launches that compute [`Slot::Out`] from the image in `A` and the kernel in `B`. There are several for a
/// large kernel, for buffers larger than a binding, and for more than `most_terms` multiply-adds.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, a kernel larger than the image, and
/// bindings that are too small for any part.
pub fn convolve2d_job(what: &Convolution, limits: Limits) -> Result<Job> {
    let max_binding_bytes = limits.binding_bytes;
    let most_terms = pace::product_terms(limits.longest_submission);
    check_sizes(&[&what.input, &what.kernel])?;
    let out = what.output();
    check_sizes(&[&out])?;
    let lengths = [what.input, what.kernel, out].map(|[rows, cols]| rows * cols);
    let [n_input, n_kernel, n_out] = lengths;
    let most = elements_of_binding(max_binding_bytes);
    let is_whole = n_input.max(n_kernel).max(n_out) <= most;
    let part = match is_whole {
        true => Some(Part::whole(what)),
        false => Part::choose(what, elements_of_slice(max_binding_bytes)),
    };
    let part = part.ok_or_else(|| beyond_binding("input", 1, max_binding_bytes))?;
    let part = part.within(most_terms);
    let mut launches = Vec::new();
    for (y, out_rows) in parts(out[0], part.out[0]) {
        for (x, out_cols) in parts(out[1], part.out[1]) {
            for (r, kernel_rows) in parts(what.kernel[0], part.kernel[0]) {
                for (s, kernel_cols) in parts(what.kernel[1], part.kernel[1]) {
                    let one = Part {
                        kernel: [kernel_rows, kernel_cols],
                        out: [out_rows, out_cols],
                    };
                    launches.push(launch(what, one, [y, x], [r, s], is_whole, limits));
                }
            }
        }
    }
    Ok(Job {
        buffers: vec![
            (Slot::A, padded_bytes(n_input)),
            (Slot::B, padded_bytes(n_kernel)),
            (Slot::Out, padded_bytes(n_out)),
        ],
        launches,
    })
}

/// Returns the launch that computes a part of the result, from row `y` and column `x`, with a part of the kernel, from
/// row `r` and column `s`.
fn launch(
    what: &Convolution,
    part: Part,
    [y, x]: [u64; 2],
    [r, s]: [u64; 2],
    is_whole: bool,
    limits: Limits,
) -> Launch {
    let tile = Tile::of(limits);
    let out_pitch = what.output()[1];
    let ([kernel_rows, kernel_cols], [out_rows, out_cols]) = (part.kernel, part.out);
    let [in_rows, in_cols] = [out_rows + kernel_rows - 1, out_cols + kernel_cols - 1];
    let bound = |slot, [row, col]: [u64; 2], [rows, cols]: [u64; 2], pitch: u64| {
        let from = row * pitch + col;
        match is_whole {
            true => (Arg::Buffer(slot), from),
            false => around(slot, from, from + (rows - 1) * pitch + cols),
        }
    };
    let (in_pitch, kernel_pitch) = (what.input[1], what.kernel[1]);
    let (input, in_from) = bound(Slot::A, [y + r, x + s], [in_rows, in_cols], in_pitch);
    let (kernel, kernel_from) = bound(Slot::B, [r, s], part.kernel, kernel_pitch);
    let (out, out_from) = bound(Slot::Out, [y, x], part.out, out_pitch);
    let groups_x = out_cols.div_ceil(GROUP_COLS);
    let n_groups = groups_x * out_rows.div_ceil(tile.rows());
    let words = [
        in_rows,
        in_cols,
        kernel_rows,
        kernel_cols,
        out_rows,
        out_cols,
        groups_x,
        n_groups,
        in_from,
        in_pitch,
        kernel_from,
        kernel_pitch,
        out_from,
        out_pitch,
        u64::from(r + s > 0),
        0,
    ];
    Launch {
        kernel: &CONVOLVE2D,
        overrides: vec![("THREADS", tile.threads), ("PIECE", tile.piece)],
        grid: grid(n_groups),
        args: vec![
            input,
            kernel,
            out,
            Arg::Params(words.map(|n| n as u32).to_vec()),
        ],
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn tiles_are_as_large_as_the_device_allows() {
        let of = |invocations, workgroup_bytes| {
            Tile::of(Limits {
                invocations,
                workgroup_bytes,
                ..Limits::WEBGPU
            })
        };
        assert_eq!(of(1024, 32 << 10), Tile::ALL[0]);
        assert_eq!(of(256, 16 << 10), Tile::ALL[0]);
        assert_eq!(of(255, 16 << 10), Tile::ALL[1]);
        assert_eq!(of(256, 12 << 10), Tile::ALL[1]);
        assert_eq!(of(64, 8 << 10), Tile::ALL[2]);
        assert!(Tile::ALL[2].workgroup_bytes() <= Limits::LEAST.workgroup_bytes);
    }

    #[test]
    fn parts_fit_and_compute_each_product_once() {
        for (input, kernel) in [
            ([400, 300], [3, 3]),
            ([40, 30_000], [3, 3]),
            ([40, 60_000], [5, 40_000]),
            ([60_000, 40], [40_000, 5]),
            ([700, 700], [600, 600]),
            ([1, 100_000], [1, 1]),
            ([100_000, 1], [1, 1]),
            ([200, 200], [200, 200]),
        ] {
            let what = Convolution { input, kernel };
            let out = what.output();
            let short = |microseconds| Some(Duration::from_micros(microseconds));
            for (most, longest_submission) in [
                (4096, None),
                (16 << 10, None),
                (128 << 10, None),
                (1 << 30, short(300)),
                (16 << 10, short(2)),
            ] {
                let limits = Limits {
                    longest_submission,
                    ..Limits::of_bindings(4 * most)
                };
                let most_terms = pace::product_terms(longest_submission);
                let job = convolve2d_job(&what, limits).unwrap();
                let mut made = 0;
                for launch in &job.launches {
                    let Arg::Params(words) = &launch.args[3] else {
                        panic!("no parameters");
                    };
                    let terms = words[2..6].iter().map(|&n| u64::from(n)).product::<u64>();
                    assert!(terms <= most_terms || words[4] == 1, "{what:?} {terms}");
                    made += terms;
                    for (arg, (_, n_bytes)) in launch.args.iter().zip(&job.buffers) {
                        let range = match arg {
                            Arg::Slice(_, range) => range.clone(),
                            _ => 0..*n_bytes,
                        };
                        assert!(range.start % 256 == 0 && range.end <= *n_bytes, "{what:?}");
                        assert!(range.end - range.start <= 4 * most, "{what:?} {most}");
                    }
                }
                let all: u64 = out.iter().chain(&kernel).product();
                assert_eq!(made, all, "{what:?} {most}");
            }
        }
    }
}
