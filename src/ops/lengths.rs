//! Lengths passed by callers: products without overflow, and comparisons with the lengths of slices.

#[cfg(gpu_engine)]
use super::Shape;
use crate::{Error, Result};

/// Returns the product of lengths, or `u64::MAX` on overflow, which is not the length of any slice.
pub(crate) fn product(dims: &[usize]) -> u64 {
    dims.iter()
        .fold(1, |n: u64, &dim| n.saturating_mul(dim as u64))
}

/// Checks that a slice has `expected` elements.
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

/// Checks that a slice has one element for each position of a shape.
pub(crate) fn check_dims(name: &'static str, actual: usize, dims: &[usize]) -> Result<()> {
    check_len(name, actual, product(dims))
}

/// Checks that a slice of `n` elements is a whole number of rows of `cols`.
pub(crate) fn check_rows(name: &'static str, n: usize, cols: usize) -> Result<()> {
    match n.checked_rem(cols) {
        Some(0) => Ok(()),
        None if n == 0 => Ok(()),
        None => Err(Error::invalid("cols", 0, "at least one element a row")),
        Some(rest) => check_len(name, n, (n - rest) as u64 + cols as u64),
    }
}

/// Returns the shape of `n` elements in rows of `cols`.
#[cfg(gpu_engine)]
pub(crate) fn rows_shape(n: usize, cols: usize) -> Result<Shape> {
    match n.checked_rem(cols) {
        Some(0) => Shape::new(&[n / cols, cols]),
        None if n == 0 => Shape::new(&[0, 0]),
        _ => Err(Error::invalid(
            "cols",
            cols as u64,
            "rows have this many elements each, and none is left over",
        )),
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
}
