//! Reductions along one axis, in as many levels as it takes. The order of additions depends on the shape alone.

use super::{R, SLICE, U, W, grid, kernel, padded_bytes, part, second};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::tensor::Reduction;

pub(super) static ROWS: KernelInfo = kernel(
    "tensor_reduce_rows",
    shader!("tensor_reduce_rows.wgsl"),
    &[R, R, W, U],
);
pub(super) static COLUMNS: KernelInfo = kernel(
    "tensor_reduce_columns",
    shader!("tensor_reduce_columns.wgsl"),
    &[R, W, U],
);

/// Invocations of a workgroup.
const THREADS: u64 = 256;
/// Elements of an invocation in `tensor_reduce_rows`.
const ITEMS: u64 = 64;
/// Rows of an invocation in `tensor_reduce_columns`.
const CHUNK_ROWS: u64 = 512;

/// Where a level reads and writes: results of parts go to and fro between two buffers.
fn slots(level: usize, is_last: bool) -> (Slot, Slot) {
    let scratch = [Slot::Partials, Slot::FewerPartials];
    let from = match level {
        0 => Slot::A,
        _ => scratch[(level - 1) % 2],
    };
    (
        from,
        if is_last {
            Slot::Out
        } else {
            scratch[level % 2]
        },
    )
}

/// Adds a buffer to those of a job; of two sizes for one the larger.
fn add_buffer(buffers: &mut Vec<(Slot, u64)>, slot: Slot, n: u64) {
    match buffers.iter_mut().find(|(other, _)| *other == slot) {
        Some((_, n_bytes)) => *n_bytes = padded_bytes(n).max(*n_bytes),
        None => buffers.push((slot, padded_bytes(n))),
    }
}

/// Launches that reduce each row of [`Slot::A`], `[rows, cols]`, to an element of `Out`. A single row may be larger than
/// a binding. Neither is 0.
#[must_use]
pub fn reduce_rows_job(reduction: Reduction, rows: u64, cols: u64, max_binding_bytes: u64) -> Job {
    let mut buffers = vec![
        (Slot::A, padded_bytes(rows * cols)),
        (Slot::Out, padded_bytes(rows)),
    ];
    if reduction == Reduction::Dot {
        buffers.push((Slot::B, padded_bytes(rows * cols)));
    }
    let mut launches = Vec::new();
    let (mut cols, mut reduction) = (cols, reduction);
    for level in 0.. {
        // As many invocations a row as have something to do, and at most a workgroup.
        let width = cols.div_ceil(ITEMS).next_power_of_two().min(THREADS);
        let width = match max_binding_bytes / 4 {
            // Fewer, where parts of a row are so small that results of parts would not start where they must.
            most if cols > most => width.min(previous_power_of_two(most / (SLICE * ITEMS))),
            _ => width,
        };
        let chunks = cols.div_ceil(ITEMS * width);
        let (from, to) = slots(level, chunks == 1);
        add_buffer(&mut buffers, to, rows * chunks);
        let level = RowLevel {
            reduction,
            rows,
            cols,
            width,
            chunks,
            from,
            to,
        };
        level.push_launches(max_binding_bytes, &mut launches);
        if chunks == 1 {
            break;
        }
        cols = chunks;
        reduction = reduction.of_parts();
    }
    Job { buffers, launches }
}

fn previous_power_of_two(n: u64) -> u64 {
    1 << n.max(1).ilog2()
}

/// One level of the reduction of rows.
struct RowLevel {
    reduction: Reduction,
    rows: u64,
    cols: u64,
    width: u64,
    chunks: u64,
    from: Slot,
    to: Slot,
}

impl RowLevel {
    fn push_launches(&self, max_binding_bytes: u64, launches: &mut Vec<Launch>) {
        // Parts of a long row: whole chunks, whose results start at multiples of 256 bytes.
        let unit = SLICE * ITEMS * self.width;
        let most = (max_binding_bytes / 4).clamp(unit, 1 << 31) / unit * unit;
        if self.rows > 1 {
            launches.push(self.launch(0, self.cols));
            return;
        }
        let mut from = 0;
        while from < self.cols {
            let to = (from + most).min(self.cols);
            launches.push(self.launch(from, to));
            from = to;
        }
    }

    fn launch(&self, from: u64, to: u64) -> Launch {
        let cols = to - from;
        let chunk = ITEMS * self.width;
        let chunks = cols.div_ceil(chunk);
        let n_out = self.rows * chunks;
        let is_all = cols == self.cols;
        let input = |slot| match is_all {
            true => Arg::Buffer(slot),
            false => part(slot, from, to, self.cols),
        };
        let out = match is_all {
            true => Arg::Buffer(self.to),
            false => part(self.to, from / chunk, from / chunk + chunks, self.chunks),
        };
        let aligned = self.rows == 1 || self.cols.is_multiple_of(4);
        let params = [self.rows, cols, chunks, n_out].map(|n| n as u32).to_vec();
        Launch {
            kernel: &ROWS,
            overrides: vec![
                ("OP", self.reduction.code()),
                ("WIDTH", self.width as u32),
                ("ALIGNED", aligned.into()),
            ],
            grid: grid(n_out.div_ceil(THREADS / self.width)),
            args: vec![
                input(self.from),
                input(match (self.reduction, self.from) {
                    (Reduction::Dot, Slot::A) => second(true),
                    (_, from) => from,
                }),
                out,
                Arg::Params(params),
            ],
        }
    }
}

/// Launches that reduce the middle axis of [`Slot::A`], `[outer, rows, inner]`, to `Out`, `[outer, inner]`. None is 0; the
/// reduction is not that of products.
#[must_use]
pub fn reduce_columns_job(reduction: Reduction, outer: u64, rows: u64, inner: u64) -> Job {
    let n = outer * rows * inner;
    let mut buffers = vec![
        (Slot::A, padded_bytes(n)),
        (Slot::Out, padded_bytes(outer * inner)),
    ];
    let mut launches = Vec::new();
    let (mut rows, mut reduction) = (rows, reduction);
    for level in 0.. {
        let chunks = rows
            .div_ceil(CHUNK_ROWS)
            .max(chunks_to_fill(outer * inner, rows));
        let chunk_rows = rows.div_ceil(chunks);
        let chunks = rows.div_ceil(chunk_rows);
        let (from, to) = slots(level, chunks == 1);
        let n_out = outer * chunks * inner;
        add_buffer(&mut buffers, to, n_out);
        let params = [rows, inner, chunks, chunk_rows, n_out, 0, 0, 0];
        launches.push(Launch {
            kernel: &COLUMNS,
            overrides: vec![("OP", reduction.code())],
            grid: grid(n_out.div_ceil(THREADS)),
            args: vec![
                Arg::Buffer(from),
                Arg::Buffer(to),
                Arg::Params(params.map(|n| n as u32).to_vec()),
            ],
        });
        if chunks == 1 {
            break;
        }
        rows = chunks;
        reduction = reduction.of_parts();
    }
    Job { buffers, launches }
}

/// Parts of long columns, so that there are enough invocations for a large device; none has fewer than 32 rows.
fn chunks_to_fill(columns: u64, rows: u64) -> u64 {
    const ENOUGH: u64 = 1 << 17;
    (ENOUGH / columns).min(rows / 32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_take_levels_and_large_ones_parts() {
        let n_launches = |cols, max| reduce_rows_job(Reduction::Sum, 1, cols, max).launches.len();
        assert_eq!(n_launches(1, 1 << 27), 1);
        assert_eq!(n_launches(16_384, 1 << 27), 1);
        assert_eq!(n_launches(16_385, 1 << 27), 2);
        assert_eq!(n_launches(1 << 26, 1 << 31), 2);
        assert_eq!(n_launches(1 << 26, 1 << 27), 3);
    }

    #[test]
    fn parts_of_rows_cover_them_once() {
        let job = reduce_rows_job(Reduction::Max, 1, (1 << 26) + 77, 1 << 27);
        let mut ends = (0, 0);
        for launch in &job.launches[..3] {
            let (Arg::Slice(_, input), Arg::Slice(_, out)) = (&launch.args[0], &launch.args[2])
            else {
                panic!("{launch:?}");
            };
            assert_eq!((input.start, out.start), ends);
            assert!(out.start % 256 == 0 && input.start % 256 == 0);
            ends = (input.end, out.end);
        }
        assert_eq!(ends.0, padded_bytes((1 << 26) + 77));
    }
}
