//! The CUDA array interface: a dictionary that describes an array in device memory.
//! <https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html>

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::layout::Layout;
use super::{Span, foreign::Access};
use crate::errors::argument;

/// Newest version whose fields are known here.
const VERSION: i64 = 3;

/// An array in device memory, as its dictionary describes it.
pub(super) struct Described {
    pub(super) span: Span,
    pub(super) access: Access,
    /// The stream whose work the array waits for, if it waits for any.
    pub(super) stream: Option<u64>,
}

/// Reads the dictionary of an array.
pub(super) fn read(interface: &Bound<'_, PyAny>) -> PyResult<Described> {
    let py = interface.py();
    let field = |name: &str| match interface.get_item(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_none())),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyKeyError>(py) => Ok(None),
        Err(error) => Err(error),
    };
    let needed = |name: &str| {
        let missing = || {
            argument(
                py,
                &format!(
                    "__cuda_array_interface__ has no {name:?}; give an array that describes all of itself"
                ),
            )
        };
        field(name)?.ok_or_else(missing)
    };
    let version: i64 = needed("version")?.extract()?;
    if !(0..=VERSION).contains(&version) {
        let message = format!(
            "__cuda_array_interface__ has version {version}; give an array of version 0 to {VERSION}"
        );
        return Err(argument(py, &message));
    }
    if field("mask")?.is_some() {
        let message = "the array has a mask; give its data and its mask as two arrays";
        return Err(argument(py, message));
    }
    let shape: Vec<i64> = needed("shape")?.extract()?;
    let strides: Option<Vec<i64>> = field("strides")?.map(|value| value.extract()).transpose()?;
    let typestr: String = needed("typestr")?.extract()?;
    let element = element_bytes(py, &typestr)?;
    let layout = Layout {
        shape: &shape,
        strides: strides.as_deref(),
        unit: i64::from(element),
    };
    let n_bytes = layout.n_bytes(py, element.into())?;
    let (address, read_only): (u64, bool) = needed("data")?.extract()?;
    let stream: Option<u64> = field("stream")?.map(|value| value.extract()).transpose()?;
    if stream == Some(0) {
        let message = "__cuda_array_interface__ has the stream 0, which the protocol forbids; give an array whose stream is None, 1 (legacy), 2 (per thread) or a handle";
        return Err(argument(py, message));
    }
    Ok(Described {
        span: Span { address, n_bytes },
        access: Access::of(read_only),
        stream,
    })
}

/// Returns the bytes of an element, whose type is for example `"<f4"`.
fn element_bytes(py: Python<'_>, typestr: &str) -> PyResult<u32> {
    let mut letters = typestr.chars();
    let order = letters.next();
    let kind = letters.next();
    let digits = letters.as_str();
    let n_bytes = Some(digits)
        .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u32>().ok());
    // Bit fields, objects and strings of characters do not count bytes.
    match (order, kind, n_bytes) {
        (
            Some('<' | '>' | '|' | '='),
            Some('b' | 'i' | 'u' | 'f' | 'c' | 'm' | 'M' | 'V' | 'S'),
            Some(n_bytes),
        ) if n_bytes > 0 => Ok(n_bytes),
        _ => {
            let message = format!(
                "the array has elements of the type {typestr:?}; give numbers, or a view of them as bytes"
            );
            Err(argument(py, &message))
        }
    }
}

/// Returns the dictionary of memory whose work is done.
pub(super) fn describe(py: Python<'_>, span: Span) -> PyResult<Bound<'_, PyDict>> {
    let interface = PyDict::new(py);
    interface.set_item("shape", (span.n_bytes,))?;
    interface.set_item("typestr", "|u1")?;
    interface.set_item("data", (span.address, false))?;
    interface.set_item("strides", py.None())?;
    interface.set_item("version", VERSION)?;
    // There is no work to wait for.
    interface.set_item("stream", py.None())?;
    Ok(interface)
}
