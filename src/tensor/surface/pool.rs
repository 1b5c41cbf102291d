//! Operations of [`GpuDevicePool`] on slices: each device computes a part of the rows.

use std::ops::Range;

use super::arrays::Array;
use crate::Result;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::runtime::block_on;
use crate::gpu::spread::{Shareable, parts};
use crate::gpu::{GpuDevice, GpuDevicePool};
use crate::tensor::lengths::rows_shape;
use crate::tensor::op::Op;
use crate::tensor::{Reduction, Shape, Step, check_dims, check_len, cpu};

/// The rows that one device computes, and the slice for their results.
struct Part<'a> {
    rows: Range<usize>,
    out: &'a mut [f32],
}

/// Operations on slices, whose rows are spread over the devices. Lengths are checked before any device works.
impl GpuDevicePool {
    /// Applies all steps in turn to each element of `input`. Steps with two operands read the second from `other`, which has
    /// the length of `input`.
    ///
    /// # Errors
    /// As [`GpuDevice::elementwise_async`].
    pub async fn elementwise_async(
        &self,
        steps: &[Step],
        input: &[f32],
        other: Option<&[f32]>,
        result: &mut [f32],
    ) -> Result<()> {
        check_len("result", result.len(), input.len() as u64)?;
        if let Some(other) = other {
            check_len("b", other.len(), input.len() as u64)?;
        }
        let n = input.len();
        self.rows(n, 1, result, async |device, Part { rows, out }| {
            let other = other.map(|other| &other[rows.clone()]);
            device
                .elementwise_async(steps, &input[rows.clone()], other, out)
                .await
        })
        .await
    }

    /// Computes `c = a b`, where `a` is `m` x `k`, `b` is `k` x `n` and `c` is `m` x `n`. Each device multiplies some rows of
    /// `a` by all of `b`.
    ///
    /// # Errors
    /// As [`GpuDevice::matmul_async`].
    pub async fn matmul_async(
        &self,
        a: &[f32],
        b: &[f32],
        c: &mut [f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<()> {
        check_dims("a", a.len(), &[m, k])?;
        check_dims("b", b.len(), &[k, n])?;
        check_dims("c", c.len(), &[m, n])?;
        self.rows(m, n, c, async |device, Part { rows, out }| {
            let a = &a[rows.start * k..rows.end * k];
            device.matmul_async(a, b, out, rows.len(), k, n).await
        })
        .await
    }

    /// Computes the softmax of each row of `cols` elements.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if the rows do not
    /// fill the input; [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn softmax_async(
        &self,
        input: &[f32],
        cols: usize,
        result: &mut [f32],
    ) -> Result<()> {
        self.softmax_of(false, input, cols, result).await
    }

    /// Computes the logarithm of [`softmax_async`](Self::softmax_async).
    ///
    /// # Errors
    /// As [`softmax_async`](Self::softmax_async).
    pub async fn log_softmax_async(
        &self,
        input: &[f32],
        cols: usize,
        result: &mut [f32],
    ) -> Result<()> {
        self.softmax_of(true, input, cols, result).await
    }

    async fn softmax_of(
        &self,
        log: bool,
        input: &[f32],
        cols: usize,
        result: &mut [f32],
    ) -> Result<()> {
        check_len("result", result.len(), input.len() as u64)?;
        if input.is_empty() {
            return Ok(());
        }
        let n_rows = rows_shape(input.len(), cols)?.dims()[0];
        let op = Op::Softmax { log };
        self.rows(n_rows, cols, result, async |device, Part { rows, out }| {
            let values = &input[rows.start * cols..rows.end * cols];
            let a = Array::new(values, Shape::new(&[rows.len(), cols])?);
            device.run_async(&op, &[a], out).await
        })
        .await
    }

    /// Rotates the heads of rows by the positions of their rows.
    ///
    /// # Errors
    /// As [`GpuDevice::rotary_async`].
    pub async fn rotary_async(
        &self,
        input: &[f32],
        turns: &[f32],
        result: &mut [f32],
        heads: [usize; 2],
        first: usize,
    ) -> Result<()> {
        check_len("result", result.len(), input.len() as u64)?;
        let inputs = Array::heads_and_turns(input, heads, turns)?;
        let shape = Op::Rotary { first }.result_of(&inputs)?.shape().clone();
        if shape.is_empty() {
            return Ok(());
        }
        let (n_rows, width) = (shape.dims()[0], heads[0] * heads[1]);
        self.rows(n_rows, width, result, async |device, Part { rows, out }| {
            let values = &input[rows.start * width..rows.end * width];
            let first = first + rows.start;
            device.rotary_async(values, turns, out, heads, first).await
        })
        .await
    }

    /// Convolves an image of `size` (rows, columns) with a kernel of `kernel_size`, without padding. Each device computes some
    /// rows of the result from the rows of the image that they depend on.
    ///
    /// # Errors
    /// As [`GpuDevice::convolve2d_async`].
    pub async fn convolve2d_async(
        &self,
        input: &[f32],
        kernel: &[f32],
        output: &mut [f32],
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> Result<()> {
        check_dims("input", input.len(), &size)?;
        check_dims("kernel", kernel.len(), &kernel_size)?;
        let [out_rows, out_cols] = cpu::check_sizes(size, kernel_size)?;
        check_dims("output", output.len(), &[out_rows, out_cols])?;
        let ([_, cols], [kernel_rows, kernel_cols]) = (size, kernel_size);
        self.rows(
            out_rows,
            out_cols,
            output,
            async |device, Part { rows, out }| {
                let n_rows = rows.len() + kernel_rows - 1;
                let seen = &input[rows.start * cols..(rows.start + n_rows) * cols];
                device
                    .convolve2d_async(seen, kernel, out, n_rows, cols, kernel_rows, kernel_cols)
                    .await
            },
        )
        .await
    }

    /// Reduces all elements: each device reduces a part, the CPU the partial results. [`Reduction::Dot`] sums the squares.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn reduce_async(&self, reduction: Reduction, a: &[f32]) -> Result<f32> {
        let reduction = reduction.of_one();
        let ranges = parts(a.len(), self.devices().len(), 1);
        let found = self.spread(ranges, async |device, range| {
            let part = Array::vector(&a[range.clone()]);
            device.reduced_async(reduction, part).await
        });
        Ok(cpu::reduce(reduction.of_parts(), &found.await?))
    }

    /// Computes the sum of products, 0 for empty slices.
    ///
    /// # Errors
    /// As [`GpuDevice::dot_async`].
    pub async fn dot_async(&self, a: &[f32], b: &[f32]) -> Result<f32> {
        check_len("b", b.len(), a.len() as u64)?;
        let ranges = parts(a.len(), self.devices().len(), 1);
        let found = self.spread(ranges, async |device, range| {
            device.dot_async(&a[range.clone()], &b[range.clone()]).await
        });
        Ok(cpu::reduce(Reduction::Sum, &found.await?))
    }

    /// Computes `n` rows of `width` results each, spread over the devices.
    async fn rows<'a, F>(&self, n: usize, width: usize, out: &'a mut [f32], work: F) -> Result<()>
    where
        F: AsyncFn(&mut GpuDevice, &mut Part<'a>) -> Result<()>,
        for<'f> &'f F: Shareable,
    {
        let mut rest = out;
        let mut shares = Vec::with_capacity(self.devices().len());
        for rows in parts(n, self.devices().len(), 1) {
            let (out, behind) = rest.split_at_mut(rows.len() * width);
            rest = behind;
            shares.push(Part { rows, out });
        }
        self.spread(shares, work).await.map(drop)
    }
}

/// Blocking forms, native only. They return the errors of the forms named `_async`.
#[cfg(not(target_arch = "wasm32"))]
impl GpuDevicePool {
    /// [`elementwise_async`](Self::elementwise_async), blocking.
    pub fn elementwise(
        &self,
        steps: &[Step],
        input: &[f32],
        other: Option<&[f32]>,
        result: &mut [f32],
    ) -> Result<()> {
        block_on(self.elementwise_async(steps, input, other, result))
    }

    /// [`matmul_async`](Self::matmul_async), blocking.
    pub fn matmul(
        &self,
        a: &[f32],
        b: &[f32],
        c: &mut [f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<()> {
        block_on(self.matmul_async(a, b, c, m, k, n))
    }

    /// [`softmax_async`](Self::softmax_async), blocking.
    pub fn softmax(&self, input: &[f32], cols: usize, result: &mut [f32]) -> Result<()> {
        block_on(self.softmax_async(input, cols, result))
    }

    /// [`log_softmax_async`](Self::log_softmax_async), blocking.
    pub fn log_softmax(&self, input: &[f32], cols: usize, result: &mut [f32]) -> Result<()> {
        block_on(self.log_softmax_async(input, cols, result))
    }

    /// [`rotary_async`](Self::rotary_async), blocking.
    pub fn rotary(
        &self,
        input: &[f32],
        turns: &[f32],
        result: &mut [f32],
        heads: [usize; 2],
        first: usize,
    ) -> Result<()> {
        block_on(self.rotary_async(input, turns, result, heads, first))
    }

    /// [`convolve2d_async`](Self::convolve2d_async), blocking.
    pub fn convolve2d(
        &self,
        input: &[f32],
        kernel: &[f32],
        output: &mut [f32],
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> Result<()> {
        block_on(self.convolve2d_async(input, kernel, output, size, kernel_size))
    }

    /// [`reduce_async`](Self::reduce_async), blocking.
    pub fn reduce(&self, reduction: Reduction, a: &[f32]) -> Result<f32> {
        block_on(self.reduce_async(reduction, a))
    }

    /// [`dot_async`](Self::dot_async), blocking.
    pub fn dot(&self, a: &[f32], b: &[f32]) -> Result<f32> {
        block_on(self.dot_async(a, b))
    }
}
