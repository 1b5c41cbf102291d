//! Jobs of reductions along one axis, in as many levels as necessary. The order of additions depends on the shape only.

use super::{
    R, SLICE, THREADS, U, W, around, beyond_binding, check_sizes, elements_of_binding,
    elements_of_slice,
};
use super::{
    grid, kernel, padded_bytes, padded_bytes_of, part, parts, previous_power_of_two, second,
    type_override,
};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Registers, Slot};
use crate::ops::{DType, Reduction};

pub(super) static ROWS: KernelInfo = kernel(
    "tensor_reduce_rows",
    shader!("tensor_reduce_rows.wgsl"),
    &[R, R, W, U],
);
pub(super) static ROWS_OF_HALVES: KernelInfo = kernel(
    "tensor_reduce_rows",
    shader!("tensor_reduce_rows.halves.wgsl"),
    &[R, R, W, U],
);
pub(super) static COLUMNS: KernelInfo = kernel(
    "tensor_reduce_columns",
    shader!("tensor_reduce_columns.wgsl"),
    &[R, W, U],
);

/// Number of elements per invocation in `tensor_reduce_rows`.
const ITEMS: u64 = 64;
/// Maximum number of rows per invocation in `tensor_reduce_columns`.
const CHUNK_ROWS: u64 = 512;

/// Returns source and destination of a level. Partial results alternate between two buffers.
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

/// Adds a buffer to a job, or enlarges it if the job has it already.
fn add_buffer(buffers: &mut Vec<(Slot, u64)>, slot: Slot, n: u64) {
    match buffers.iter_mut().find(|(other, _)| *other == slot) {
        Some((_, n_bytes)) => *n_bytes = padded_bytes(n).max(*n_bytes),
        None => buffers.push((slot, padded_bytes(n))),
    }
}

/// Number of rows of a type of which parts start at aligned offsets, as their results do.
const fn row_unit(dtype: DType) -> u64 {
    SLICE * dtype.per_word()
}

/// Returns true if [`reduce_rows_job`] supports the size: a single row of any length, or rows of which a unit would fit in a
/// binding as f32, since slices of rows and of results, which are f32, must start at aligned offsets.
#[must_use]
pub const fn takes_rows(dtype: DType, [rows, cols]: [u64; 2], max_binding_bytes: u64) -> bool {
    let most = elements_of_binding(max_binding_bytes);
    rows == 1 || rows.saturating_mul(cols) <= most || row_unit(dtype).saturating_mul(cols) <= most
}

/// Returns the launches that reduce each row of [`Slot::A`], `[rows, cols]` of `dtype`, to an element of f32 of `Out`. There
/// are several if a row needs several levels or a buffer is larger than a binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for rows that are too long, see
/// `takes_rows`.
pub fn reduce_rows_job(
    reduction: Reduction,
    dtype: DType,
    [rows, cols]: [u64; 2],
    limits: Limits,
) -> Result<Job> {
    check_sizes(&[&[rows, cols]])?;
    let max_binding_bytes = limits.binding_bytes;
    let threads = limits.width(THREADS);
    if !takes_rows(dtype, [rows, cols], max_binding_bytes) {
        return Err(beyond_binding("a", SLICE * cols, max_binding_bytes));
    }
    let n_bytes = padded_bytes_of(dtype, rows * cols);
    let mut buffers = vec![(Slot::A, n_bytes), (Slot::Out, padded_bytes(rows))];
    if reduction == Reduction::Dot {
        buffers.push((Slot::B, n_bytes));
    }
    let mut launches = Vec::new();
    let (mut cols, mut reduction, mut dtype) = (cols, reduction, dtype);
    for level in 0.. {
        // As many invocations per row as have elements to reduce, at most a workgroup.
        let width = cols.div_ceil(ITEMS).next_power_of_two().min(threads.into());
        let width = match max_binding_bytes / dtype.n_bytes() as u64 {
            // Fewer, if parts of a row are so small that slices of the results would not be aligned.
            most if cols > most => width.min(previous_power_of_two(most / (SLICE * ITEMS))),
            _ => width,
        };
        let chunks = cols.div_ceil(ITEMS * width);
        let (from, to) = slots(level, chunks == 1);
        add_buffer(&mut buffers, to, rows * chunks);
        let level = RowLevel {
            reduction,
            dtype,
            rows,
            cols,
            width,
            threads,
            registers: limits.registers,
            chunks,
            from,
            to,
        };
        level.push_launches(max_binding_bytes, &mut launches);
        if chunks == 1 {
            break;
        }
        cols = chunks;
        dtype = DType::F32;
        reduction = reduction.of_parts();
    }
    Ok(Job { buffers, launches })
}

/// One level of the reduction of rows.
struct RowLevel {
    reduction: Reduction,
    dtype: DType,
    rows: u64,
    cols: u64,
    width: u64,
    threads: u32,
    registers: Registers,
    chunks: u64,
    from: Slot,
    to: Slot,
}

impl RowLevel {
    fn push_launches(&self, max_binding_bytes: u64, launches: &mut Vec<Launch>) {
        // Parts of a long row are whole chunks whose results start at multiples of 256 bytes.
        let unit = SLICE * ITEMS * self.width;
        let most = max_binding_bytes / self.dtype.n_bytes() as u64;
        let most = most.clamp(unit, 1 << 31) / unit * unit;
        if self.rows > 1 {
            let most = elements_of_binding(max_binding_bytes);
            let unit = row_unit(self.dtype);
            let at_once = match self.rows * self.cols <= most {
                true => self.rows,
                false => most / self.cols / unit * unit,
            };
            for (row, n) in parts(self.rows, at_once) {
                launches.push(self.launch([row, row + n], [0, self.cols]));
            }
            return;
        }
        let mut from = 0;
        while from < self.cols {
            let to = (from + most).min(self.cols);
            launches.push(self.launch([0, 1], [from, to]));
            from = to;
        }
    }

    /// Returns a launch over some rows, or over a part of a single row.
    fn launch(&self, [row, end]: [u64; 2], [from, to]: [u64; 2]) -> Launch {
        let (rows, cols) = (end - row, to - from);
        let chunk = ITEMS * self.width;
        let chunks = cols.div_ceil(chunk);
        let n_out = rows * chunks;
        let place = row * self.cols + from;
        let words = [place, place + rows * cols, self.rows * self.cols];
        let words = words.map(|n| n.div_ceil(self.dtype.per_word()));
        let input = |slot| part(slot, words);
        let result = row * self.chunks + from / chunk;
        let out = part(self.to, [result, result + n_out, self.rows * self.chunks]);
        let aligned = self.rows == 1 || self.cols.is_multiple_of(4);
        let params = [rows, cols, chunks, n_out].map(|n| n as u32).to_vec();
        let mut overrides = vec![
            ("OP", self.reduction.code()),
            ("THREADS", self.threads),
            ("WIDTH", self.width as u32),
            ("ALIGNED", aligned.into()),
            self.registers.ahead(),
        ];
        overrides.extend(type_override(self.dtype));
        Launch {
            kernel: match self.dtype {
                DType::F32 => &ROWS,
                DType::F16 | DType::BF16 => &ROWS_OF_HALVES,
            },
            overrides,
            grid: grid(n_out.div_ceil(u64::from(self.threads) / self.width)),
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

/// Returns true if [`reduce_columns_job`] supports the size: everything, or two rows of a matrix, must fit in a
/// binding.
#[must_use]
pub const fn takes_columns(outer: u64, rows: u64, inner: u64, max_binding_bytes: u64) -> bool {
    let all = outer.saturating_mul(rows).saturating_mul(inner);
    all <= elements_of_binding(max_binding_bytes)
        || inner.saturating_mul(2) <= elements_of_slice(max_binding_bytes)
}

/// Returns the launches that reduce the middle axis of [`Slot::A`], `[outer, rows, inner]`, to `Out`, `[outer, inner]`.
/// There are several if there are many rows or a buffer is larger than a binding. [`Reduction::Dot`] is not supported.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for rows that are too long, see
/// `takes_columns`.
pub fn reduce_columns_job(
    reduction: Reduction,
    [outer, rows, inner]: [u64; 3],
    limits: Limits,
) -> Result<Job> {
    check_sizes(&[&[outer, rows, inner]])?;
    let max_binding_bytes = limits.binding_bytes;
    if !takes_columns(outer, rows, inner, max_binding_bytes) {
        return Err(beyond_binding("a", 2 * inner, max_binding_bytes));
    }
    let n = outer * rows * inner;
    let mut buffers = vec![
        (Slot::A, padded_bytes(n)),
        (Slot::Out, padded_bytes(outer * inner)),
    ];
    let mut launches = Vec::new();
    let (mut rows, mut reduction) = (rows, reduction);
    for level in 0.. {
        let most_rows = match outer * rows * inner <= elements_of_binding(max_binding_bytes) {
            true => CHUNK_ROWS,
            false => CHUNK_ROWS.min(elements_of_slice(max_binding_bytes) / inner),
        };
        let chunks = rows
            .div_ceil(most_rows)
            .max(chunks_to_fill(outer * inner, rows));
        let chunk_rows = rows.div_ceil(chunks);
        let chunks = rows.div_ceil(chunk_rows);
        let (from, to) = slots(level, chunks == 1);
        add_buffer(&mut buffers, to, outer * chunks * inner);
        let level = ColumnLevel {
            reduction,
            threads: limits.width(THREADS),
            outer,
            rows,
            inner,
            chunks,
            chunk_rows,
            from,
            to,
        };
        level.push_launches(max_binding_bytes, &mut launches);
        if chunks == 1 {
            break;
        }
        rows = chunks;
        reduction = reduction.of_parts();
    }
    Ok(Job { buffers, launches })
}

/// One level of the reduction of columns.
struct ColumnLevel {
    reduction: Reduction,
    threads: u32,
    outer: u64,
    rows: u64,
    inner: u64,
    chunks: u64,
    chunk_rows: u64,
    from: Slot,
    to: Slot,
}

impl ColumnLevel {
    fn push_launches(&self, max_binding_bytes: u64, launches: &mut Vec<Launch>) {
        let matrix = self.rows * self.inner;
        if self.outer * matrix <= elements_of_binding(max_binding_bytes) {
            let whole = [self.from, self.to].map(|slot| (Arg::Buffer(slot), 0));
            launches.push(self.launch([self.outer, self.rows, self.chunks], whole));
            return;
        }
        let most = elements_of_slice(max_binding_bytes);
        let bound = |from: [u64; 2], n: [u64; 2]| {
            let [a, out] = [0, 1].map(|i| (from[i] * self.inner, (from[i] + n[i]) * self.inner));
            [around(self.from, a.0, a.1), around(self.to, out.0, out.1)]
        };
        if matrix <= most {
            for (first, n) in parts(self.outer, most / matrix) {
                let (rows, chunks) = (self.rows, self.chunks);
                let args = bound([first * rows, first * chunks], [n * rows, n * chunks]);
                launches.push(self.launch([n, rows, chunks], args));
            }
            return;
        }
        // Divides the chunks of one matrix after the other.
        let at_once = (most / (self.chunk_rows * self.inner)).max(1);
        for outer in 0..self.outer {
            for (first, chunks) in parts(self.chunks, at_once) {
                let row = first * self.chunk_rows;
                let rows = (chunks * self.chunk_rows).min(self.rows - row);
                let places = [outer * self.rows + row, outer * self.chunks + first];
                launches.push(self.launch([1, rows, chunks], bound(places, [rows, chunks])));
            }
        }
    }

    /// Returns a launch over some matrices, or over some rows of one. `args` are the buffers and their first elements.
    fn launch(&self, [outer, rows, chunks]: [u64; 3], args: [(Arg, u64); 2]) -> Launch {
        let n_out = outer * chunks * self.inner;
        let [(a, from), (out, to)] = args;
        let params = [
            rows,
            self.inner,
            chunks,
            self.chunk_rows,
            n_out,
            from,
            to,
            0,
        ];
        Launch {
            kernel: &COLUMNS,
            overrides: vec![("OP", self.reduction.code()), ("THREADS", self.threads)],
            grid: grid(n_out.div_ceil(self.threads.into())),
            args: vec![a, out, Arg::Params(params.map(|n| n as u32).to_vec())],
        }
    }
}

/// Returns the number of chunks of columns that keeps a large device busy. Chunks have at least 32 rows.
fn chunks_to_fill(columns: u64, rows: u64) -> u64 {
    const ENOUGH: u64 = 1 << 17;
    (ENOUGH / columns).min(rows / 32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_need_levels_and_large_ones_parts() {
        let n_launches = |cols, max| {
            let limits = Limits::of_bindings(max);
            let job = reduce_rows_job(Reduction::Sum, DType::F32, [1, cols], limits);
            job.unwrap().launches.len()
        };
        assert_eq!(n_launches(1, 1 << 27), 1);
        assert_eq!(n_launches(16_384, 1 << 27), 1);
        assert_eq!(n_launches(16_385, 1 << 27), 2);
        assert_eq!(n_launches(1 << 26, 1 << 31), 2);
        assert_eq!(n_launches(1 << 26, 1 << 27), 3);
    }

    #[test]
    fn parts_of_rows_cover_them_once() {
        let cols = (1 << 26) + 77;
        let job = reduce_rows_job(Reduction::Max, DType::F32, [1, cols], Limits::WEBGPU).unwrap();
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
