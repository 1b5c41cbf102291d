//! Fallible allocation of host memory whose size comes from input: an error where memory runs out, not an abort.

use bytemuck::Zeroable;

use crate::{Error, Result};

/// Returns the error that there is not enough memory for `n` values.
fn short_of<T>(n: usize) -> Error {
    Error::OutOfMemory {
        requested: (n as u64).saturating_mul(size_of::<T>() as u64),
    }
}

/// Returns `n` zeros. Memory comes from `calloc`, which does not write pages that the system has zeroed.
pub(crate) fn zeros<T: Zeroable>(n: usize) -> Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(n).map_err(|()| short_of::<T>(n))
}

/// Returns an empty vector with capacity for `n` values.
pub(crate) fn with_room<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    reserve(&mut values, n)?;
    Ok(values)
}

/// Reserves capacity for exactly `n` more values.
#[cfg(gpu_engine)]
pub(crate) fn reserve_exact<T>(values: &mut Vec<T>, n: usize) -> Result<()> {
    values
        .try_reserve_exact(n)
        .map_err(|_| short_of::<T>(values.len().saturating_add(n)))
}

/// Makes room for at least `n` values more.
pub(crate) fn reserve<T>(values: &mut Vec<T>, n: usize) -> Result<()> {
    values
        .try_reserve(n)
        .map_err(|_| short_of::<T>(values.len().saturating_add(n)))
}

/// Appends a copy of `more`.
pub(crate) fn extend<T: Copy>(values: &mut Vec<T>, more: &[T]) -> Result<()> {
    reserve(values, more.len())?;
    values.extend_from_slice(more);
    Ok(())
}

/// A copy of `values`.
#[cfg(any(gpu_engine, not(target_arch = "wasm32")))]
pub(crate) fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = with_room(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

#[cfg(all(test, gpu_engine))]
mod tests {
    use super::*;

    /// The size that a failed call asked for.
    fn short<T>(result: Result<T>) -> u64 {
        match result {
            Err(Error::OutOfMemory { requested }) => requested,
            _ => 0,
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_changes_nothing() {
        assert_eq!(short(zeros::<u8>(usize::MAX)), u64::MAX);
        assert_eq!(short(zeros::<u64>(usize::MAX)), u64::MAX);
        let n = usize::MAX / 8;
        assert_eq!(short(with_room::<u32>(n)), n as u64 * 4);
        let mut values = vec![1u16, 2];
        assert_eq!(short(reserve(&mut values, usize::MAX)), u64::MAX);
        let n = usize::MAX - 2;
        assert_eq!(short(reserve_exact(&mut values, n)), u64::MAX);
        assert_eq!(values, [1, 2]);
        assert_eq!(extend(&mut values, &[3]), Ok(()));
        assert_eq!(copied(&values), Ok(vec![1, 2, 3]));
        assert_eq!(zeros::<u16>(3), Ok(vec![0; 3]));
    }
}
