//! Records reductions.

use super::{Operand, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::{reduce_columns_job, reduce_rows_job, takes_columns, takes_rows};
use crate::tensor::{DType, Reduction, Shape, TensorView};

/// Minimum number of contiguous columns for which the column kernel is used. With fewer, the axes are permuted so that
/// rows are reduced.
const MIN_INNER: usize = 8;

impl Recording {
    /// Reduces `axes`, in ascending order, of `a` into `out`.
    pub(crate) async fn reduce(
        &mut self,
        reduction: Reduction,
        a: Operand<'_>,
        axes: &[usize],
        out: &Buffer,
    ) -> Result<()> {
        let dims = a.view.shape().dims();
        let follow_each_other = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let (first, last) = match (axes.first(), axes.last()) {
            (Some(&first), Some(&last)) => (first, last),
            _ => (dims.len(), dims.len()),
        };
        let inner: usize = dims.iter().skip(last + 1).product();
        let outer: usize = dims[..first].iter().product();
        let rows: usize = dims.get(first..=last).unwrap_or_default().iter().product();
        let limits = self.limits();
        let [n_outer, n_rows, n_inner] = [outer, rows, inner].map(|n| n as u64);
        let side_by_side =
            inner >= MIN_INNER && takes_columns(n_outer, n_rows, n_inner, limits.binding_bytes);
        if follow_each_other && (inner == 1 || side_by_side) {
            return self
                .reduce_middle(reduction, a, [outer, rows, inner], out)
                .await;
        }
        // Moves the reduced axes to the end.
        let kept = (0..dims.len()).filter(|axis| !axes.contains(axis));
        let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
        let view = a.view.permute(&order)?;
        let rows: usize = axes.iter().map(|&axis| dims[axis]).product();
        let outer = order[..dims.len() - axes.len()].iter();
        let outer = outer.map(|&axis| dims[axis]).product();
        let a = Operand { view: &view, ..a };
        self.reduce_middle(reduction, a, [outer, rows, 1], out)
            .await
    }

    async fn reduce_middle(
        &mut self,
        reduction: Reduction,
        a: Operand<'_>,
        [outer, rows, inner]: [usize; 3],
        out: &Buffer,
    ) -> Result<()> {
        if outer * inner == 0 {
            return Ok(());
        }
        if rows == 0 {
            return self.fill(reduction.of_none(), outer * inner, out).await;
        }
        let (buffer, start) = self.dense(a).await?;
        let limits = self.limits();
        let size = [outer, rows, inner].map(|n| n as u64);
        let job = match inner {
            1 if takes_rows(DType::F32, [size[0], size[1]], limits.binding_bytes) => {
                reduce_rows_job(reduction, DType::F32, [size[0], size[1]], limits)?
            }
            1 => {
                let rows = [outer, rows];
                return self
                    .reduce_one_by_one(reduction, (&buffer, start), rows, out)
                    .await;
            }
            _ => reduce_columns_job(reduction, size, limits)?,
        };
        self.run(&job, &[(Slot::A, &buffer, start), (Slot::Out, out, 0)])
            .await
    }

    /// Reduces rows one at a time, through an aligned buffer. For rows so long that a binding cannot start at an
    /// arbitrary one.
    async fn reduce_one_by_one(
        &mut self,
        reduction: Reduction,
        (a, start): (&Buffer, u64),
        [rows, cols]: [usize; 2],
        out: &Buffer,
    ) -> Result<()> {
        let (from, to) = (self.allocate(cols)?, self.allocate(1)?);
        let limits = self.limits();
        let job = reduce_rows_job(reduction, DType::F32, [1, cols as u64], limits)?;
        for row in 0..rows {
            self.copy((a, start as usize / 4 + row * cols), (&from, 0), cols)?;
            self.run(&job, &[(Slot::A, &from, 0), (Slot::Out, &to, 0)])
                .await?;
            self.copy((&to, 0), (out, row), 1)?;
        }
        Ok(())
    }

    /// Sets the first `n` elements of `out` to `value`.
    pub(super) async fn fill(&mut self, value: f32, n: usize, out: &Buffer) -> Result<()> {
        let one = self.upload(&[value]).await?;
        let shape = Shape::vector(n);
        let view = TensorView::new(Shape::vector(1));
        let one = Operand {
            buffer: &one,
            view: &view,
        };
        self.elementwise(&[], one, None, &shape, out).await
    }

    /// Computes the sum of the products of two tensors of one shape.
    pub(crate) async fn dot(&mut self, a: Operand<'_>, b: Operand<'_>, out: &Buffer) -> Result<()> {
        let n = a.view.shape().n_elements();
        if n == 0 {
            return self.fill(0.0, 1, out).await;
        }
        let ((a, a_start), (b, b_start)) = (self.dense(a).await?, self.dense(b).await?);
        let limits = self.limits();
        let job = reduce_rows_job(Reduction::Dot, DType::F32, [1, n as u64], limits)?;
        let given = [
            (Slot::A, &a, a_start),
            (Slot::B, &b, b_start),
            (Slot::Out, out, 0),
        ];
        self.run(&job, &given).await
    }
}
