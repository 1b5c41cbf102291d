//! Normalisation of rows; the twin of `shaders/tensor_norm.wgsl`.

use super::parallel::{SHARE, for_shares};
use super::sum::{sum_of, sums_of};
use crate::Result;
use crate::tensor::check_len;
use crate::tensor::layer::Norm;
use crate::tensor::lengths::check_rows;

/// Each row of `cols` elements normalised, then times `weight` and plus `bias`, which have an element for each column.
/// NaN makes its row NaN.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch), also for a last row that is cut off;
/// [`InvalidArgument`](crate::Error::InvalidArgument) for elements in rows of none.
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
    check_rows("a", a.len(), cols)?;
    if a.is_empty() {
        return Ok(());
    }
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
    let (mean, rest, variance) = match norm {
        Norm::Rms { .. } => (0.0, 0.0, sum_of(row, row, |x, _| x * x) / n),
        Norm::Layer { .. } => {
            let mean = sum_of(row, row, |x, _| x) / n;
            // What rounding left out of the mean is as large as a unit of its last place: much, beside the deviation of
            // elements that are far from 0.
            let [rest, squares] = sums_of(row, row, |x, _| [x - mean, (x - mean) * (x - mean)]);
            let rest = rest / n;
            (mean, rest, squares / n - rest * rest)
        }
    };
    // NaN stays.
    let variance = if variance < 0.0 { 0.0 } else { variance };
    let scale = 1.0 / (variance + norm.epsilon()).sqrt();
    for (out, x) in out.iter_mut().zip(row) {
        *out = (x - mean - rest) * scale;
    }
}
