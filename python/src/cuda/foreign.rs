//! Arrays of other libraries in the memory of the GPU.

use pyo3::intern;
use pyo3::prelude::*;

use super::dlpack::{self, Imported};
use super::engine::Engine;
use super::{Span, interface};
use crate::errors::{argument, raise};
use crate::threads::run;

/// The use of memory that its owner allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    ReadWrite,
}

impl Access {
    pub(super) const fn of(read_only: bool) -> Self {
        if read_only {
            Self::Read
        } else {
            Self::ReadWrite
        }
    }
}

/// A contiguous array, which cannot be freed while this exists.
pub(super) struct Foreign {
    pub(super) span: Span,
    pub(super) access: Access,
    /// Keeps the memory.
    _owner: Owner,
}

/// The object that keeps the memory of an array alive.
#[expect(dead_code, reason = "dropped, not read")]
enum Owner {
    Tensor(Imported),
    Object(Py<PyAny>),
}

impl Foreign {
    /// Returns the memory of an array on the GPU of `engine`. Work on `stream` from now on comes after the work that its library has
    /// enqueued on it, as both protocols order it.
    pub(super) fn new(engine: &Engine, array: &Bound<'_, PyAny>, stream: u64) -> PyResult<Self> {
        let py = array.py();
        let foreign = Self::of_either(engine, array, stream)?;
        if foreign.span.n_bytes > 0 {
            let checked = engine.check_address(foreign.span.address);
            checked.map_err(|error| raise(py, &error))?;
        }
        if foreign
            .span
            .address
            .checked_add(foreign.span.n_bytes)
            .is_none()
        {
            let message = format!(
                "the array has {} bytes from {:#x} on; give memory that ends below 2^64",
                foreign.span.n_bytes, foreign.span.address
            );
            return Err(argument(py, &message));
        }
        Ok(foreign)
    }

    fn of_either(engine: &Engine, array: &Bound<'_, PyAny>, stream: u64) -> PyResult<Self> {
        let py = array.py();
        // DLPack first: PyTorch's dictionary names no stream.
        if array.hasattr(intern!(py, "__dlpack__"))?
            && array.hasattr(intern!(py, "__dlpack_device__"))?
        {
            let tensor = dlpack::import(array, engine.ordinal(), stream)?;
            return Ok(Self {
                span: tensor.span(py)?,
                access: tensor.access(),
                _owner: Owner::Tensor(tensor),
            });
        }
        let Some(interface) = array.getattr_opt(intern!(py, "__cuda_array_interface__"))? else {
            let message = format!(
                "{} has neither __dlpack__ nor __cuda_array_interface__; give an array of PyTorch, CuPy, JAX or Numba on CUDA device {}",
                array.get_type().name()?,
                engine.ordinal()
            );
            return Err(argument(py, &message));
        };
        let described = interface::read(&interface)?;
        if let Some(producer) = described.stream {
            // SAFETY: the protocol makes the library guarantee the handle of its stream while the array lives, and the caller of Python
            // guarantees `stream`.
            let ordered = run(py, || unsafe { engine.order(producer, stream) });
            ordered.map_err(|error| raise(py, &error))?;
        }
        Ok(Self {
            span: described.span,
            access: described.access,
            _owner: Owner::Object(array.clone().unbind()),
        })
    }
}
