//! Checks that an array lies in one piece of memory, and computes its bytes. Its sizes come from other code.

use pyo3::prelude::*;

use crate::errors::argument;

/// Sizes and steps of an array, both in elements or both in bytes.
pub(super) struct Layout<'a> {
    pub(super) shape: &'a [i64],
    /// From one element to the next along each axis; `None` for an array in C order without gaps.
    pub(super) strides: Option<&'a [i64]>,
    /// Stride of adjacent elements: 1 if strides count elements, else the bytes of an element.
    pub(super) unit: i64,
}

impl Layout<'_> {
    /// Returns the bytes of the array, whose elements have `element` bytes.
    pub(super) fn n_bytes(&self, py: Python<'_>, element: u64) -> PyResult<u64> {
        let mut n_bytes = Some(element);
        for &size in self.shape {
            let size = u64::try_from(size).ok();
            n_bytes = n_bytes.zip(size).and_then(|(n, size)| n.checked_mul(size));
        }
        let Some(n_bytes) = n_bytes.filter(|&n| i64::try_from(n).is_ok()) else {
            let message = format!(
                "the array has the shape {:?} of {element}-byte elements; give sizes from 0 on, of less than 2^63 bytes",
                self.shape
            );
            return Err(argument(py, &message));
        };
        if n_bytes > 0 && !self.is_contiguous() {
            let message = format!(
                "the array is not contiguous: strides {:?} of the shape {:?}; give a copy in C order, such as tensor.contiguous() or cupy.ascontiguousarray(array)",
                self.strides.unwrap_or_default(),
                self.shape
            );
            return Err(argument(py, &message));
        }
        Ok(n_bytes)
    }

    /// Returns true for C order without gaps. The shape has elements, and their product fits.
    fn is_contiguous(&self) -> bool {
        let Some(strides) = self.strides else {
            return true;
        };
        if strides.len() != self.shape.len() {
            return false;
        }
        let mut expected = self.unit;
        for (&size, &stride) in self.shape.iter().zip(strides).rev() {
            // Nothing is stepped over along an axis of one element.
            if size != 1 && stride != expected {
                return false;
            }
            expected = expected.saturating_mul(size);
        }
        true
    }
}
