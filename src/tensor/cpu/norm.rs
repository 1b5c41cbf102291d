//! Normalisation of rows; the twin of `shaders/tensor_norm.wgsl`.

use super::parallel::{SHARE, for_shares};
use super::sum::{sum_of, sums_of};
use crate::Result;
use crate::tensor::check_len;
use crate::tensor::layer::Norm;
use crate::tensor::lengths::check_rows;

/// Normalises each row of `cols` elements, multiplies it by `weight` and adds `bias`, which have an element per column.
/// A row with a NaN becomes all NaN.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch), also if `a` is not a whole number of rows;
/// [`InvalidArgument`](crate::Error::InvalidArgument) if `cols` is 0 and `a` is not empty.
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
            // The rounding error of the mean is about one ulp of it, which matters if the mean is large compared to the
            // deviation. The second pass computes the error and corrects mean and variance.
            let [rest, squares] = sums_of(row, row, |x, _| [x - mean, (x - mean) * (x - mean)]);
            let rest = rest / n;
            (mean, rest, squares / n - rest * rest)
        }
    };
    // The comparison preserves NaN.
    let variance = if variance < 0.0 { 0.0 } else { variance };
    let scale = 1.0 / (variance + norm.epsilon()).sqrt();
    for (out, x) in out.iter_mut().zip(row) {
        *out = (x - mean - rest) * scale;
    }
}
