//! Tensors of other libraries.

use std::ptr::NonNull;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{ffi, types::PyCapsule};

use super::abi::{CUDA, CUDA_MANAGED, MAJOR, Managed, READ_ONLY, Tensor, Unversioned, Versioned};
use crate::cuda::Span;
use crate::cuda::foreign::Access;
use crate::cuda::layout::Layout;
use crate::errors::argument;

/// Most axes of an array, above which its description is taken for damaged.
const MAX_AXES: i32 = 64;

/// A tensor that was taken out of its capsule. Dropping it calls its deleter; do so with the global lock, which some need.
pub(crate) struct Imported {
    tensor: Tensor,
    access: Access,
    _managed: Taken,
}

/// A structure that is to be deleted.
#[expect(dead_code, reason = "dropped, not read")]
enum Taken {
    Unversioned(Owned<Unversioned>),
    Versioned(Owned<Versioned>),
}

struct Owned<T: Managed>(NonNull<T>);

impl<T: Managed> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `take` has it from a capsule, whose library guarantees structure and deleter until this call, which happens once.
        unsafe {
            if let Some(delete) = self.0.as_ref().deleter() {
                delete(self.0.as_ptr());
            }
        }
    }
}

/// Takes the tensor of an array on the GPU `ordinal`. The library makes work on `stream` wait for its own.
pub(crate) fn import(array: &Bound<'_, PyAny>, ordinal: i32, stream: u64) -> PyResult<Imported> {
    check_device(array, ordinal)?;
    let capsule = capsule_of(array, stream)?;
    let imported = of_capsule(&capsule)?;
    let device = imported.tensor.device;
    is_on(device.kind, device.id, ordinal)
        .then_some(imported)
        .ok_or_else(|| elsewhere(array.py(), device.kind, device.id, ordinal))
}

/// Fails for an array elsewhere, before its library is asked for it.
fn check_device(array: &Bound<'_, PyAny>, ordinal: i32) -> PyResult<()> {
    let py = array.py();
    let device = array.call_method0(intern!(py, "__dlpack_device__"))?;
    let (kind, id): (i32, i32) = device.extract()?;
    if is_on(kind, id, ordinal) {
        return Ok(());
    }
    Err(elsewhere(py, kind, id, ordinal))
}

const fn is_on(kind: i32, id: i32, ordinal: i32) -> bool {
    matches!(kind, CUDA | CUDA_MANAGED) && id == ordinal
}

fn elsewhere(py: Python<'_>, kind: i32, id: i32, ordinal: i32) -> PyErr {
    let found = match kind {
        1 => "the CPU".to_owned(),
        CUDA | CUDA_MANAGED => format!("CUDA device {id}"),
        3 => "the host, pinned".to_owned(),
        kind => format!("device {id} of DLPack's type {kind}"),
    };
    let remedy = format!(
        "give one on CUDA device {ordinal}, such as tensor.to(\"cuda:{ordinal}\") or cupy.asarray(array)"
    );
    let message = match kind {
        CUDA | CUDA_MANAGED => {
            format!("the array is on {found}; {remedy}, or open Chunks(device={id})")
        }
        _ => format!("the array is on {found}; {remedy}"),
    };
    argument(py, &message)
}

/// Asks a library for a capsule: with a version if it knows versions.
fn capsule_of<'py>(array: &Bound<'py, PyAny>, stream: u64) -> PyResult<Bound<'py, PyCapsule>> {
    let py = array.py();
    let named = PyDict::new(py);
    named.set_item("stream", stream)?;
    let old = named.copy()?;
    named.set_item("max_version", (MAJOR, 0))?;
    let name = intern!(py, "__dlpack__");
    let capsule = match array.call_method(name, (), Some(&named)) {
        // Libraries from before version 1 do not know the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            array.call_method(name, (), Some(&old))?
        }
        given => given?,
    };
    Ok(capsule.cast_into::<PyCapsule>()?)
}

fn of_capsule(capsule: &Bound<'_, PyCapsule>) -> PyResult<Imported> {
    let py = capsule.py();
    if let Some(owned) = take::<Versioned>(capsule)? {
        // SAFETY: the library guarantees the first fields of a structure in a capsule of this name.
        let major = unsafe { (*owned.0.as_ptr()).major };
        if major != MAJOR {
            let message =
                format!("the array has version {major} of DLPack; give one of version {MAJOR}");
            return Err(argument(py, &message));
        }
        // SAFETY: and the others, if the version is this one.
        let (tensor, flags) = unsafe { ((*owned.0.as_ptr()).tensor, (*owned.0.as_ptr()).flags) };
        return Ok(Imported {
            tensor,
            access: Access::of(flags & READ_ONLY != 0),
            _managed: Taken::Versioned(owned),
        });
    }
    if let Some(owned) = take::<Unversioned>(capsule)? {
        // SAFETY: the library guarantees the structure in a capsule of this name.
        let tensor = unsafe { (*owned.0.as_ptr()).tensor };
        return Ok(Imported {
            tensor,
            access: Access::ReadWrite,
            _managed: Taken::Unversioned(owned),
        });
    }
    let message = "__dlpack__ returned a capsule without a tensor, or a used one; give an array whose __dlpack__ returns a new capsule";
    Err(argument(py, message))
}

/// Takes the structure out of a capsule of its name, which is marked as used.
fn take<T: Managed>(capsule: &Bound<'_, PyCapsule>) -> PyResult<Option<Owned<T>>> {
    let object = capsule.as_ptr();
    // SAFETY: the global lock is held, the object is a capsule, and the names are static.
    let pointer = unsafe {
        if ffi::PyCapsule_IsValid(object, T::NAME.as_ptr()) == 0 {
            return Ok(None);
        }
        let pointer = ffi::PyCapsule_GetPointer(object, T::NAME.as_ptr());
        if ffi::PyCapsule_SetName(object, T::USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        pointer
    };
    Ok(NonNull::new(pointer.cast::<T>()).map(Owned))
}

impl Imported {
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Returns the memory of the tensor.
    pub(crate) fn span(&self, py: Python<'_>) -> PyResult<Span> {
        let tensor = &self.tensor;
        let axes = usize::try_from(tensor.n_axes).unwrap_or(usize::MAX);
        if !(0..=MAX_AXES).contains(&tensor.n_axes) || axes > 0 && tensor.shape.is_null() {
            let message = format!(
                "the array has {} axes; give one of at most {MAX_AXES}, with a shape",
                tensor.n_axes
            );
            return Err(argument(py, &message));
        }
        let list = |start: *mut i64| {
            if axes == 0 || start.is_null() {
                return None;
            }
            // SAFETY: the library guarantees an element for each axis at an address that is not null, until the deleter is called.
            Some(unsafe { std::slice::from_raw_parts(start.cast_const(), axes) })
        };
        let data_type = tensor.data_type;
        let bits = u64::from(data_type.bits) * u64::from(data_type.lanes);
        if bits == 0 || !bits.is_multiple_of(8) {
            let message = format!(
                "the array has elements of {bits} bits; give whole bytes, such as a view of it as uint8"
            );
            return Err(argument(py, &message));
        }
        let layout = Layout {
            shape: list(tensor.shape).unwrap_or_default(),
            strides: list(tensor.strides),
            unit: 1,
        };
        let n_bytes = layout.n_bytes(py, bits / 8)?;
        let start = (tensor.data.expose_provenance() as u64).checked_add(tensor.byte_offset);
        let address = start
            .ok_or_else(|| argument(py, "the array starts beyond all memory; give another one"))?;
        Ok(Span { address, n_bytes })
    }
}
