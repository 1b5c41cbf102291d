//! Reductions; the twin of `shaders/tensor_reduce_rows.wgsl` and `tensor_reduce_columns.wgsl`. Sums are added in an
//! order that depends on the number of elements only, not on the number of cores.

use super::parallel::{SHARE, for_shares, of_shares};
use super::sum::{Columns, STRIP, sum_of};
use crate::Result;
use crate::tensor::{Reduction, check_dims, check_len};

/// Number of columns of a share of the work.
const COLUMNS: usize = 4 * STRIP;

/// Reduces all elements to one. [`Reduction::Dot`] computes the sum of squares.
#[must_use]
pub fn reduce(reduction: Reduction, a: &[f32]) -> f32 {
    reduce_pair(reduction, a, a)
}

/// Computes the sum of products, 0 for empty slices.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
pub fn dot(a: &[f32], b: &[f32]) -> Result<f32> {
    check_len("b", b.len(), a.len() as u64)?;
    Ok(reduce_pair(Reduction::Dot, a, b))
}

fn reduce_pair(reduction: Reduction, a: &[f32], b: &[f32]) -> f32 {
    if a.is_empty() {
        return reduction.of_none();
    }
    let mut parts = of_shares(a.len().div_ceil(SHARE), |i| {
        let range = i * SHARE..a.len().min((i + 1) * SHARE);
        share(reduction, &a[range.clone()], &b[range])
    });
    while parts.len() > 1 {
        let shares = parts.chunks(SHARE);
        parts = shares
            .map(|part| share(reduction.of_parts(), part, part))
            .collect();
    }
    parts[0]
}

/// Reduces the middle axis of `[outer, rows, inner]` and writes the result to `out`, `[outer, inner]`.
/// [`Reduction::Dot`] computes the sum of squares.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
pub fn reduce_axis(
    reduction: Reduction,
    a: &[f32],
    [outer, rows, inner]: [usize; 3],
    out: &mut [f32],
) -> Result<()> {
    check_dims("a", a.len(), &[outer, rows, inner])?;
    check_dims("result", out.len(), &[outer, inner])?;
    if out.is_empty() {
        return Ok(());
    }
    if rows == 0 {
        out.fill(reduction.of_none());
        return Ok(());
    }
    if inner == 1 {
        for_shares(out, (SHARE / rows).max(1), |start, out| {
            for (row, out) in a[start * rows..].chunks(rows).zip(out) {
                *out = reduce(reduction, row);
            }
        });
        return Ok(());
    }
    for_shares(out, COLUMNS, |start, out| {
        let (mut from, mut rest) = (start, out);
        while !rest.is_empty() {
            let (outer, column) = (from / inner, from % inner);
            let width = rest.len().min(inner - column).min(STRIP);
            let (strip, behind) = rest.split_at_mut(width);
            let first = outer * rows * inner + column;
            reduce_strip(reduction, &a[first..], [rows, inner], strip);
            (from, rest) = (from + width, behind);
        }
    });
    Ok(())
}

/// Reduces adjacent columns of rows that are `pitch` elements apart.
#[inline(always)]
fn reduce_strip(reduction: Reduction, a: &[f32], [rows, pitch]: [usize; 2], out: &mut [f32]) {
    let width = out.len();
    let row = |row: usize| &a[row * pitch..][..width];
    match reduction {
        Reduction::Sum => sum_strip(row, rows, out, |x| x),
        Reduction::Dot | Reduction::SumOfSquares => sum_strip(row, rows, out, |x| x * x),
        Reduction::Max => extreme_strip(row, rows, out, |x, y| y > x || y.is_nan()),
        Reduction::Min => extreme_strip(row, rows, out, |x, y| y < x || y.is_nan()),
    }
}

#[inline(always)]
fn sum_strip<'a>(
    row: impl Fn(usize) -> &'a [f32],
    rows: usize,
    out: &mut [f32],
    term: impl Fn(f32) -> f32,
) {
    let mut columns = Columns::new(out.len());
    for i in 0..rows {
        let sums = columns.next();
        sums.iter_mut()
            .zip(row(i))
            .for_each(|(sum, x)| *sum += term(*x));
    }
    columns.finish(out);
}

#[inline(always)]
fn extreme_strip<'a>(
    row: impl Fn(usize) -> &'a [f32],
    rows: usize,
    out: &mut [f32],
    goes_before: impl Fn(f32, f32) -> bool,
) {
    out.copy_from_slice(row(0));
    for i in 1..rows {
        for (out, &x) in out.iter_mut().zip(row(i)) {
            *out = if goes_before(*out, x) { x } else { *out };
        }
    }
}

/// Reduces one share, which is not empty and has at most [`SHARE`] elements.
#[inline(always)]
fn share(reduction: Reduction, a: &[f32], b: &[f32]) -> f32 {
    match reduction {
        Reduction::Sum => sum_of(a, b, |x, _| x),
        Reduction::Dot | Reduction::SumOfSquares => sum_of(a, b, |x, y| x * y),
        Reduction::Max => from_key(a.iter().map(|x| key(*x, i32::MAX)).fold(i32::MIN, Ord::max)),
        Reduction::Min => from_key(a.iter().map(|x| key(*x, i32::MIN)).fold(i32::MAX, Ord::min)),
    }
}

/// Maps a float to an integer with the same order; NaN to `nan`.
#[inline(always)]
fn key(x: f32, nan: i32) -> i32 {
    let word = x.to_bits() as i32;
    let ordered = word ^ ((word >> 31) & i32::MAX);
    if x.is_nan() { nan } else { ordered }
}

#[inline(always)]
fn from_key(key: i32) -> f32 {
    if key == i32::MAX || key == i32::MIN {
        return f32::NAN;
    }
    f32::from_bits((key ^ ((key >> 31) & i32::MAX)) as u32)
}
