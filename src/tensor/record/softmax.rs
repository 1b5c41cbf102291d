//! Records softmax.

use super::{Operand, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::{softmax_job, takes_row};
use crate::tensor::{DType, Reduction, Shape, Step, TensorView};

impl Recording {
    /// Records the softmax over the last axis of `a`, or its logarithm, into `out`.
    pub(crate) async fn softmax(&mut self, log: bool, a: Operand<'_>, out: &Buffer) -> Result<()> {
        let n = a.view.shape().n_elements();
        if n == 0 {
            return Ok(());
        }
        let cols = a.view.shape().dims().last().copied().unwrap_or(1);
        let (buffer, start) = self.dense(a).await?;
        let limits = self.limits();
        if takes_row(cols as u64, DType::F32, limits.binding_bytes) {
            let job = softmax_job(DType::F32, [(n / cols) as u64, cols as u64], log, limits)?;
            let given = [(Slot::A, &buffer, start), (Slot::Out, out, 0)];
            return self.run(&job, &given).await;
        }
        // One row at a time, through aligned buffers: a binding cannot start at an arbitrary row.
        let (from, to) = (self.allocate(cols)?, self.allocate(cols)?);
        for row in 0..n / cols {
            self.copy((&buffer, start as usize / 4 + row * cols), (&from, 0), cols)?;
            self.softmax_of_large_row(log, &from, cols, &to).await?;
            self.copy((&to, 0), (out, row * cols), cols)?;
        }
        Ok(())
    }

    /// Computes the softmax of a row that exceeds a binding, by operations that support such rows.
    async fn softmax_of_large_row(
        &mut self,
        log: bool,
        row: &Buffer,
        n: usize,
        out: &Buffer,
    ) -> Result<()> {
        let (shape, one) = (Shape::vector(n), Shape::vector(1));
        let (view, single) = (TensorView::new(shape.clone()), TensorView::new(one.clone()));
        let rows = |buffer| Operand {
            buffer,
            view: &view,
        };
        let number = |buffer| Operand {
            buffer,
            view: &single,
        };
        let (largest, sum) = (self.allocate(1)?, self.allocate(1)?);
        let (below, powers) = (self.allocate(n)?, self.allocate(n)?);
        self.reduce(Reduction::Max, rows(row), &[0], &largest)
            .await?;
        let largest = Some(number(&largest));
        self.elementwise(&[Step::Sub, Step::Exp], rows(row), largest, &shape, &powers)
            .await?;
        self.reduce(Reduction::Sum, rows(&powers), &[0], &sum)
            .await?;
        if !log {
            let sum = Some(number(&sum));
            return self
                .elementwise(&[Step::Div], rows(&powers), sum, &shape, out)
                .await;
        }
        let log_sum = self.allocate(1)?;
        self.elementwise(&[Step::Log], number(&sum), None, &one, &log_sum)
            .await?;
        self.elementwise(&[Step::Sub], rows(row), largest, &shape, &below)
            .await?;
        let log_sum = Some(number(&log_sum));
        self.elementwise(&[Step::Sub], rows(&below), log_sum, &shape, out)
            .await
    }
}
