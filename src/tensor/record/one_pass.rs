//! Records operations on tensors of 16 bits whose kernels read and write these types: each element once, instead of in
//! conversions to f32 and back as well. All are computed in f32, and the result is rounded once.

use super::{AnyOperand, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::{norm_job, reduce_rows_job, softmax_job, takes_row, takes_rows};
use crate::tensor::layer::Norm;
use crate::tensor::op::{Op, reduced_axes, weight_and_bias};
use crate::tensor::{DType, Reduction};

impl Recording {
    /// Records an operation on inputs that [`Op::result`] accepts. Returns false, and records nothing, for operations, types and layouts
    /// that no kernel takes as they are.
    pub(super) async fn in_one_pass(
        &mut self,
        op: &Op,
        inputs: &[AnyOperand<'_>],
        out: AnyOperand<'_>,
    ) -> Result<bool> {
        let is_of_halves = |input: &AnyOperand<'_>| input.dtype == out.dtype;
        if out.dtype == DType::F32
            || !inputs.iter().all(is_of_halves)
            || out.view.shape().is_empty()
        {
            return Ok(false);
        }
        match (op, inputs) {
            (Op::Elementwise(steps), &[a, ref b @ ..]) => {
                let (b, shape) = (b.first().copied(), out.view.shape());
                self.elementwise_in_one_job(steps, a, b, shape, out.buffer)
                    .await
            }
            (Op::Reduce(reduction, axes), &[a]) => {
                let axes = reduced_axes(a.view.shape(), axes.as_deref())?;
                let first = a.view.shape().rank() - axes.len();
                let are_last = axes.iter().enumerate().all(|(i, &axis)| axis == first + i);
                let rows = a.view.shape().dims()[..first].iter().product();
                match are_last {
                    true => self.rows_of_halves(*reduction, [a, a], rows, out).await,
                    false => Ok(false),
                }
            }
            (Op::Dot, &[a, b]) => self.rows_of_halves(Reduction::Dot, [a, b], 1, out).await,
            (Op::Softmax { log }, &[a]) => self.softmax_of_halves(*log, a, out.buffer).await,
            (Op::Norm { norm, columns }, &[a, ref given @ ..]) => {
                let columns = weight_and_bias(*columns, given.iter().copied());
                self.norm_of_halves(*norm, a, columns, out.buffer).await
            }
            _ => Ok(false),
        }
    }

    /// Records the reduction of rows, or of the products of two tensors. Sums are f32, and the results, which are few beside the rows, are
    /// rounded at the end.
    async fn rows_of_halves(
        &mut self,
        reduction: Reduction,
        [a, b]: [AnyOperand<'_>; 2],
        rows: usize,
        out: AnyOperand<'_>,
    ) -> Result<bool> {
        let n = a.view.shape().n_elements();
        let (Some(a_start), Some(b_start)) = (a.dense_start(), b.dense_start()) else {
            return Ok(false);
        };
        let limits = self.limits();
        if n == 0
            || !takes_rows(
                a.dtype,
                [rows as u64, (n / rows) as u64],
                limits.binding_bytes,
            )
        {
            return Ok(false);
        }
        let job = reduce_rows_job(reduction, a.dtype, [rows as u64, (n / rows) as u64], limits)?;
        let result = self.wide_result(out)?;
        let given = [
            (Slot::A, a.buffer, a_start),
            (Slot::B, b.buffer, b_start),
            (Slot::Out, &result, 0),
        ];
        self.run(&job, &given).await?;
        self.round_result(&result, out).await?;
        Ok(true)
    }

    async fn softmax_of_halves(
        &mut self,
        log: bool,
        a: AnyOperand<'_>,
        out: &Buffer,
    ) -> Result<bool> {
        let Some((size, start)) = self.whole_rows(a) else {
            return Ok(false);
        };
        let job = softmax_job(a.dtype, size, log, self.limits())?;
        let given = [(Slot::A, a.buffer, start), (Slot::Out, out, 0)];
        self.run(&job, &given).await?;
        Ok(true)
    }

    /// Records a norm. Weight and bias, which are short beside the rows, are converted to f32.
    async fn norm_of_halves(
        &mut self,
        norm: Norm,
        a: AnyOperand<'_>,
        columns: [Option<AnyOperand<'_>>; 2],
        out: &Buffer,
    ) -> Result<bool> {
        let Some((size, start)) = self.whole_rows(a) else {
            return Ok(false);
        };
        let are_given = columns.map(|columns| columns.is_some());
        let job = norm_job(norm, a.dtype, size, are_given, self.limits())?;
        let mut wide = Vec::with_capacity(2);
        for (slot, columns) in [Slot::B, Slot::Bias].into_iter().zip(columns) {
            let Some(columns) = columns else { continue };
            let buffer = self.allocate(columns.view.shape().n_elements())?;
            self.cast(columns, DType::F32, &buffer).await?;
            wide.push((slot, buffer));
        }
        let mut given = vec![(Slot::A, a.buffer, start), (Slot::Out, out, 0)];
        given.extend(wide.iter().map(|(slot, buffer)| (*slot, buffer, 0)));
        self.run(&job, &given).await?;
        Ok(true)
    }

    /// Returns the numbers of rows and columns of a tensor, and the offset in bytes of its first row, if its rows are whole words at a place
    /// that a binding can start at.
    fn whole_rows(&self, a: AnyOperand<'_>) -> Option<([u64; 2], u64)> {
        let cols = a.view.shape().dims().last().copied().unwrap_or(1) as u64;
        let rows = a.view.shape().n_elements() as u64 / cols;
        let fits = takes_row(cols, a.dtype, self.limits().binding_bytes);
        a.dense_start()
            .filter(|_| fits)
            .map(|start| ([rows, cols], start))
    }
}
