//! Records epilogues of matrix products.

use super::{AnyOperand, Given, Operand, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::epilogue_job;
use crate::tensor::{Epilogue, Shape, Step, TensorView};

/// A tensor of f32 that is contiguous in a buffer, and the offset of its elements in bytes, aligned for a binding.
pub(crate) type Dense = (Buffer, u64);

/// Returns the buffers of an epilogue, as a job takes them.
pub(super) fn given_of(epilogue: &Epilogue<Dense>) -> impl Iterator<Item = Given<'_>> {
    let bias = epilogue.bias.as_ref().map(|it| (Slot::Bias, &it.0, it.1));
    let residual = epilogue.residual.as_ref();
    let residual = residual.map(|it| (Slot::Residual, &it.0, it.1));
    bias.into_iter().chain(residual)
}

impl Recording {
    /// Returns an epilogue with contiguous tensors. Copies those that are not.
    pub(crate) async fn dense_epilogue(
        &mut self,
        epilogue: Epilogue<Operand<'_>>,
    ) -> Result<Epilogue<Dense>> {
        let mut found = Vec::with_capacity(2);
        let form = epilogue.form();
        for operand in epilogue.tensors() {
            found.push(self.dense(operand).await?);
        }
        Ok(form.with(found.into_iter()))
    }

    /// Returns an epilogue with contiguous tensors of f32. Converts and copies those that are not.
    pub(super) async fn wide_epilogue(
        &mut self,
        epilogue: Epilogue<AnyOperand<'_>>,
    ) -> Result<Epilogue<Dense>> {
        let mut found = Vec::with_capacity(2);
        let form = epilogue.form();
        for operand in epilogue.tensors() {
            let wide = self.widened(operand).await?;
            found.push(self.dense(wide.operand()).await?);
        }
        Ok(form.with(found.into_iter()))
    }

    /// Records the epilogue of a product, `[m, n]`, that is contiguous from the start of `product` on. The result is written to the start of
    /// `out`, another buffer.
    pub(crate) async fn finish(
        &mut self,
        epilogue: &Epilogue<Dense>,
        size: [usize; 2],
        product: &Buffer,
        out: &Buffer,
    ) -> Result<()> {
        let limits = self.limits();
        // The kernel of element-wise operations takes one other tensor, and loads vectors.
        if epilogue.bias.is_some() && epilogue.residual.is_some() {
            let job = epilogue_job(size.map(|n| n as u64), epilogue.form(), limits);
            if let Some(job) = job {
                let mut given = vec![(Slot::A, product, 0), (Slot::Out, out, 0)];
                given.extend(given_of(epilogue));
                return self.run(&job, &given).await;
            }
        }
        self.finish_in_steps(epilogue, size, product, out).await
    }

    /// Records an epilogue as element-wise steps, in as few passes as possible.
    async fn finish_in_steps(
        &mut self,
        epilogue: &Epilogue<Dense>,
        [m, n]: [usize; 2],
        product: &Buffer,
        out: &Buffer,
    ) -> Result<()> {
        let shape = Shape::new(&[m, n])?;
        let whole = TensorView::new(shape.clone());
        let step = epilogue.activation.map(|it| it.step());
        let bias = epilogue.bias.as_ref().map(|it| (it, Shape::vector(n)));
        let residual = epilogue.residual.as_ref().map(|it| (it, shape.clone()));
        let with_step = |before: &[Step], after: &[Step]| [before, step.as_slice(), after].concat();
        let passes = match (bias, residual) {
            (Some(bias), Some(residual)) => vec![
                (with_step(&[Step::Add], &[]), Some(bias)),
                (vec![Step::Add], Some(residual)),
            ],
            (Some(bias), None) => vec![(with_step(&[Step::Add], &[]), Some(bias))],
            (None, Some(residual)) => vec![(with_step(&[], &[Step::Add]), Some(residual))],
            (None, None) => vec![(with_step(&[], &[]), None)],
        };
        let mut from = product.clone();
        let last = passes.len() - 1;
        for (i, (steps, tensor)) in passes.into_iter().enumerate() {
            let to = match i == last {
                true => out.clone(),
                false => self.allocate(shape.n_elements())?,
            };
            let placed = match tensor {
                Some(((buffer, start), shape)) => Some((buffer, view_at(shape, *start)?)),
                None => None,
            };
            let b = placed.as_ref().map(|(buffer, view)| operand(buffer, view));
            let a = operand(&from, &whole);
            self.elementwise(&steps, a, b, &shape, &to).await?;
            from = to;
        }
        Ok(())
    }
}

fn operand<'a>(buffer: &'a Buffer, view: &'a TensorView) -> Operand<'a> {
    Operand { buffer, view }
}

/// Returns the view of contiguous elements from an offset in bytes on.
fn view_at(shape: Shape, start: u64) -> Result<TensorView> {
    let strides = TensorView::new(shape.clone()).strides().to_vec();
    TensorView::with_strides(shape, &strides, (start / 4) as usize)
}
