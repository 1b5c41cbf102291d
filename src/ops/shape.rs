//! [`Shape`]: lengths of axes.

use std::fmt;

use crate::{Error, Result};

/// Maximum number of axes of a tensor.
pub const MAX_RANK: usize = 8;

/// Lengths of the axes of a tensor, outermost first. A shape without axes has one element.
///
/// ```
/// use pagepress::tensor::Shape;
/// let shape = Shape::new(&[2, 3])?;
/// assert_eq!(shape.n_elements(), 6);
/// assert_eq!(shape.to_string(), "[2, 3]");
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    dims: Vec<usize>,
}

impl Shape {
    /// Creates a shape of at most [`MAX_RANK`] axes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there are more axes, or more elements than fit in memory.
    pub fn new(dims: &[usize]) -> Result<Self> {
        // An empty axis makes the tensor empty, but strides depend on the other axes, so these are checked.
        let mut axes = dims.iter().filter(|&&dim| dim > 0);
        let product = axes.try_fold(1usize, |n, &dim| n.checked_mul(dim));
        let fits = product.is_some_and(|n| n <= isize::MAX as usize / size_of::<f32>());
        if dims.len() <= MAX_RANK && fits {
            return Ok(Self {
                dims: dims.to_vec(),
            });
        }
        Err(Error::InvalidArgument {
            name: "shape",
            value: format!("{dims:?}"),
            expected: "at most 8 axes, and no more elements than fit in memory",
        })
    }

    /// Returns the shape of a vector.
    #[must_use]
    pub fn vector(n: usize) -> Self {
        Self { dims: vec![n] }
    }

    /// Returns the lengths, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns true if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// Returns the strides of a contiguous row-major tensor of this shape.
    #[must_use]
    pub fn row_major_strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.rank()];
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis] * self.dims[axis].max(1);
        }
        strides
    }

    /// Returns the shape to which both shapes are broadcast: axes are matched from the innermost, and an axis of length
    /// 1 is repeated.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if matched axes differ and neither has length 1.
    pub fn broadcast(&self, other: &Self, operation: &'static str) -> Result<Self> {
        let rank = self.rank().max(other.rank());
        let dim = |shape: &Self, axis: usize| {
            let missing = rank - shape.rank();
            if axis < missing {
                1
            } else {
                shape.dims[axis - missing]
            }
        };
        let mut dims = Vec::with_capacity(rank);
        for axis in 0..rank {
            match (dim(self, axis), dim(other, axis)) {
                (a, b) if a == b => dims.push(a),
                (1, b) => dims.push(b),
                (a, 1) => dims.push(a),
                _ => {
                    return Err(self.mismatch(
                        other,
                        operation,
                        "axes must be equal, or one of them 1, from the last one on",
                    ));
                }
            }
        }
        Self::new(&dims)
    }

    /// Returns the error for incompatible shapes.
    pub(crate) fn mismatch(
        &self,
        other: &Self,
        operation: &'static str,
        expected: &'static str,
    ) -> Error {
        Error::ShapeMismatch {
            operation,
            left: self.clone(),
            right: other.clone(),
            expected,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[usize]) -> Shape {
        Shape::new(dims).unwrap()
    }

    #[test]
    fn shapes_are_broadcast() {
        let of = |a: &[usize], b: &[usize]| shape(a).broadcast(&shape(b), "add").map(|s| s.dims);
        assert_eq!(of(&[2, 3], &[3]), Ok(vec![2, 3]));
        assert_eq!(of(&[2, 1], &[1, 5]), Ok(vec![2, 5]));
        assert_eq!(of(&[], &[4]), Ok(vec![4]));
        assert_eq!(of(&[0], &[1]), Ok(vec![0]));
        let error = of(&[2, 3], &[2]).unwrap_err();
        assert_eq!(error.code(), "SHAPE_MISMATCH");
        assert!(error.to_string().contains("[2, 3] and [2]"), "{error}");
    }

    #[test]
    fn overflow_is_an_error() {
        assert!(Shape::new(&[1 << 40, 1 << 40]).is_err());
        assert!(Shape::new(&[1 << 40, 1 << 40, 0]).is_err());
        assert!(Shape::new(&[1; 9]).is_err());
        assert_eq!(shape(&[]).n_elements(), 1);
        assert_eq!(shape(&[0, 5]).row_major_strides(), [5, 1]);
    }
}
