//! [`TensorView`]: the layout of a tensor in a buffer, and its partition into tiles.

use std::ops::Range;

use super::shape::Shape;
use crate::{Error, Result};

/// Order of a tensor's elements in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryLayout {
    /// Contiguous, the last axis innermost.
    RowMajor,
    /// Contiguous, the first axis innermost.
    ColumnMajor,
    /// Any other layout.
    Strided,
}

/// Shape, strides and offset of a tensor in a buffer, all in elements. Slicing, reshaping and transposing create
/// another view of the same buffer.
///
/// ```
/// use pagepress::tensor::{Shape, TensorView};
/// let matrix = TensorView::new(Shape::new(&[4, 6])?);
/// let inner = matrix.slice(0, 1..3)?.slice(1, 2..5)?;
/// assert_eq!(inner.index_of(&[1, 0]), Some(14));
/// assert_eq!(inner.transpose(0, 1)?.index_of(&[0, 1]), Some(14));
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorView {
    shape: Shape,
    strides: Vec<usize>,
    offset: usize,
}

impl TensorView {
    /// Creates a contiguous row-major view that starts at the buffer's first element.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self {
            strides: shape.row_major_strides(),
            shape,
            offset: 0,
        }
    }

    /// Creates a view with these strides and this offset.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there is one stride per axis and all positions fit in memory.
    pub fn with_strides(shape: Shape, strides: &[usize], offset: usize) -> Result<Self> {
        let view = Self {
            shape,
            strides: strides.to_vec(),
            offset,
        };
        // Positions are also counted in bytes.
        let most = isize::MAX as usize / size_of::<f32>();
        let is_inside = |place: usize| place <= most;
        let fits = strides.len() == view.shape.rank()
            && is_inside(offset)
            && view.checked_end().is_some_and(is_inside);
        if fits {
            return Ok(view);
        }
        Err(Error::InvalidArgument {
            name: "strides",
            value: format!("{strides:?} from {offset} for {}", view.shape),
            expected: "one stride for each axis, and places that fit in memory",
        })
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the distance of neighbours along each axis, in elements.
    #[must_use]
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// Returns the position of the first element.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of elements that a buffer must have: the last element's position plus 1, or 0 for an empty
    /// view.
    #[must_use]
    pub fn end(&self) -> usize {
        self.checked_end().unwrap_or(usize::MAX)
    }

    fn checked_end(&self) -> Option<usize> {
        if self.shape.is_empty() {
            return Some(0);
        }
        let axes = self.shape.dims().iter().zip(&self.strides);
        let last = axes
            .map(|(dim, stride)| (dim - 1).checked_mul(*stride))
            .try_fold(self.offset, |at, more| at.checked_add(more?));
        last?.checked_add(1)
    }

    /// Returns the order of the elements in memory.
    #[must_use]
    pub fn layout(&self) -> MemoryLayout {
        let axes = 0..self.shape.rank();
        if self.shape.is_empty() || self.has_no_gaps(axes.clone().rev()) {
            MemoryLayout::RowMajor
        } else if self.has_no_gaps(axes) {
            MemoryLayout::ColumnMajor
        } else {
            MemoryLayout::Strided
        }
    }

    /// Returns true if the elements are contiguous with the axes in this order, innermost first.
    fn has_no_gaps(&self, mut axes: impl Iterator<Item = usize>) -> bool {
        let mut expected = 1;
        axes.all(|axis| {
            let dim = self.shape.dims()[axis];
            // An axis of length 1 may have any stride.
            let fits = dim == 1 || self.strides[axis] == expected;
            expected *= dim;
            fits
        })
    }

    /// Returns true if the elements are contiguous and row-major.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.layout() == MemoryLayout::RowMajor
    }

    /// Returns the position of an element in the buffer; `None` if `index` is outside the shape.
    #[must_use]
    pub fn index_of(&self, index: &[usize]) -> Option<usize> {
        let inside = index.len() == self.shape.rank()
            && index.iter().zip(self.shape.dims()).all(|(i, dim)| i < dim);
        let steps = index
            .iter()
            .zip(&self.strides)
            .map(|(i, stride)| i * stride);
        inside.then(|| self.offset + steps.sum::<usize>())
    }

    /// Selects the elements `range` of an axis.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the axis does not exist or the range exceeds it.
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        let dims = self.shape.dims();
        if axis >= dims.len() || range.start > range.end || range.end > dims[axis] {
            return Err(Error::InvalidArgument {
                name: "range",
                value: format!("{range:?} of axis {axis} of {}", self.shape),
                expected: "an axis of the tensor and a range inside it",
            });
        }
        let mut new_dims = dims.to_vec();
        new_dims[axis] = range.len();
        let shape = Shape::new(&new_dims)?;
        // An empty view keeps its offset: the start of the range could overflow.
        let offset = match shape.is_empty() {
            true => self.offset,
            false => self.offset + range.start * self.strides[axis],
        };
        Ok(Self {
            shape,
            strides: self.strides.clone(),
            offset,
        })
    }

    /// Exchanges two axes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if an axis does not exist.
    pub fn transpose(&self, first: usize, second: usize) -> Result<Self> {
        let mut axes: Vec<usize> = (0..self.shape.rank()).collect();
        if first.max(second) >= axes.len() {
            return Err(self.no_such_axes(&[first, second]));
        }
        axes.swap(first, second);
        self.permute(&axes)
    }

    /// Reorders the axes: axis `i` of the result is axis `axes[i]` of this view.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `axes` contains each axis exactly once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        let rank = self.shape.rank();
        if axes.len() != rank || (0..rank).any(|axis| !axes.contains(&axis)) {
            return Err(self.no_such_axes(axes));
        }
        let dims: Vec<usize> = axes.iter().map(|&axis| self.shape.dims()[axis]).collect();
        Ok(Self {
            shape: Shape::new(&dims)?,
            strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    fn no_such_axes(&self, axes: &[usize]) -> Error {
        Error::InvalidArgument {
            name: "axes",
            value: format!("{axes:?} of {}", self.shape),
            expected: "axes of the tensor, each once",
        }
    }

    /// Returns the same elements in another shape, without a copy.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the number of elements differs or the elements are not contiguous and row-major.
    pub fn reshape(&self, shape: Shape) -> Result<Self> {
        if shape.n_elements() != self.shape.n_elements() {
            return Err(self
                .shape
                .mismatch(&shape, "reshape", "keep the number of elements"));
        }
        if !self.is_contiguous() {
            let expected = "a strided tensor has to be copied first";
            return Err(self.shape.mismatch(&shape, "reshape", expected));
        }
        Ok(Self {
            offset: self.offset,
            ..Self::new(shape)
        })
    }

    /// Broadcasts to a larger shape: axes of length 1 and missing leading axes are repeated.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if another axis differs.
    pub fn broadcast_to(&self, shape: &Shape) -> Result<Self> {
        if self.shape.broadcast(shape, "broadcast").as_ref() != Ok(shape) {
            let expected = "axes must be equal or 1, from the last one on";
            return Err(self.shape.mismatch(shape, "broadcast", expected));
        }
        let missing = shape.rank() - self.shape.rank();
        let mut strides = vec![0; missing];
        let axes = self.shape.dims().iter().zip(&self.strides);
        let repeated = axes.zip(&shape.dims()[missing..]);
        strides.extend(repeated.map(
            |((dim, stride), wanted)| {
                if dim == wanted { *stride } else { 0 }
            },
        ));
        Ok(Self {
            shape: shape.clone(),
            strides,
            offset: self.offset,
        })
    }

    /// Divides the view into tiles of a shape. Tiles at the ends of axes may be smaller.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the number of axes differs, [`Error::InvalidArgument`] for an empty tile.
    pub fn partition(&self, tile: Shape) -> Result<PartitionView> {
        PartitionView::new(self.clone(), tile)
    }
}

/// A partition of a tensor into tiles, for programs that go through a tensor in parts. The kernels do not use it: each computes its
/// tiles from its own parameters.
///
/// ```
/// use pagepress::tensor::{PartitionView, Shape, TensorView};
/// let matrix = TensorView::new(Shape::new(&[5, 7])?);
/// let tiles = PartitionView::new(matrix, Shape::new(&[2, 4])?)?;
/// assert_eq!(tiles.n_tiles(), 6);
/// let last = tiles.tile(5).ok_or("no tile")?;
/// assert_eq!((last.index, last.view.shape().dims(), last.view.offset()), (vec![2, 1], &[1, 3][..], 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionView {
    view: TensorView,
    tile: Shape,
}

/// One tile of a [`PartitionView`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileInfo {
    /// Index of the tile along each axis.
    pub index: Vec<usize>,
    /// Index of the tile's first element in the tensor, along each axis.
    pub start: Vec<usize>,
    /// Layout of the tile's elements in the buffer.
    pub view: TensorView,
    /// True for a full tile, false for one that is cut off at the end of an axis.
    pub is_full: bool,
}

impl PartitionView {
    /// Divides a view into tiles of a shape. Tiles at the ends of axes may be smaller.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the number of axes differs, [`Error::InvalidArgument`] for an empty tile.
    pub fn new(view: TensorView, tile: Shape) -> Result<Self> {
        if tile.rank() != view.shape.rank() {
            let expected = "a tile has as many axes as the tensor";
            return Err(view.shape.mismatch(&tile, "partition", expected));
        }
        if tile.is_empty() {
            return Err(Error::InvalidArgument {
                name: "tile",
                value: tile.to_string(),
                expected: "at least one element along each axis",
            });
        }
        Ok(Self { view, tile })
    }

    /// Returns the view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> &TensorView {
        &self.view
    }

    /// Returns the shape of a full tile.
    #[must_use]
    pub fn tile_shape(&self) -> &Shape {
        &self.tile
    }

    /// Returns the number of tiles along each axis.
    #[must_use]
    pub fn grid(&self) -> Vec<usize> {
        let axes = self.view.shape.dims().iter().zip(self.tile.dims());
        axes.map(|(dim, tile)| dim.div_ceil(*tile)).collect()
    }

    /// Returns the total number of tiles.
    #[must_use]
    pub fn n_tiles(&self) -> usize {
        self.grid().iter().product()
    }

    /// Returns tile `i` in row-major order; `None` if there are fewer tiles.
    #[must_use]
    pub fn tile(&self, i: usize) -> Option<TileInfo> {
        if i >= self.n_tiles() {
            return None;
        }
        let grid = self.grid();
        let mut index = vec![0; grid.len()];
        let mut rest = i;
        for axis in (0..grid.len()).rev() {
            index[axis] = rest % grid[axis];
            rest /= grid[axis];
        }
        let start: Vec<usize> = index
            .iter()
            .zip(self.tile.dims())
            .map(|(i, t)| i * t)
            .collect();
        let mut view = self.view.clone();
        for (axis, (&from, &tile)) in start.iter().zip(self.tile.dims()).enumerate() {
            let to = self.view.shape.dims()[axis].min(from + tile);
            view = view.slice(axis, from..to).ok()?;
        }
        Some(TileInfo {
            is_full: view.shape == self.tile,
            index,
            start,
            view,
        })
    }

    /// Iterates over all tiles in row-major order.
    pub fn tiles(&self) -> impl Iterator<Item = TileInfo> {
        (0..self.n_tiles()).filter_map(|i| self.tile(i))
    }
}
