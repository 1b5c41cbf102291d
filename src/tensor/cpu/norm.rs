//! Normalisation of rows; the twin of `shaders/tensor_norm.wgsl`.

use super::parallel::{SHARE, for_shares};
use crate::Result;
use crate::tensor::check_len;
use crate::tensor::layer::Norm;

/// Each row of `cols` elements normalised, then times `weight` and plus `bias`, which have an element for each column.
/// NaN makes its row NaN.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch).
pub fn norm(
    norm: Norm,
    a: &[f32],
    cols: usize,
    [weight, bias]: [Option<&[f32]>; 2],
    out: &mut [f32],
) -> Result<()> {
    check_len("result", out.len(), a.len() as u64)?;
    for (name, columns) in [("weight", weight), ("bias", bias)] {
        if let Some(columns) = columns {
            check_len(name, columns.len(), cols as u64)?;
        }
    }
    if a.is_empty() {
        return Ok(());
    }
    // A last row that is cut off is an error.
    check_len("a", a.len(), a.len().next_multiple_of(cols.max(1)) as u64)?;
    let share = cols * (SHARE / cols).max(1);
    for_shares(out, share, |start, out| {
        for (row, out) in a[start..].chunks(cols).zip(out.chunks_mut(cols)) {
            row_norm(norm, row, out);
            if let Some(weight) = weight {
                out.iter_mut().zip(weight).for_each(|(x, y)| *x *= y);
            }
            if let Some(bias) = bias {
                out.iter_mut().zip(bias).for_each(|(x, y)| *x += y);
            }
        }
    });
    Ok(())
}

#[inline(always)]
fn row_norm(norm: Norm, row: &[f32], out: &mut [f32]) {
    let n = row.len() as f32;
    let mean = match norm {
        Norm::Rms { .. } => 0.0,
        Norm::Layer { .. } => sum_of(row, |x| x) / n,
    };
    let squares = sum_of(row, |x| (x - mean) * (x - mean));
    let scale = 1.0 / (squares / n + norm.epsilon()).sqrt();
    for (out, x) in out.iter_mut().zip(row) {
        *out = (x - mean) * scale;
    }
}

#[inline(always)]
fn sum_of(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    for chunk in row.chunks(LANES) {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += term(*x);
        }
    }
    sums.iter().sum()
}
