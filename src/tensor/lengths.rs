//! Lengths that callers give: multiplied without wrapping, compared with slices, and allocated only as far as there is
//! memory.

use crate::{Error, Result};

/// The product of lengths; `u64::MAX`, which no slice has, where it is larger.
pub(crate) fn product(dims: &[usize]) -> u64 {
    dims.iter()
        .fold(1, |n: u64, &dim| n.saturating_mul(dim as u64))
}

/// Checks that a slice has as many elements as it must.
pub(crate) fn check_len(name: &'static str, actual: usize, expected: u64) -> Result<()> {
    if actual as u64 == expected {
        return Ok(());
    }
    Err(Error::LengthMismatch {
        name,
        expected,
        actual: actual as u64,
    })
}

/// Checks that a slice has an element for each place of a shape.
pub(crate) fn check_dims(name: &'static str, actual: usize, dims: &[usize]) -> Result<()> {
    check_len(name, actual, product(dims))
}

/// Checks that a slice of `n` elements is rows of `cols`, none of them cut off.
pub(crate) fn check_rows(name: &'static str, n: usize, cols: usize) -> Result<()> {
    match n.checked_rem(cols) {
        Some(0) => Ok(()),
        None if n == 0 => Ok(()),
        None => Err(Error::invalid("cols", 0, "at least one element a row")),
        Some(rest) => check_len(name, n, (n - rest) as u64 + cols as u64),
    }
}

/// `n` zeros.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn zeros(n: usize) -> Result<Vec<f32>> {
    // Zeroed by the system, page by page as they are touched.
    bytemuck::allocation::try_zeroed_vec(n).map_err(|()| out_of_memory::<f32>(n))
}

/// A list with room for `n` items.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn with_room<T>(n: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(n)
        .map_err(|_| out_of_memory::<T>(n))?;
    Ok(list)
}

/// A copy of a slice.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[cfg(gpu_engine)]
pub(crate) fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = with_room(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

fn out_of_memory<T>(n: usize) -> Error {
    Error::OutOfMemory {
        requested: product(&[n, size_of::<T>()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_do_not_wrap() {
        assert_eq!(product(&[]), 1);
        assert_eq!(product(&[3, 5]), 15);
        assert_eq!(product(&[usize::MAX, 2]), u64::MAX);
        assert_eq!(product(&[usize::MAX, usize::MAX, 0]), 0);
        // The product is 4 more than 2^64.
        assert!(check_dims("b", 4, &[(1 << 62) + 1, 4]).is_err());
    }

    #[test]
    fn rows_are_whole() {
        assert_eq!(check_rows("a", 6, 3), Ok(()));
        assert_eq!(check_rows("a", 0, 0), Ok(()));
        assert_eq!(check_rows("a", 0, usize::MAX), Ok(()));
        let code = |n, cols| check_rows("a", n, cols).map_err(|error| error.code());
        assert_eq!(code(7, 3), Err("LENGTH_MISMATCH"));
        assert_eq!(code(7, usize::MAX), Err("LENGTH_MISMATCH"));
        assert_eq!(code(7, 0), Err("INVALID_ARGUMENT"));
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        for n in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 4] {
            assert_eq!(zeros(n).map_err(|error| error.code()), Err("OUT_OF_MEMORY"));
            let list = with_room::<f32>(n).map_err(|error| error.code());
            assert_eq!(list, Err("OUT_OF_MEMORY"));
        }
        assert_eq!(zeros(2), Ok(vec![0.0; 2]));
    }
}
