//! Reductions; the twin of `shaders/tensor_reduce_rows.wgsl` and `tensor_reduce_columns.wgsl`. Sums are added in an order
//! that depends on the number of elements alone, not on the number of cores.

use super::parallel::{SHARE, for_shares, of_shares};
use crate::Result;
use crate::tensor::{Reduction, check_len};

/// Sums kept side by side.
const LANES: usize = 32;

/// Reduces all elements to one. [`Reduction::Dot`] takes them as both factors.
#[must_use]
pub fn reduce(reduction: Reduction, a: &[f32]) -> f32 {
    reduce_pair(reduction, a, a)
}

/// The sum of products.
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

/// The middle axis of `[outer, rows, inner]`, reduced to `out`, `[outer, inner]`.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
pub fn reduce_axis(
    reduction: Reduction,
    a: &[f32],
    [outer, rows, inner]: [usize; 3],
    out: &mut [f32],
) -> Result<()> {
    check_len("a", a.len(), outer as u64 * rows as u64 * inner as u64)?;
    check_len("result", out.len(), outer as u64 * inner as u64)?;
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
    // A share is a part of one row of the result.
    let columns = columns_at_once(inner);
    let prepare = preparation(reduction);
    let combine = combination(reduction.of_parts());
    for_shares(out, columns, |start, out| {
        let (outer, column) = (start / inner, start % inner);
        let first = outer * rows * inner + column;
        for (out, x) in out.iter_mut().zip(&a[first..]) {
            *out = prepare(*x, *x);
        }
        for row in 1..rows {
            for (out, x) in out.iter_mut().zip(&a[first + row * inner..]) {
                *out = combine(*out, prepare(*x, *x));
            }
        }
    });
    Ok(())
}

/// Columns of a share: a divisor of all, so that no share goes on in the next row.
fn columns_at_once(inner: usize) -> usize {
    let least = inner.div_ceil(4096);
    (least..=inner.min(least + 64))
        .find(|n| inner.is_multiple_of(*n))
        .map_or(inner, |n| inner / n)
}

fn preparation(reduction: Reduction) -> fn(f32, f32) -> f32 {
    match reduction {
        Reduction::Dot | Reduction::SumOfSquares => |x, y| x * y,
        _ => |x, _| x,
    }
}

fn combination(reduction: Reduction) -> fn(f32, f32) -> f32 {
    match reduction {
        Reduction::Max => |x, y| if y > x || y.is_nan() { y } else { x },
        Reduction::Min => |x, y| if y < x || y.is_nan() { y } else { x },
        _ => |x, y| x + y,
    }
}

/// One share, which is not empty, of at most a few thousand elements.
#[inline(always)]
fn share(reduction: Reduction, a: &[f32], b: &[f32]) -> f32 {
    match reduction {
        Reduction::Sum => sum_of(a, b, |x, _| x),
        Reduction::Dot | Reduction::SumOfSquares => sum_of(a, b, |x, y| x * y),
        Reduction::Max => from_key(a.iter().map(|x| key(*x, i32::MAX)).fold(i32::MIN, Ord::max)),
        Reduction::Min => from_key(a.iter().map(|x| key(*x, i32::MIN)).fold(i32::MAX, Ord::min)),
    }
}

#[inline(always)]
fn sum_of(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    let (rows_a, rows_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = rows_a.remainder().iter().zip(rows_b.remainder());
    for (sum, (x, y)) in sums.iter_mut().zip(rest) {
        *sum += term(*x, *y);
    }
    for (a, b) in rows_a.zip(rows_b) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

/// An integer that is ordered as the float; NaN becomes `nan`.
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
