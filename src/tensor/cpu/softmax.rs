//! Softmax over rows; the twin of `shaders/tensor_softmax.wgsl`.

use super::functions::exp;
use super::parallel::{SHARE, for_shares};
use super::sum::sum_of;
use crate::Result;
use crate::tensor::check_len;
use crate::tensor::lengths::check_rows;

/// Computes the softmax of each row of `cols` elements: eˣ divided by the sum of all eˣ of the row. A row is all NaN if
/// it has a NaN or +∞, or -∞ only.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch) if `out` has another length, or `a` is not a whole number of
/// rows; [`Error::InvalidArgument`](crate::Error::InvalidArgument) if `cols` is 0 and `a` is not empty.
pub fn softmax(a: &[f32], cols: usize, out: &mut [f32]) -> Result<()> {
    rows(a, cols, out, |row, out| {
        let (largest, sum) = largest_and_sum(row);
        let scale = 1.0 / sum;
        for (out, x) in out.iter_mut().zip(row) {
            *out = exp(x - largest) * scale;
        }
    })
}

/// Computes the logarithm of the [`softmax`] of each row.
///
/// # Errors
/// As [`softmax`].
pub fn log_softmax(a: &[f32], cols: usize, out: &mut [f32]) -> Result<()> {
    rows(a, cols, out, |row, out| {
        let (largest, sum) = largest_and_sum(row);
        let log_sum = sum.ln();
        for (out, x) in out.iter_mut().zip(row) {
            *out = x - largest - log_sum;
        }
    })
}

fn rows(
    a: &[f32],
    cols: usize,
    out: &mut [f32],
    each: impl Fn(&[f32], &mut [f32]) + Sync,
) -> Result<()> {
    check_len("result", out.len(), a.len() as u64)?;
    check_rows("a", a.len(), cols)?;
    if a.is_empty() {
        return Ok(());
    }
    let share = cols * (SHARE / cols).max(1);
    for_shares(out, share, |start, out| {
        let rows = a[start..].chunks(cols);
        for (row, out) in rows.zip(out.chunks_mut(cols)) {
            each(row, out);
        }
    });
    Ok(())
}

/// Returns the largest element, and the sum of the exponentials of all differences to it.
#[inline(always)]
fn largest_and_sum(row: &[f32]) -> (f32, f32) {
    const LANES: usize = 16;
    let mut most = [f32::MIN; LANES];
    for chunk in row.chunks(LANES) {
        for (most, x) in most.iter_mut().zip(chunk) {
            // The comparison is false for NaN. The sum is NaN then.
            *most = if *x > *most { *x } else { *most };
        }
    }
    let largest = most.iter().fold(f32::MIN, |a, b| a.max(*b));
    (largest, sum_of(row, row, |x, _| exp(x - largest)))
}
