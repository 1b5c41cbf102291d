//! Reductions on the device.

use super::run::{Operand, Recording, word};
use super::shape::Shape;
use super::step::Reduction;
use super::view::TensorView;
use crate::gpu::{Backend, Buffer};
use crate::kernels::Slot;
use crate::kernels::tensor::{reduce_columns_job, reduce_rows_job};
use crate::text::{fill, list};
use crate::{Error, Result};

/// From so many elements on it pays to read columns side by side; fewer are made rows first.
const MIN_INNER: usize = 8;

/// The axes to reduce, sorted, and the shape of the result, the reduced axes kept as ones.
pub(super) fn reduced_shape(shape: &Shape, axes: &[usize]) -> Result<(Vec<usize>, Shape)> {
    let is_reduced = |axis: &usize| axes.contains(axis);
    let sorted: Vec<usize> = (0..shape.rank()).filter(is_reduced).collect();
    // One that comes twice, or is not there, is one less here.
    if sorted.len() != axes.len() {
        return Err(Error::InvalidArgument {
            name: "axes",
            value: fill("$ of $", &[&list(axes), &shape.text()], &[]),
            expected: "axes of the tensor, each once",
        });
    }
    let mut dims = shape.dims().to_vec();
    for &axis in &sorted {
        dims[axis] = 1;
    }
    Ok((sorted, Shape::new(&dims)?))
}

impl Recording {
    /// Reduces `axes`, which are sorted, of `a` to `out`.
    pub(super) async fn reduce(
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
        if follow_each_other && (inner == 1 || inner >= MIN_INNER) {
            let outer: usize = dims[..first].iter().product();
            let rows: usize = dims.get(first..=last).unwrap_or_default().iter().product();
            return self
                .reduce_middle(reduction, a, [outer, rows, inner], out)
                .await;
        }
        // The axes to reduce become the last ones.
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
        let job = match inner {
            1 => {
                word(outer * rows / outer.min(rows))?;
                let most = self.device().capabilities().max_binding_bytes;
                reduce_rows_job(reduction, outer as u64, rows as u64, most)
            }
            _ => {
                word(outer * rows * inner)?;
                reduce_columns_job(reduction, outer as u64, rows as u64, inner as u64)
            }
        };
        self.run(&job, &[(Slot::A, &buffer, start), (Slot::Out, out, 0)])
            .await
    }

    /// Sets all elements of `out`.
    async fn fill(&mut self, value: f32, n: usize, out: &Buffer) -> Result<()> {
        let one = self.upload(&[value]).await?;
        let shape = Shape::vector(n);
        let view = TensorView::new(Shape::vector(1));
        let one = Operand {
            buffer: &one,
            view: &view,
        };
        self.elementwise(&[], one, None, &shape, out).await
    }

    /// The sum of products of two dense tensors of `n` elements.
    pub(super) async fn dot(
        &mut self,
        a: Operand<'_>,
        b: Operand<'_>,
        n: usize,
        out: &Buffer,
    ) -> Result<()> {
        if n == 0 {
            return self.fill(0.0, 1, out).await;
        }
        let ((a, a_start), (b, b_start)) = (self.dense(a).await?, self.dense(b).await?);
        let most = self.device().capabilities().max_binding_bytes;
        let job = reduce_rows_job(Reduction::Dot, 1, n as u64, most);
        let given = [
            (Slot::A, &a, a_start),
            (Slot::B, &b, b_start),
            (Slot::Out, out, 0),
        ];
        self.run(&job, &given).await
    }
}
