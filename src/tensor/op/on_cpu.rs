//! Runs operations with their CPU twins.

use super::{Op, reduced_axes, weight_and_bias, wrong_number};
use crate::Result;
use crate::memory::zeros;
use crate::tensor::{Reduction, Shape, cpu};

impl Op {
    /// Runs the operation on row-major arrays whose shapes [`result`](Self::result) accepts. `out` has the length of
    /// the result. Arrays are not broadcast, and matrices have two axes.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch), [`InvalidArgument`](crate::Error::InvalidArgument),
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn on_cpu(&self, inputs: &[(&[f32], &Shape)], out: &mut [f32]) -> Result<()> {
        match (self, inputs) {
            (Self::Elementwise(steps), &[(a, _), ref b @ ..]) => {
                cpu::elementwise(steps, a, b.first().map(|(b, _)| *b), out)
            }
            (Self::Softmax { log: false }, &[(a, shape)]) => cpu::softmax(a, cols(shape), out),
            (Self::Softmax { log: true }, &[(a, shape)]) => cpu::log_softmax(a, cols(shape), out),
            (Self::Reduce(reduction, None), &[(a, _)]) => {
                out.fill(cpu::reduce(*reduction, a));
                Ok(())
            }
            (Self::Reduce(reduction, axes), &[(a, shape)]) => {
                let axes = reduced_axes(shape, axes.as_deref())?;
                out.copy_from_slice(&axis_by_axis(*reduction, a, shape.dims(), &axes)?);
                Ok(())
            }
            (Self::Dot, &[(a, _), (b, _)]) => {
                out.fill(cpu::dot(a, b)?);
                Ok(())
            }
            (Self::Matmul(_, epilogue), &[(a, a_shape), (b, b_shape), ref given @ ..]) => {
                let ([m, k], [_, n]) = (matrix(a_shape), matrix(b_shape));
                let epilogue = epilogue.with(given.iter().map(|(values, _)| *values));
                cpu::matmul_with_epilogue(a, b, epilogue, out, [m, k, n])
            }
            (Self::Convolve2d, &[(input, size), (kernel, kernel_size)]) => {
                cpu::convolve2d(input, kernel, out, matrix(size), matrix(kernel_size))
            }
            (Self::Norm { norm, columns }, &[(a, shape), ref given @ ..]) => {
                let columns = weight_and_bias(*columns, given.iter().map(|(values, _)| *values));
                cpu::norm(*norm, a, cols(shape), columns, out)
            }
            (Self::Rotary { first }, &[(a, shape), (turns, _)]) => {
                let heads = shape.dims().last_chunk().copied().unwrap_or_default();
                cpu::rotary(a, heads, turns, *first, out)
            }
            (Self::Attention(what), &[(q, q_shape), (k, k_shape), (v, _)]) => {
                cpu::attention(*what, (q, q_shape), (k, v, k_shape), out)
            }
            (
                Self::MatmulQuantized {
                    quantization, size, ..
                },
                &[(a, shape), (words, _)],
            ) => {
                let ([n, k], [m, _]) = (*size, matrix(shape));
                let n_bytes = quantization.bytes_of(n, k)? as usize;
                let bytes: &[u8] = bytemuck::cast_slice(words);
                let weights = bytes.get(..n_bytes).unwrap_or(bytes);
                cpu::matmul_quantized(*quantization, a, weights, out, [m, k, n])
            }
            _ => Err(wrong_number(inputs.len())),
        }
    }
}

/// Returns the length of a row.
fn cols(shape: &Shape) -> usize {
    shape.dims().last().copied().unwrap_or(1)
}

/// Returns the numbers of rows and columns.
fn matrix(shape: &Shape) -> [usize; 2] {
    match *shape.dims() {
        [rows, cols] => [rows, cols],
        _ => [1, shape.n_elements()],
    }
}

/// Reduces one axis after the other, in the order of `axes`.
fn axis_by_axis(
    reduction: Reduction,
    a: &[f32],
    dims: &[usize],
    axes: &[usize],
) -> Result<Vec<f32>> {
    let Some((&axis, rest)) = axes.split_first() else {
        // Without axes, each element is reduced on its own.
        let mut out = zeros(a.len())?;
        cpu::reduce_axis(reduction, a, [a.len(), 1, 1], &mut out)?;
        return Ok(out);
    };
    let outer: usize = dims[..axis].iter().product();
    let inner: usize = dims[axis + 1..].iter().product();
    let mut out = zeros(outer * inner)?;
    cpu::reduce_axis(reduction, a, [outer, dims[axis], inner], &mut out)?;
    let mut dims = dims.to_vec();
    dims[axis] = 1;
    match rest {
        [] => Ok(out),
        _ => axis_by_axis(reduction.of_parts(), &out, &dims, rest),
    }
}
