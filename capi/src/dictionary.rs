//! Dictionaries.

use std::ffi::c_void;

use pagepress::lz4::{Dictionary, train_dictionary};

use crate::call::{Failure, call, value};
use crate::memory::{elements, handle, input, variable};
use crate::status::pp_status;

/// Bytes that stand before each block. Immutable: several threads may use one at the same time.
#[derive(Debug)]
pub struct pp_dictionary(Dictionary);

/// Returns the dictionary of a handle that may be null.
///
/// # Safety
/// `dictionary` is null or a handle that was not freed.
pub(crate) unsafe fn optional<'a>(
    dictionary: *const pp_dictionary,
) -> Result<Option<&'a Dictionary>, Failure> {
    if dictionary.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's guarantee for `dictionary`.
    Ok(Some(unsafe { &handle(dictionary, "dictionary")?.0 }))
}

/// Makes a dictionary of the last 65,536 of these bytes, or of all if there are fewer. Its id is their xxHash32.
/// `*dictionary` is null after an error.
///
/// # Safety
/// `bytes` has `size` bytes; `dictionary` points to a pointer. Free the dictionary with `pp_dictionary_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_dictionary_new(
    bytes: *const c_void,
    size: usize,
    dictionary: *mut *mut pp_dictionary,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantee for `dictionary`.
        let out = unsafe { variable(dictionary, "dictionary") }?;
        *out = std::ptr::null_mut();
        // SAFETY: the caller's guarantee for `bytes`.
        let bytes = unsafe { input(bytes, size, "bytes") }?;
        *out = Box::into_raw(Box::new(pp_dictionary(Dictionary::new(bytes))));
        Ok(())
    })
}

/// Trains a dictionary of at most `dictionary_size` bytes on `n_samples` samples, which follow each other in `samples`. A sample is what
/// becomes one block. `*dictionary` is null after an error.
///
/// # Safety
/// `sizes` has `n_samples` elements and `samples` as many bytes as their sum; `dictionary` points to a pointer. Free the
/// dictionary with `pp_dictionary_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_dictionary_train(
    samples: *const c_void,
    sizes: *const usize,
    n_samples: usize,
    dictionary_size: usize,
    dictionary: *mut *mut pp_dictionary,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantee for `dictionary`.
        let out = unsafe { variable(dictionary, "dictionary") }?;
        *out = std::ptr::null_mut();
        // SAFETY: the caller's guarantee for `sizes`.
        let sizes = unsafe { elements(sizes, n_samples, "sizes") }?;
        let total = sizes.iter().try_fold(0_usize, |sum, &n| sum.checked_add(n));
        let total =
            total.ok_or_else(|| Failure::argument("the sum of sizes exceeds all memory"))?;
        // SAFETY: the caller's guarantee for `samples`.
        let mut rest = unsafe { input(samples, total, "samples") }?;
        let mut parts = Vec::with_capacity(n_samples);
        for &size in sizes {
            let (part, more) = rest.split_at(size);
            parts.push(part);
            rest = more;
        }
        let trained = train_dictionary(&parts, dictionary_size)?;
        *out = Box::into_raw(Box::new(pp_dictionary(trained)));
        Ok(())
    })
}

/// Returns the id that frames state; 0 for null.
///
/// # Safety
/// `dictionary` is null or a dictionary that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_dictionary_id(dictionary: *const pp_dictionary) -> u32 {
    // SAFETY: the caller's guarantee for `dictionary`.
    value(0, || match unsafe { optional(dictionary) } {
        Ok(Some(dictionary)) => dictionary.id(),
        _ => 0,
    })
}

/// Frees a dictionary. Null is ignored. Contexts and streams that were opened with it keep working.
///
/// # Safety
/// `dictionary` is null or a dictionary that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_dictionary_free(dictionary: *mut pp_dictionary) {
    if !dictionary.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller guarantees that it was not freed.
        value((), || drop(unsafe { Box::from_raw(dictionary) }));
    }
}
