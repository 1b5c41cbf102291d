//! Memory of this package as a tensor of bytes.

use std::ffi::c_void;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;

use super::abi::{
    CUDA, DataType, Device, IS_COPIED, Managed, Tensor, UINT, Unversioned, Versioned,
};
use crate::cuda::engine::Memory;

/// A tensor with what it points to. The tensor comes first, so that the address of both is the same.
#[repr(C)]
struct Exported<T> {
    managed: T,
    shape: [i64; 1],
    strides: [i64; 1],
    /// Keeps the memory.
    _memory: Arc<Memory>,
}

/// Returns a capsule with a tensor of the bytes of `memory`, with or without a version.
pub(crate) fn export(
    py: Python<'_>,
    memory: Arc<Memory>,
    versioned: bool,
    is_copied: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let flags = if is_copied { IS_COPIED } else { 0 };
    if versioned {
        capsule::<Versioned>(py, memory, flags)
    } else {
        capsule::<Unversioned>(py, memory, flags)
    }
}

fn capsule<T: Managed>(
    py: Python<'_>,
    memory: Arc<Memory>,
    flags: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let managed = exported::<T>(memory, flags);
    // SAFETY: the global lock is held, the name is static, and the result is owned, or null after an error. `discard` frees the tensor
    // unless a library takes it.
    unsafe {
        let made = ffi::PyCapsule_New(managed.cast(), T::NAME.as_ptr(), Some(discard::<T>));
        if made.is_null() {
            delete(managed);
        }
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// Returns a tensor, which `delete` frees.
fn exported<T: Managed>(memory: Arc<Memory>, flags: u64) -> *mut T {
    let span = memory.span();
    let tensor = Tensor {
        data: std::ptr::with_exposed_provenance_mut::<c_void>(span.address as usize),
        device: Device {
            kind: CUDA,
            id: memory.ordinal(),
        },
        n_axes: 1,
        data_type: DataType {
            code: UINT,
            bits: 8,
            lanes: 1,
        },
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let exported = Box::into_raw(Box::new(Exported {
        managed: T::new(tensor, flags, Some(delete::<T>)),
        shape: [span.n_bytes as i64],
        strides: [1],
        _memory: memory,
    }));
    // SAFETY: the box was made above, and nobody else has its address yet. Its fields stay where they are until `delete` frees it.
    unsafe {
        let (shape, strides) = (&raw mut (*exported).shape, &raw mut (*exported).strides);
        let tensor = (*exported).managed.tensor_mut();
        (tensor.shape, tensor.strides) = (shape.cast(), strides.cast());
    }
    exported.cast()
}

/// Frees a tensor. Libraries call it once, on any thread and without the global lock: nothing here is an object of Python.
///
/// # Safety
/// `exported` made the tensor, and nobody uses it afterwards.
unsafe extern "C" fn delete<T: Managed>(managed: *mut T) {
    if !managed.is_null() {
        // SAFETY: `exported` made it as the first field of this box and gave the address of the whole box; the caller guarantees that
        // it is freed once.
        drop(unsafe { Box::from_raw(managed.cast::<Exported<T>>()) });
    }
}

/// Frees the tensor of a capsule that no library took.
///
/// # Safety
/// Python calls it with a capsule that `capsule` made, whose last reference is gone.
unsafe extern "C" fn discard<T: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python guarantees the capsule. A library that takes the tensor renames it, by the protocol, so that a capsule of this name
    // still has the tensor that `exported` made.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, T::NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, T::NAME.as_ptr()).cast::<T>());
        }
    }
}
