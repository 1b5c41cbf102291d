//! Reductions of two-dimensional data by square tiles.

use super::reduce::reduce;
use crate::Result;
use crate::memory::with_room;
use crate::tensor::{PartitionView, Reduction, Shape, TensorView, check_dims};

/// Number of rows and of columns of a tile.
pub const TILE_SIZE: usize = 16;

/// A type that represents a reduction, for generic functions.
pub trait ReduceOp {
    /// The reduction that the type represents.
    const REDUCTION: Reduction;
}

/// Sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumOp;

/// Maximum; NaN if any element is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxOp;

/// Minimum; NaN if any element is NaN.
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

/// Reduces each tile of [`TILE_SIZE`] x [`TILE_SIZE`] elements. Tiles at the ends of axes may be smaller. The results
/// are in row-major order of the tiles.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch) unless there are `width` x `height` elements;
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) if one of them is 0 and the other exceeds what fits in
/// memory; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn tiled_reduce_partial<Op: ReduceOp>(
    data: &[f32],
    width: usize,
    height: usize,
) -> Result<Vec<f32>> {
    check_dims("data", data.len(), &[height, width])?;
    let view = TensorView::new(Shape::new(&[height, width])?);
    let tiles = PartitionView::new(view, Shape::new(&[TILE_SIZE; 2])?)?;
    let of_tile = |tile: TensorView| {
        let [rows, cols] = [tile.shape().dims()[0], tile.shape().dims()[1]];
        let rows = (0..rows).map(|row| tile.offset() + row * width);
        let elements: Vec<f32> = rows.flat_map(|at| &data[at..at + cols]).copied().collect();
        reduce(Op::REDUCTION, &elements)
    };
    let mut reduced = with_room(tiles.n_tiles())?;
    reduced.extend(tiles.tiles().map(|tile| of_tile(tile.view)));
    Ok(reduced)
}

/// Reduces all elements, tile by tile.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_reduce_2d<Op: ReduceOp>(data: &[f32], width: usize, height: usize) -> Result<f32> {
    let parts = tiled_reduce_partial::<Op>(data, width, height)?;
    Ok(reduce(Op::REDUCTION.of_parts(), &parts))
}

/// Computes the sum of all elements.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_sum_2d(data: &[f32], width: usize, height: usize) -> Result<f32> {
    tiled_reduce_2d::<SumOp>(data, width, height)
}

/// Computes the maximum of all elements: NaN if any element is NaN, -∞ if there are none.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_max_2d(data: &[f32], width: usize, height: usize) -> Result<f32> {
    tiled_reduce_2d::<MaxOp>(data, width, height)
}

/// Computes the minimum of all elements: NaN if any element is NaN, +∞ if there are none.
///
/// # Errors
/// As [`tiled_reduce_partial`].
pub fn tiled_min_2d(data: &[f32], width: usize, height: usize) -> Result<f32> {
    tiled_reduce_2d::<MinOp>(data, width, height)
}
