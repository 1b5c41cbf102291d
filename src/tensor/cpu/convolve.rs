//! Convolution of an image; the twin of `shaders/tensor_convolve2d.wgsl`.

use super::parallel::for_shares;
use super::sum::{Columns, STRIP};
use crate::tensor::check_dims;
use crate::{Error, Result};

/// Convolves an image with a kernel: `output[y, x]` is the sum of `input[y + r, x + s] * kernel[r, s]`, without
/// padding. The kernel is not flipped. Sizes are rows and columns; `output` has `input_rows - kernel_rows + 1` rows and
/// `input_cols - kernel_cols + 1` columns.
///
/// # Errors
/// [`Error::LengthMismatch`]; [`Error::InvalidArgument`] for a kernel that is empty or larger than the image.
pub fn convolve2d(
    input: &[f32],
    kernel: &[f32],
    output: &mut [f32],
    input_size: [usize; 2],
    kernel_size: [usize; 2],
) -> Result<()> {
    let [out_rows, out_cols] = check_sizes(input_size, kernel_size)?;
    check_dims("input", input.len(), &input_size)?;
    check_dims("kernel", kernel.len(), &kernel_size)?;
    check_dims("result", output.len(), &[out_rows, out_cols])?;
    for_shares(output, out_cols, |start, out| {
        let row = start / out_cols;
        for (strip, out) in out.chunks_mut(STRIP).enumerate() {
            let mut columns = Columns::new(out.len());
            for (r, weights) in kernel.chunks(kernel_size[1]).enumerate() {
                let pixels = &input[(row + r) * input_size[1]..][..input_size[1]];
                for (s, &weight) in weights.iter().enumerate() {
                    let sums = columns.next().iter_mut();
                    for (sum, pixel) in sums.zip(&pixels[strip * STRIP + s..]) {
                        *sum += weight * pixel;
                    }
                }
            }
            columns.finish(out);
        }
    });
    Ok(())
}

/// Checks the sizes, and returns the numbers of rows and columns of the result.
pub(crate) fn check_sizes(input: [usize; 2], kernel: [usize; 2]) -> Result<[usize; 2]> {
    let fits = |axis: usize| (1..=input[axis]).contains(&kernel[axis]);
    if fits(0) && fits(1) {
        return Ok([input[0] - kernel[0] + 1, input[1] - kernel[1] + 1]);
    }
    Err(Error::InvalidArgument {
        name: "kernel",
        value: format!("{kernel:?} for a picture of {input:?}"),
        expected: "at least one row and column, and no more than the picture has",
    })
}
