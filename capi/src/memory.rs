//! Checked views of the caller's memory.

use std::ffi::c_void;

use crate::call::Failure;

/// Rejects null, unless there are no bytes, and sizes above the largest of an object.
fn check(is_null: bool, size: usize, name: &str) -> Result<(), Failure> {
    if is_null && size > 0 {
        return Err(Failure::argument(format!(
            "{name} is null and its size is {size}; give a pointer, or size 0"
        )));
    }
    if isize::try_from(size).is_err() {
        return Err(Failure::argument(format!(
            "the size of {name} is {size}; no object is larger than {}",
            isize::MAX
        )));
    }
    Ok(())
}

/// Rejects a null or misaligned pointer to elements of type `T`.
fn check_elements<T>(at: *const T, n: usize, name: &str) -> Result<(), Failure> {
    let size = n.checked_mul(size_of::<T>());
    let size = size.ok_or_else(|| {
        Failure::argument(format!("{name} has {n} elements; that exceeds all memory"))
    })?;
    check(at.is_null(), size, name)?;
    if at.is_aligned() {
        return Ok(());
    }
    Err(Failure::argument(format!(
        "{name} is at {at:p}; give an address that is a multiple of {}",
        align_of::<T>()
    )))
}

/// Returns the caller's bytes.
///
/// # Safety
/// If `size` is not 0, the caller of the C interface guarantees that `size` bytes at `at` can be read, and that nobody writes them
/// during the call.
pub(crate) unsafe fn input<'a>(
    at: *const c_void,
    size: usize,
    name: &str,
) -> Result<&'a [u8], Failure> {
    check(at.is_null(), size, name)?;
    if size == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null and no larger than an object, as checked; the rest is the guarantee of the function's caller.
    Ok(unsafe { std::slice::from_raw_parts(at.cast(), size) })
}

/// Returns the caller's memory for a result.
///
/// # Safety
/// If `size` is not 0, the caller of the C interface guarantees that `size` bytes at `at` can be read and written, and that nobody
/// else uses them during the call: they overlap no other argument.
pub(crate) unsafe fn output<'a>(
    at: *mut c_void,
    size: usize,
    name: &str,
) -> Result<&'a mut [u8], Failure> {
    check(at.is_null(), size, name)?;
    if size == 0 {
        return Ok(&mut []);
    }
    // SAFETY: not null and no larger than an object, as checked; the rest is the guarantee of the function's caller. Memory that
    // comes from another language has some value, even where that language never wrote it, and this library only writes to it.
    Ok(unsafe { std::slice::from_raw_parts_mut(at.cast(), size) })
}

/// Returns the caller's array of `n` elements.
///
/// # Safety
/// As [`input`], for `n` elements, all of which have a valid value.
pub(crate) unsafe fn elements<'a, T>(
    at: *const T,
    n: usize,
    name: &str,
) -> Result<&'a [T], Failure> {
    check_elements(at, n, name)?;
    if n == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, aligned and no larger than an object, as checked; the rest is the guarantee of the function's caller.
    Ok(unsafe { std::slice::from_raw_parts(at, n) })
}

/// Returns the caller's array for `n` results.
///
/// # Safety
/// As [`output`], for `n` elements of a type of which each bit pattern is a value.
pub(crate) unsafe fn elements_mut<'a, T>(
    at: *mut T,
    n: usize,
    name: &str,
) -> Result<&'a mut [T], Failure> {
    check_elements(at.cast_const(), n, name)?;
    if n == 0 {
        return Ok(&mut []);
    }
    // SAFETY: not null, aligned and no larger than an object, as checked; the rest is the guarantee of the function's caller.
    Ok(unsafe { std::slice::from_raw_parts_mut(at, n) })
}

/// Returns the caller's variable for one result.
///
/// # Safety
/// As [`elements_mut`] for one element.
pub(crate) unsafe fn variable<'a, T>(at: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    check_elements(at.cast_const(), 1, name)?;
    // SAFETY: not null and aligned, as checked; the rest is the guarantee of the function's caller.
    Ok(unsafe { &mut *at })
}

/// Returns the object behind a handle.
///
/// # Safety
/// If `at` is not null, the caller of the C interface guarantees that it came from the function that makes such handles, and was not freed.
pub(crate) unsafe fn handle<'a, T>(at: *const T, name: &str) -> Result<&'a T, Failure> {
    check_elements(at, 1, name)?;
    // SAFETY: not null and aligned, as checked; the rest is the guarantee of the function's caller.
    Ok(unsafe { &*at })
}

/// Copies a result to the start of the caller's memory.
pub(crate) fn give(result: &[u8], out: &mut [u8], written: &mut usize) -> Result<(), Failure> {
    let actual = out.len();
    let room = out.get_mut(..result.len());
    room.ok_or_else(|| Failure::too_small(result.len(), actual))?
        .copy_from_slice(result);
    *written = result.len();
    Ok(())
}
