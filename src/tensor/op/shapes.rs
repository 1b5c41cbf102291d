//! Shapes of the results of operations.

use crate::tensor::layer::Attention;
use crate::tensor::{Epilogue, Reduction, Shape, TensorView, cpu};
use crate::{Error, Result};

/// Returns the axes to reduce in ascending order; `None` means all axes.
pub(crate) fn reduced_axes(shape: &Shape, axes: Option<&[usize]>) -> Result<Vec<usize>> {
    let Some(axes) = axes else {
        return Ok((0..shape.rank()).collect());
    };
    let is_reduced = |axis: &usize| axes.contains(axis);
    let sorted: Vec<usize> = (0..shape.rank()).filter(is_reduced).collect();
    // Repeated axes and axes that do not exist make the list shorter.
    if sorted.len() == axes.len() {
        return Ok(sorted);
    }
    Err(Error::InvalidArgument {
        name: "axes",
        value: format!("{axes:?} of {shape}"),
        expected: "axes of the tensor, each once",
    })
}

/// Returns the shape of the result of a reduction.
pub(super) fn reduced(
    reduction: Reduction,
    shape: &Shape,
    axes: Option<&[usize]>,
) -> Result<Shape> {
    if reduction == Reduction::Dot {
        return Err(Error::InvalidArgument {
            name: "reduction",
            value: "Dot".into(),
            expected: "dot_async for products of two tensors, SumOfSquares for one",
        });
    }
    if axes.is_none() {
        return Shape::new(&[]);
    }
    let mut dims = shape.dims().to_vec();
    for axis in reduced_axes(shape, axes)? {
        dims[axis] = 1;
    }
    Shape::new(&dims)
}

/// Returns the shape of the result of a convolution.
pub(super) fn convolved(input: &Shape, kernel: &Shape) -> Result<Shape> {
    match (input.dims(), kernel.dims()) {
        (&[rows, cols], &[kernel_rows, kernel_cols]) => {
            Shape::new(&cpu::check_sizes([rows, cols], [kernel_rows, kernel_cols])?)
        }
        _ => {
            let expected = "a picture and a kernel have two axes";
            Err(input.mismatch(kernel, "convolve2d", expected))
        }
    }
}

/// Checks that an epilogue fits the result of a product whose right factor has this shape: the bias has an element for each of its columns, and
/// the residual the shape of the result.
pub(super) fn check_epilogue(
    result: &Shape,
    right: &Shape,
    epilogue: Epilogue<&Shape>,
) -> Result<()> {
    let n = match right.dims() {
        [.., _, n] => *n,
        // A vector is a column.
        _ => 1,
    };
    if let Some(bias) = epilogue.bias
        && bias.dims() != [n]
    {
        let expected = "the bias has an element for each column of the result";
        return Err(result.mismatch(bias, "matmul", expected));
    }
    match epilogue.residual {
        Some(residual) if residual != result => {
            let expected = "the residual has the shape of the result";
            Err(result.mismatch(residual, "matmul", expected))
        }
        _ => Ok(()),
    }
}

/// Checks that weight and bias have one element per column.
pub(super) fn check_columns(shape: &Shape, given: &[&TensorView]) -> Result<()> {
    let n = shape.dims().last().copied().unwrap_or(1);
    let wrong = given.iter().find(|view| view.shape().dims() != [n]);
    wrong.map_or(Ok(()), |view| {
        let expected = "weight and bias have an element for each column";
        Err(shape.mismatch(view.shape(), "norm", expected))
    })
}

/// Checks that `turns` has a row for the position of each row of heads, and that heads consist of pairs.
pub(super) fn check_turns(heads: &Shape, turns: &Shape, first: usize) -> Result<()> {
    match (heads.dims(), turns.dims()) {
        (&[rows, _, elements], &[positions, width])
            if elements == width && width.is_multiple_of(2) =>
        {
            cpu::check_positions(rows, positions, first)
        }
        _ => {
            let expected = "rows of heads and positions have the same, even number of elements";
            Err(heads.mismatch(turns, "rotary", expected))
        }
    }
}

/// Returns the result of attention, which has the shape of the queries. In memory, each row contains all heads of a
/// query.
pub(super) fn attended(what: Attention, [q, k, v]: [&Shape; 3]) -> Result<TensorView> {
    what.size(q, k, v)?;
    let (mut dims, rank) = (q.dims().to_vec(), q.rank());
    dims.swap(rank - 3, rank - 2);
    TensorView::new(Shape::new(&dims)?).transpose(rank - 3, rank - 2)
}
