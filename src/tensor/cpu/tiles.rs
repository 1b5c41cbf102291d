//! Reductions of two-dimensional data by square tiles.

use super::reduce::reduce;
use crate::Result;
use crate::tensor::{PartitionView, Reduction, Shape, TensorView, check_len};

/// Rows and columns of a tile.
pub const TILE_SIZE: usize = 16;

/// A reduction as a type.
pub trait ReduceOp {
    /// The reduction.
    const REDUCTION: Reduction;
}

/// The sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumOp;

/// The largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxOp;

/// The smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinOp;

impl ReduceOp for SumOp {
    const REDUCTION: Reduction = Reduction::Sum;
}

impl ReduceOp for MaxOp {
    const REDUCTION: Reduction = Reduction::Max;
}

impl ReduceOp for MinOp {
    const REDUCTION: Reduction = Reduction::Min;
}

/// The reductions of all tiles of [`TILE_SIZE`] rows and columns, those at the ends smaller, row by row.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch) unless there are `width` times `height` elements.
pub fn tiled_reduce_partial<Op: ReduceOp>(
    data: &[f32],
    width: usize,
    height: usize,
) -> Result<Vec<f32>> {
    check_len("data", data.len(), width as u64 * height as u64)?;
    let view = TensorView::new(Shape::new(&[height, width])?);
    let tiles = PartitionView::new(view, Shape::new(&[TILE_SIZE; 2])?)?;
    let of_tile = |tile: TensorView| {
        let [rows, cols] = [tile.shape().dims()[0], tile.shape().dims()[1]];
        let rows = (0..rows).map(|row| tile.offset() + row * width);
        let elements: Vec<f32> = rows.flat_map(|at| &data[at..at + cols]).copied().collect();
        reduce(Op::REDUCTION, &elements)
    };
    Ok(tiles.tiles().map(|tile| of_tile(tile.view)).collect())
}

/// The reduction of all elements, tile by tile.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_reduce_2d<Op: ReduceOp>(data: &[f32], width: usize, height: usize) -> Result<f32> {
    let parts = tiled_reduce_partial::<Op>(data, width, height)?;
    Ok(reduce(Op::REDUCTION.of_parts(), &parts))
}

/// The sum of all elements.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_sum_2d(data: &[f32], width: usize, height: usize) -> Result<f32> {
    tiled_reduce_2d::<SumOp>(data, width, height)
}

/// The largest element; NaN if one is, -∞ of none.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_max_2d(data: &[f32], width: usize, height: usize) -> Result<f32> {
    tiled_reduce_2d::<MaxOp>(data, width, height)
}

/// The smallest element; NaN if one is, +∞ of none.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_min_2d(data: &[f32], width: usize, height: usize) -> Result<f32> {
    tiled_reduce_2d::<MinOp>(data, width, height)
}
