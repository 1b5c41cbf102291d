//! Records matrix products and convolutions.

use super::epilogue::{Dense, given_of};
use super::{AnyOperand, Operand, Recording, word};
use crate::Result;
use crate::gpu::{Buffer, Sized64};
use crate::kernels::Slot;
use crate::kernels::tensor::{
    Convolution, Matrix, Product, convolve2d_job, matmul_epilogue_job, matmul_job,
};
use crate::tensor::{Epilogue, Precision, Shape, TensorView};

/// Shape of a product, and its factors as batches of matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Factors {
    /// Shape of the result. A factor with one axis adds no axis to it.
    pub(crate) shape: Shape,
    pub(super) batch: Shape,
    pub(super) a: TensorView,
    pub(super) b: TensorView,
}

/// Matches the factors of a product as NumPy does: the last two axes are those of matrices, and the axes before are
/// broadcast to each other. A vector is a row as the left factor and a column as the right factor.
pub(crate) fn factors(a: &TensorView, b: &TensorView) -> Result<Factors> {
    let expected = "the last axis of the first and the last but one of the second are as long";
    let mismatch = || a.shape().mismatch(b.shape(), "matmul", expected);
    if a.shape().rank().min(b.shape().rank()) == 0 {
        return Err(mismatch());
    }
    let (a_is_row, b_is_column) = (a.shape().rank() == 1, b.shape().rank() == 1);
    let a = if a_is_row {
        with_axis(a, 0)?
    } else {
        a.clone()
    };
    let b = if b_is_column {
        with_axis(b, 1)?
    } else {
        b.clone()
    };
    let (a_batch, [m, k]) = split(&a)?;
    let (b_batch, [b_k, n]) = split(&b)?;
    if k != b_k {
        return Err(mismatch());
    }
    let batch = a_batch.broadcast(&b_batch, "matmul")?;
    let extended = |view: &TensorView, rows, cols| {
        let dims = [batch.dims(), &[rows, cols]].concat();
        view.broadcast_to(&Shape::new(&dims)?)
    };
    let mut dims = batch.dims().to_vec();
    dims.extend((!a_is_row).then_some(m));
    dims.extend((!b_is_column).then_some(n));
    Ok(Factors {
        shape: Shape::new(&dims)?,
        a: extended(&a, m, k)?,
        b: extended(&b, k, n)?,
        batch,
    })
}

fn with_axis(view: &TensorView, axis: usize) -> Result<TensorView> {
    let (mut dims, mut strides) = (view.shape().dims().to_vec(), view.strides().to_vec());
    dims.insert(axis, 1);
    strides.insert(axis, 0);
    TensorView::with_strides(Shape::new(&dims)?, &strides, view.offset())
}

/// Splits the shape into the batch axes and the last two.
pub(super) fn split(view: &TensorView) -> Result<(Shape, [usize; 2])> {
    let dims = view.shape().dims();
    let (batch, matrix) = dims.split_at(dims.len() - 2);
    Ok((Shape::new(batch)?, [matrix[0], matrix[1]]))
}

/// Returns the layout of a batch of matrices in a buffer of `n` elements if the kernel supports it: rows or columns
/// must be contiguous, and matrices must have one stride.
pub(super) fn matrix(view: &TensorView, n: u64) -> Option<Matrix> {
    let axes = view.shape().rank();
    let dims = view.shape().dims();
    let strides = view.strides();
    let [rows, cols] = [dims[axes - 2], dims[axes - 1]];
    let [row_stride, col_stride] = [strides[axes - 2], strides[axes - 1]];
    // An axis of length 1 may have any stride.
    let (transposed, pitch) = if col_stride == 1 || cols == 1 {
        (false, if rows == 1 { cols } else { row_stride })
    } else if row_stride == 1 || rows == 1 {
        (true, col_stride)
    } else {
        return None;
    };
    let mut batch = None;
    for axis in (0..axes - 2).rev().filter(|&axis| dims[axis] > 1) {
        match batch {
            None => batch = Some((strides[axis], dims[axis])),
            Some((stride, n)) if strides[axis] == stride * n => {
                batch = Some((stride, n * dims[axis]))
            }
            Some(_) => return None,
        }
    }
    Some(Matrix {
        offset: view.offset() as u64,
        transposed,
        pitch: pitch as u64,
        batch: batch.map_or(0, |(stride, _)| stride as u64),
        n,
    })
}

impl Recording {
    /// Records the product of two tensors of any types into `out`, with an epilogue; see [`factors`]. `precision` is that of factors in
    /// f32.
    pub(crate) async fn matmul_of_any(
        &mut self,
        [a, b]: [AnyOperand<'_>; 2],
        precision: Precision,
        epilogue: Epilogue<AnyOperand<'_>>,
        out: AnyOperand<'_>,
    ) -> Result<()> {
        let wide = self.wide_result(out)?;
        let epilogue = self.wide_epilogue(epilogue).await?;
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(units) = self.matrix_units(a.dtype)
            && self
                .matmul_on_matrix_units(units, [a, b], &epilogue, &wide)
                .await?
        {
            return self.round_result(&wide, out).await;
        }
        let a = self.widened(a).await?;
        let b = self.widened(b).await?;
        if precision == Precision::Tf32 {
            #[cfg(not(target_arch = "wasm32"))]
            if let Some(units) = self.tf32_units()
                && self
                    .matmul_on_matrix_units(
                        units,
                        [a.any_operand(), b.any_operand()],
                        &epilogue,
                        &wide,
                    )
                    .await?
            {
                return self.round_result(&wide, out).await;
            }
        }
        let factors = factors(&a.view, &b.view)?;
        let buffers = [&a.buffer, &b.buffer];
        self.matmul_finished(buffers, &factors, &epilogue, &wide)
            .await?;
        self.round_result(&wide, out).await
    }

    /// Records the product of two tensors into `out`; see [`factors`].
    pub(crate) async fn matmul(
        &mut self,
        a: &Buffer,
        b: &Buffer,
        factors: &Factors,
        out: &Buffer,
    ) -> Result<()> {
        self.matmul_finished([a, b], factors, &Epilogue::default(), out)
            .await
    }

    /// Records the product of two tensors into `out`, with an epilogue; see [`factors`].
    pub(crate) async fn matmul_finished(
        &mut self,
        [a, b]: [&Buffer; 2],
        factors: &Factors,
        epilogue: &Epilogue<Dense>,
        out: &Buffer,
    ) -> Result<()> {
        let n_out = factors.shape.n_elements();
        let (_, [m, k]) = split(&factors.a)?;
        let (_, [_, n]) = split(&factors.b)?;
        if n_out == 0 {
            return Ok(());
        }
        if k == 0 {
            if epilogue.is_none() {
                return self.fill(0.0, n_out, out).await;
            }
            let product = self.allocate(n_out)?;
            self.fill(0.0, n_out, &product).await?;
            return self.finish(epilogue, [n_out / n, n], &product, out).await;
        }
        for length in [m, k, n, factors.batch.n_elements()] {
            word(length)?;
        }
        let (a, a_matrix) = self.as_matrix(a, &factors.a).await?;
        let (b, b_matrix) = self.as_matrix(b, &factors.b).await?;
        let what = Product {
            batch: factors.batch.n_elements() as u64,
            m: m as u64,
            n: n as u64,
            k: k as u64,
            a: a_matrix,
            b: b_matrix,
        };
        let limits = self.limits();
        let mut given = vec![(Slot::A, &a, 0), (Slot::B, &b, 0)];
        if epilogue.is_none() {
            given.push((Slot::Out, out, 0));
            let job = matmul_job(&what, limits)?;
            return self.run_long(&job, &given, what.terms()).await;
        }
        if let Some(job) = matmul_epilogue_job(&what, epilogue.form(), limits)? {
            given.push((Slot::Out, out, 0));
            given.extend(given_of(epilogue));
            return self.run_long(&job, &given, what.terms()).await;
        }
        let product = self.allocate(n_out)?;
        given.push((Slot::Out, &product, 0));
        let job = matmul_job(&what, limits)?;
        self.run_long(&job, &given, what.terms()).await?;
        self.finish(epilogue, [n_out / n, n], &product, out).await
    }

    /// Returns a factor in a layout that the kernel supports; copies it if necessary.
    async fn as_matrix(&mut self, buffer: &Buffer, view: &TensorView) -> Result<(Buffer, Matrix)> {
        let elements = |buffer: &Buffer| buffer.n_bytes() / 4;
        if let Some(matrix) = matrix(view, elements(buffer)) {
            word(view.strides().iter().copied().max().unwrap_or(0))?;
            return Ok((buffer.clone(), matrix));
        }
        let n = view.shape().n_elements();
        let copy = self.allocate(n)?;
        let operand = Operand { buffer, view };
        self.elementwise(&[], operand, None, view.shape(), &copy)
            .await?;
        let (_, [rows, cols]) = split(view)?;
        let dense = Matrix::dense(rows as u64, cols as u64, elements(&copy));
        Ok((copy, dense))
    }

    /// Records the convolution of an image with a kernel into `out`.
    pub(crate) async fn convolve2d(
        &mut self,
        input: Operand<'_>,
        kernel: Operand<'_>,
        out: &Buffer,
    ) -> Result<()> {
        let dense = [self.dense(input).await?, self.dense(kernel).await?];
        let size =
            |view: &TensorView| [view.shape().dims()[0] as u64, view.shape().dims()[1] as u64];
        let what = Convolution {
            input: size(input.view),
            kernel: size(kernel.view),
        };
        let job = convolve2d_job(&what, self.limits())?;
        let given = [
            (Slot::A, &dense[0].0, dense[0].1),
            (Slot::B, &dense[1].0, dense[1].1),
            (Slot::Out, out, 0),
        ];
        let [out_size, kernel_size] = [what.output(), what.kernel].map(|[rows, cols]| rows * cols);
        let terms = out_size.saturating_mul(kernel_size);
        self.run_long(&job, &given, terms).await
    }
}
