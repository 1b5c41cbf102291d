//! Records the normalisation of rows.

use super::{Operand, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::{norm_job, takes_row};
use crate::tensor::layer::Norm;
use crate::tensor::{DType, Reduction, Shape, Step, TensorView};

impl Recording {
    /// Normalises rows as [`norm`](Self::norm) does. Copies weight and bias to the starts of buffers if necessary.
    pub(crate) async fn norm_with(
        &mut self,
        norm: Norm,
        a: Operand<'_>,
        columns: [Option<Operand<'_>>; 2],
        out: &Buffer,
    ) -> Result<()> {
        let mut buffers = [None, None];
        for (buffer, columns) in buffers.iter_mut().zip(columns) {
            let Some(columns) = columns else { continue };
            let (found, start) = self.dense(columns).await?;
            *buffer = Some(match start {
                0 => found,
                _ => {
                    let n = columns.view.shape().n_elements();
                    let copy = self.allocate(n)?;
                    self.copy((&found, start as usize / 4), (&copy, 0), n)?;
                    copy
                }
            });
        }
        let columns = buffers.each_ref().map(Option::as_ref);
        self.norm(norm, a, columns, out).await
    }

    /// Records the normalisation of each row of the last axis of `a`, multiplied by a weight and added to a bias per
    /// column. The result is written to `out`; weight and bias are at the starts of their buffers.
    pub(crate) async fn norm(
        &mut self,
        norm: Norm,
        a: Operand<'_>,
        [weight, bias]: [Option<&Buffer>; 2],
        out: &Buffer,
    ) -> Result<()> {
        let n = a.view.shape().n_elements();
        if n == 0 {
            return Ok(());
        }
        let cols = a.view.shape().dims().last().copied().unwrap_or(1);
        let (buffer, start) = self.dense(a).await?;
        let limits = self.limits();
        if takes_row(cols as u64, DType::F32, limits.binding_bytes) {
            let columns = [weight.is_some(), bias.is_some()];
            let job = norm_job(
                norm,
                DType::F32,
                [(n / cols) as u64, cols as u64],
                columns,
                limits,
            )?;
            let mut given = vec![(Slot::A, &buffer, start), (Slot::Out, out, 0)];
            given.extend(weight.map(|weight| (Slot::B, weight, 0)));
            given.extend(bias.map(|bias| (Slot::Bias, bias, 0)));
            return self.run(&job, &given).await;
        }
        // One row at a time, through aligned buffers: a binding cannot start at an arbitrary row.
        let (from, to) = (self.allocate(cols)?, self.allocate(cols)?);
        for row in 0..n / cols {
            self.copy((&buffer, start as usize / 4 + row * cols), (&from, 0), cols)?;
            self.norm_of_large_row(norm, &from, cols, [weight, bias], &to)
                .await?;
            self.copy((&to, 0), (out, row * cols), cols)?;
        }
        Ok(())
    }

    /// Normalises a row that exceeds a binding, by operations that support such rows.
    async fn norm_of_large_row(
        &mut self,
        norm: Norm,
        row: &Buffer,
        n: usize,
        columns: [Option<&Buffer>; 2],
        out: &Buffer,
    ) -> Result<()> {
        let (shape, one) = (Shape::vector(n), Shape::vector(1));
        let (view, single) = (TensorView::new(shape.clone()), TensorView::new(one.clone()));
        fn of<'a>(buffer: &'a Buffer, view: &'a TensorView) -> Operand<'a> {
            Operand { buffer, view }
        }
        let part = Step::Scale(1.0 / n as f32);
        let mut now = row.clone();
        if let Norm::Layer { .. } = norm {
            let (sum, mean) = (self.allocate(1)?, self.allocate(1)?);
            self.reduce(Reduction::Sum, of(&now, &view), &[0], &sum)
                .await?;
            self.elementwise(&[part], of(&sum, &single), None, &one, &mean)
                .await?;
            let centred = self.allocate(n)?;
            let mean = Some(of(&mean, &single));
            self.elementwise(&[Step::Sub], of(&now, &view), mean, &shape, &centred)
                .await?;
            now = centred;
        }
        let (squares, root) = (self.allocate(1)?, self.allocate(1)?);
        self.reduce(Reduction::SumOfSquares, of(&now, &view), &[0], &squares)
            .await?;
        let steps = [part, Step::Offset(norm.epsilon()), Step::Sqrt];
        self.elementwise(&steps, of(&squares, &single), None, &one, &root)
            .await?;
        let [weight, bias] = columns.map(|columns| columns.map(|columns| of(columns, &view)));
        let then = [
            (Step::Div, Some(of(&root, &single))),
            (Step::Mul, weight),
            (Step::Add, bias),
        ];
        let n_steps = then.iter().filter(|(_, other)| other.is_some()).count();
        let mut n_done = 0;
        for (step, other) in then {
            if other.is_none() {
                continue;
            }
            n_done += 1;
            let to = match n_done == n_steps {
                true => out.clone(),
                false => self.allocate(n)?,
            };
            self.elementwise(&[step], of(&now, &view), other, &shape, &to)
                .await?;
            now = to;
        }
        Ok(())
    }
}
