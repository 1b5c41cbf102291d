//! Exceptions: those of `pagepress/errors.py`, by the code of the error.

use pagepress::Error;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Returns the exception of an error.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    coded(py, error.code(), &error.to_string())
}

/// Returns the exception with this code and message.
pub(crate) fn coded(py: Python<'_>, code: &str, message: &str) -> PyErr {
    let made = py
        .import("pagepress.errors")
        .and_then(|module| module.getattr("from_code")?.call1((code, message)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Returns the exception of an argument outside its domain.
pub(crate) fn argument(py: Python<'_>, message: &str) -> PyErr {
    coded(py, "INVALID_ARGUMENT", message)
}

/// Returns the exception of an I/O error: that of the library or of Python that caused it, else `OSError`.
pub(crate) fn raise_io(py: Python<'_>, error: std::io::Error) -> PyErr {
    if let Some(source) = error.get_ref() {
        if let Some(error) = source.downcast_ref::<Error>() {
            return raise(py, error);
        }
        if let Some(error) = source.downcast_ref::<PyErr>() {
            return error.clone_ref(py);
        }
    }
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => error.into(),
    }
}
