//! Matrix products of buffers that are larger than a binding, or longer than a launch may be: batches, rows, columns or sums are processed in parts.

use super::matmul_launch::{Args, MAX_SLICE, Matrix, Product, part_launch};
use super::matmul_tiling::TileLimits;
use super::{SLICE, around, parts};
use crate::kernels::{Launch, Slot};

/// Sizes of a part: number of products, rows, columns, and terms of each sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    batch: u64,
    m: u64,
    n: u64,
    k: u64,
}

/// Returns `length`, or at most `most`, rounded down to whole tiles if possible.
fn at_most(length: u64, most: u64) -> u64 {
    match most {
        _ if length <= most => length,
        64.. => most / 64 * 64,
        _ => most.max(1),
    }
}

/// Returns the number of lines of `length` elements, `pitch` apart, that fit in `most` elements.
fn lines(length: u64, pitch: u64, most: u64) -> u64 {
    most.saturating_sub(length) / pitch.max(1) + 1
}

/// Returns the number of elements from the first to the last of `n_lines` lines.
fn span(n_lines: u64, length: u64, pitch: u64) -> u64 {
    (n_lines - 1) * pitch + length
}

impl Matrix {
    /// Returns the number of lines and their length, for a part with this many rows and columns.
    fn lines_of(&self, rows: u64, cols: u64) -> (u64, u64) {
        match self.transposed {
            true => (cols, rows),
            false => (rows, cols),
        }
    }

    /// Returns the numbers of rows and columns that fit in `most` elements. Lines are shortened only if a single one
    /// does not fit.
    fn fitting(&self, rows: u64, cols: u64, most: u64) -> (u64, u64) {
        let (n_lines, length) = self.lines_of(rows, cols);
        let length = at_most(length, most);
        let n_lines = at_most(n_lines, lines(length, self.pitch, most));
        // Converts lines back to rows and columns.
        self.lines_of(n_lines, length)
    }

    /// Returns the layout of a part that starts at a product, row and column, and the range of its elements in the
    /// buffer.
    fn part(
        &self,
        [batch, row, col]: [u64; 3],
        [batches, rows, cols]: [u64; 3],
    ) -> (Self, [u64; 2]) {
        let (line, in_line) = self.lines_of(row, col);
        let from = self.offset + batch * self.batch + line * self.pitch + in_line;
        let (n_lines, length) = self.lines_of(rows, cols);
        let to = from + (batches - 1) * self.batch + span(n_lines, length, self.pitch);
        let part = Self {
            offset: from % SLICE,
            batch: if batches == 1 { 0 } else { self.batch },
            ..*self
        };
        (part, [from, to])
    }
}

impl Part {
    /// Returns the largest part such that no matrix spans more than `most` elements, of at most `most_terms` multiply-adds if rows and
    /// products suffice to divide it.
    fn choose(what: &Product, most: u64, most_terms: u64) -> Self {
        let (mut m, mut n, mut k) = (what.m, what.n, what.k.min(MAX_SLICE));
        // The lines of the result are rows.
        n = at_most(n, most);
        m = at_most(m, lines(n, what.n, most));
        (m, k) = what.a.fitting(m, k, most);
        (k, n) = what.b.fitting(k, n, most);
        m = at_most(m, most_terms / n.saturating_mul(k));
        let is_whole = (m, n, k) == (what.m, what.n, what.k);
        let spans = |matrix: &Matrix, rows, cols| {
            let (n_lines, length) = matrix.lines_of(rows, cols);
            lines(span(n_lines, length, matrix.pitch), matrix.batch, most)
        };
        let of_out = lines(m * n, m * n, most);
        let in_time = (most_terms / m.saturating_mul(n).saturating_mul(k)).max(1);
        let batch = spans(&what.a, m, k).min(spans(&what.b, k, n)).min(of_out);
        let batch = batch.min(in_time);
        Self {
            batch: if is_whole { batch.min(what.batch) } else { 1 },
            m,
            n,
            k,
        }
    }
}

/// Returns the launches of a product. No binding has more than `most` elements.
pub(super) fn in_parts(what: &Product, limits: TileLimits, most: u64) -> Vec<Launch> {
    // Slices are rounded outwards: start to the alignment, end to four elements.
    let most = most.saturating_sub(SLICE + 4).max(1);
    let part = Part::choose(what, most, limits.most_terms);
    let mut launches = Vec::new();
    for (batch, batches) in parts(what.batch, part.batch) {
        for (row, m) in parts(what.m, part.m) {
            for (col, n) in parts(what.n, part.n) {
                for (from, k) in parts(what.k, part.k) {
                    let (a, a_range) = what.a.part([batch, row, from], [batches, m, k]);
                    let (b, b_range) = what.b.part([batch, from, col], [batches, k, n]);
                    let first = (batch * what.m + row) * what.n + col;
                    let behind = first + span(batches * m, n, what.n);
                    let (out, offset) = around(Slot::Out, first, behind);
                    let args = Args {
                        buffers: [
                            around(Slot::A, a_range[0], a_range[1]).0,
                            around(Slot::B, b_range[0], b_range[1]).0,
                            out,
                        ],
                        offset,
                        pitch: what.n,
                        add: from > 0,
                    };
                    let product = Product {
                        batch: batches,
                        m,
                        n,
                        k,
                        a,
                        b,
                    };
                    launches.push(part_launch(&product, limits, args));
                }
            }
        }
    }
    launches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Arg, Limits};

    /// Checks that the launches compute each product once, and that no slice is too large or exceeds its buffer.
    fn check(what: &Product, most: u64, most_terms: u64) -> usize {
        let limits = TileLimits {
            most_terms,
            ..TileLimits::of(Limits::WEBGPU)
        };
        let launches = in_parts(what, limits, most);
        let n_out = what.batch * what.m * what.n;
        let mut made = 0;
        for launch in &launches {
            for (arg, n) in launch.args.iter().zip([what.a.n, what.b.n, n_out]) {
                let Arg::Slice(slot, range) = arg else {
                    panic!("{arg:?}");
                };
                assert!(
                    range.start.is_multiple_of(256) && range.end <= 16 * n.div_ceil(4),
                    "{slot:?} {range:?} of {n}"
                );
                assert!(range.end - range.start <= 4 * most, "{slot:?} {range:?}");
            }
            let Arg::Params(words) = &launch.args[3] else {
                panic!("no parameters");
            };
            let [m, n, k] = [words[0], words[1], words[2]].map(u64::from);
            assert!(k <= MAX_SLICE);
            let terms = m * n * k * (u64::from(words[7]) / u64::from(words[5] * words[6]));
            assert!(terms <= most_terms, "{terms} of {most_terms}");
            made += terms;
        }
        assert_eq!(made, what.batch * what.m * what.n * what.k);
        launches.len()
    }

    #[test]
    fn parts_have_no_more_terms_than_a_launch_may() {
        for ([batch, m, n, k], most_terms, n_launches) in [
            ([1, 8192, 8192, 8192], 180_000_000_000, 4),
            ([8, 2048, 2048, 2048], 20_000_000_000, 4),
            ([3, 300, 300, 300], 10_000_000, 3 * 5),
            ([1, 5, 4096, 4096], 1 << 24, 5),
        ] {
            let what = Product::dense(batch, m, n, k);
            assert_eq!(check(&what, 1 << 30, most_terms), n_launches, "{what:?}");
        }
    }

    #[test]
    fn parts_are_as_large_as_bindings_allow() {
        for (a_transposed, b_transposed) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            for [batch, m, n, k] in [
                [1, 500, 400, 300],
                [1, 3, 100_000, 5],
                [1, 7, 5, 100_000],
                [1000, 6, 7, 8],
                [3, 300, 300, 300],
            ] {
                let matrix = |rows: u64, cols: u64, transposed| Matrix {
                    transposed,
                    pitch: if transposed { rows } else { cols },
                    ..Matrix::dense(rows, cols, batch * rows * cols)
                };
                let what = Product {
                    batch,
                    m,
                    n,
                    k,
                    a: matrix(m, k, a_transposed),
                    b: matrix(k, n, b_transposed),
                };
                let n_launches = check(&what, 16 << 10, u64::MAX);
                // Each buffer is divided along one axis, into little more parts than necessary.
                let cut = |n: u64| n.div_ceil(16 << 10);
                let least = cut(batch * m * n).max(cut(m * n) * cut(m * k) * cut(k * n));
                assert!(
                    n_launches as u64 <= 4 * batch * least,
                    "{what:?}: {n_launches}"
                );
            }
        }
    }
}
