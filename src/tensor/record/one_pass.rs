//! Records operations on tensors of 16 bits whose kernels read and write these types: each element once, instead of in
//! conversions to f32 and back as well. All are computed in f32, and the result is rounded once.

use super::{AnyOperand, Given, Plan, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::tensor::{norm_job, reduce_rows_job, softmax_job, takes_row, takes_rows};
use crate::kernels::{Limits, Slot};
use crate::tensor::op::{Op, reduced_axes};
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
        let has_type = |input: &AnyOperand<'_>| input.dtype == out.dtype;
        if out.dtype == DType::F32 || !inputs.iter().all(has_type) || out.view.shape().is_empty() {
            return Ok(false);
        }
        // Sums are f32, and few beside the elements. So are weights and biases of norms.
        let sums = match op {
            Op::Reduce(..) | Op::Dot => Some(self.wide_result(out)?),
            _ => None,
        };
        let columns = match op {
            Op::Norm { .. } => inputs.get(1..).unwrap_or_default(),
            _ => &[],
        };
        let mut wide = Vec::with_capacity(columns.len());
        for columns in columns {
            wide.push(self.allocate(columns.view.shape().n_elements())?);
        }
        let to = AnyOperand {
            buffer: sums.as_ref().unwrap_or(out.buffer),
            ..out
        };
        let Some(plan) = plan(op, inputs, &wide, to, self.limits())? else {
            return Ok(false);
        };
        for (columns, buffer) in columns.iter().zip(&wide) {
            self.cast(*columns, DType::F32, buffer).await?;
        }
        self.run(&plan.job, &plan.given).await?;
        if let Some(sums) = &sums {
            self.round_result(sums, out).await?;
        }
        Ok(true)
    }
}

/// Returns the job of an operation, to be run once `wide` has the weights and biases of a norm in f32.
fn plan<'a>(
    op: &Op,
    inputs: &[AnyOperand<'a>],
    wide: &'a [Buffer],
    out: AnyOperand<'a>,
    limits: Limits,
) -> Result<Option<Plan<'a>>> {
    match (op, inputs) {
        (Op::Elementwise(steps), &[a, ref b @ ..]) => {
            Plan::of_steps(steps, a, b.first().copied(), out, limits)
        }
        (Op::Reduce(reduction, axes), &[a]) => {
            let axes = reduced_axes(a.view.shape(), axes.as_deref())?;
            let first = a.view.shape().rank() - axes.len();
            let are_last = axes.iter().enumerate().all(|(i, &axis)| axis == first + i);
            let rows = a.view.shape().dims()[..first].iter().product();
            match are_last {
                true => plan_of_sums(*reduction, [a, a], rows, out.buffer, limits),
                false => Ok(None),
            }
        }
        (Op::Dot, &[a, b]) => plan_of_sums(Reduction::Dot, [a, b], 1, out.buffer, limits),
        (Op::Softmax { .. } | Op::Norm { .. }, &[a, ..]) => {
            let Some((size, start)) = whole_rows(a, limits) else {
                return Ok(None);
            };
            let mut given: Vec<Given<'a>> =
                vec![(Slot::A, a.buffer, start), (Slot::Out, out.buffer, 0)];
            let job = match op {
                Op::Norm { norm, columns } => {
                    let slots = [Slot::B, Slot::Bias].into_iter().zip(columns);
                    let slots = slots.filter(|(_, is_given)| **is_given);
                    given.extend(slots.zip(wide).map(|((slot, _), wide)| (slot, wide, 0)));
                    norm_job(*norm, a.dtype, size, *columns, limits)?
                }
                _ => softmax_job(a.dtype, size, *op == Op::Softmax { log: true }, limits)?,
            };
            Ok(Some(Plan { job, given }))
        }
        _ => Ok(None),
    }
}

fn plan_of_sums<'a>(
    reduction: Reduction,
    [a, b]: [AnyOperand<'a>; 2],
    rows: usize,
    out: &'a Buffer,
    limits: Limits,
) -> Result<Option<Plan<'a>>> {
    let n = a.view.shape().n_elements();
    let (Some(a_start), Some(b_start)) = (a.dense_start(), b.dense_start()) else {
        return Ok(None);
    };
    let size = [rows as u64, n.checked_div(rows).unwrap_or(0) as u64];
    if n == 0 || !takes_rows(a.dtype, size, limits.binding_bytes) {
        return Ok(None);
    }
    Ok(Some(Plan {
        job: reduce_rows_job(reduction, a.dtype, size, limits)?,
        given: vec![
            (Slot::A, a.buffer, a_start),
            (Slot::B, b.buffer, b_start),
            (Slot::Out, out, 0),
        ],
    }))
}

/// Returns the numbers of rows and columns of a tensor, and the offset in bytes of its first row, if its rows are whole words at a place
/// that a binding can start at.
fn whole_rows(a: AnyOperand<'_>, limits: Limits) -> Option<([u64; 2], u64)> {
    let cols = a.view.shape().dims().last().copied().unwrap_or(1) as u64;
    let rows = a.view.shape().n_elements() as u64 / cols;
    let fits = takes_row(cols, a.dtype, limits.binding_bytes);
    let start = a.dense_start().filter(|_| fits);
    start.map(|start| ([rows, cols], start))
}
