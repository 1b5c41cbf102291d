//! Fallible allocation of host memory whose size comes from input: an error where memory runs out, not an abort.
//!
//! The functions for results ask for huge pages where the result is large: its first touch then takes a page fault for
//! every 2 MiB instead of every 4 KiB, which is faster by three to four times. They are for memory that is written from its start
//! without gaps, since a touch of one byte makes a whole huge page resident.

use std::mem::MaybeUninit;

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

/// As [`zeros`], for a result.
#[cfg(gpu_engine)]
pub(crate) fn result_zeros<T: Zeroable>(n: usize) -> Result<Vec<T>> {
    let mut values = zeros(n)?;
    huge_pages::ask(&mut values);
    Ok(values)
}

/// Returns an empty vector with capacity for `n` values.
pub(crate) fn with_room<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    reserve(&mut values, n)?;
    Ok(values)
}

/// As [`reserve`], for a result.
pub(crate) fn reserve_result<T>(values: &mut Vec<T>, n: usize) -> Result<()> {
    let before = values.capacity();
    reserve(values, n)?;
    if values.capacity() != before {
        huge_pages::ask(values);
    }
    Ok(())
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
pub(crate) fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = with_room(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

/// The same memory as memory that may be uninitialised, for code that writes both kinds.
///
/// # Safety
/// Callers write only initialised bytes to it: `bytes` is read as such afterwards.
pub(crate) unsafe fn as_uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the types have one layout, and the borrow is the same. Bytes stay initialised by this function's contract.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// Huge pages, where the system gives them on request (`madvise` in
/// `/sys/kernel/mm/transparent_hugepage/enabled`, the default of most distributions).
#[cfg(all(target_os = "linux", not(miri)))]
mod huge_pages {
    /// Allocations of so many bytes and more ask. Below, most have no whole huge page inside: measured 1.0 times the speed of
    /// the first touch at 2 MiB, 2.0 at 4 MiB, 2.8 at 8 MiB, 4 at 64 MiB and more.
    const FROM_BYTES: usize = 4 << 20;
    /// The system's page size where a huge page is 2 MiB. With larger pages it is up to 512 MiB, too much for one touch.
    const PAGE_BYTES: usize = 4 << 10;

    /// Asks for huge pages under the capacity of `values`, before its first touch. It is advice: nothing depends on the answer.
    pub(super) fn ask<T>(values: &mut Vec<T>) {
        let n_bytes = values.capacity() * size_of::<T>();
        if n_bytes < FROM_BYTES || !has_small_pages() {
            return;
        }
        // Whole pages around the allocation. An allocator's header before it stays in one mapping with it then: the system does
        // not grow what has become two mappings, and `realloc` would copy.
        let start = values.as_mut_ptr().map_addr(|at| at & !(PAGE_BYTES - 1));
        let end = (values.as_ptr().addr() + n_bytes).next_multiple_of(PAGE_BYTES);
        // SAFETY: the range is mapped, as each of its pages has at least one byte of the allocation, which `values` owns. The
        // advice changes no content and no access right, so that it is sound for other data on the first and last page.
        unsafe { libc::madvise(start.cast(), end - start.addr(), libc::MADV_HUGEPAGE) };
    }

    fn has_small_pages() -> bool {
        // SAFETY: the call has no preconditions.
        let n_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        n_bytes == PAGE_BYTES as libc::c_long
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod huge_pages {
    /// Does nothing: other systems have no such request, or need none.
    pub(super) fn ask<T>(_values: &mut Vec<T>) {}
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
        assert_eq!(short(reserve_result(&mut values, n)), u64::MAX);
        assert_eq!(short(result_zeros::<u64>(usize::MAX)), u64::MAX);
        assert_eq!(values, [1, 2, 3]);
    }

    /// Advice changes no byte, whatever the size and the alignment of elements.
    #[test]
    fn large_results_are_as_small_ones() {
        for n in [0, 1, (4 << 20) / 4 - 1, (4 << 20) / 4, (9 << 20) / 4 + 1] {
            assert!(result_zeros::<u32>(n) == Ok(vec![0; n]));
            let mut values = vec![7_u32; 5];
            assert_eq!(reserve_result(&mut values, n), Ok(()));
            assert!(values.capacity() >= n + 5 && values == [7; 5]);
            values.resize(n + 5, 8);
            assert!(values[5..].iter().all(|&value| value == 8));
        }
    }
}
