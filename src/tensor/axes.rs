//! [`GpuBackend`]'s operations along axes.

use super::backend::GpuBackend;
use super::reduce::reduced_shape;
use super::resident::GpuTensor;
use super::shape::Shape;
use super::step::Reduction;
use super::work::Work;
use super::{check_dims, cpu};
use crate::gpu::GpuDevice;
use crate::memory::zeros;
use crate::{Error, Result};

impl GpuBackend {
    /// The softmax of each row of `cols` elements.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless rows are whole.
    pub async fn softmax_rows_async(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        self.rows_of(false, a, cols).await
    }

    /// The logarithm of [`softmax_rows_async`](Self::softmax_rows_async).
    ///
    /// # Errors
    /// As there.
    pub async fn log_softmax_rows_async(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        self.rows_of(true, a, cols).await
    }

    async fn rows_of(&mut self, log: bool, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        let shape = rows_shape(a.len(), cols)?;
        let work = Work::softmax(a.len());
        let on_gpu = async |device: &GpuDevice| {
            let a = GpuTensor::from_slice_async(device, a, shape).await?;
            let rows = match log {
                true => a.log_softmax_async().await?,
                false => a.softmax_async().await?,
            };
            rows.to_vec_async().await
        };
        let on_cpu = || {
            let mut out = zeros(a.len())?;
            match log {
                true => cpu::log_softmax(a, cols, &mut out)?,
                false => cpu::softmax(a, cols, &mut out)?,
            }
            Ok(out)
        };
        self.run(work, on_gpu, on_cpu).await
    }

    /// Reduces some axes of a tensor of `shape`, the last axis innermost; they become ones. [`Reduction::Dot`] takes the
    /// elements as both factors.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::InvalidArgument`] for axes that are not there or come twice.
    pub async fn reduce_axes_async(
        &mut self,
        reduction: Reduction,
        a: &[f32],
        shape: &Shape,
        axes: &[usize],
    ) -> Result<Vec<f32>> {
        check_dims("a", a.len(), shape.dims())?;
        let (axes, reduced) = reduced_shape(shape, axes)?;
        let reduction = match reduction {
            Reduction::Dot => Reduction::SumOfSquares,
            other => other,
        };
        let work = Work::reduce(a.len(), reduced.n_elements());
        let on_gpu = async |device: &GpuDevice| {
            let a = GpuTensor::from_slice_async(device, a, shape.clone()).await?;
            a.reduce_async(reduction, &axes).await?.to_vec_async().await
        };
        let on_cpu = || one_by_one(reduction, a, shape.dims(), &axes);
        self.run(work, on_gpu, on_cpu).await
    }
}

/// The shape of rows of `cols` elements.
pub(crate) fn rows_shape(n: usize, cols: usize) -> Result<Shape> {
    match n.checked_rem(cols) {
        Some(0) => Shape::new(&[n / cols, cols]),
        None if n == 0 => Shape::new(&[0, 0]),
        _ => Err(Error::invalid(
            "cols",
            cols as u64,
            "rows have this many elements each, and none is left over",
        )),
    }
}

/// Reduces axis by axis, the first in the list first.
pub(super) fn one_by_one(
    reduction: Reduction,
    a: &[f32],
    dims: &[usize],
    axes: &[usize],
) -> Result<Vec<f32>> {
    let Some((&axis, rest)) = axes.split_first() else {
        // A reduction of single elements.
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
        _ => one_by_one(reduction.of_parts(), &out, &dims, rest),
    }
}
