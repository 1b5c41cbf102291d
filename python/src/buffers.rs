//! Memory of Python objects: any contiguous buffer as input, `bytes` and writable buffers as output.

use std::borrow::Cow;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::argument;

/// A contiguous buffer of an object, which cannot be freed or resized while this exists.
pub(crate) struct Input(PyUntypedBuffer);

impl Input {
    /// Returns the buffer of `object`.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() {
            let message = "the buffer is not contiguous; give a contiguous copy, such as numpy.ascontiguousarray(array)";
            return Err(argument(object.py(), message));
        }
        Ok(Self(buffer))
    }

    /// Returns the bytes. While the global lock is released, other threads of Python could write to a writable buffer; the encoder reads
    /// each byte within bounds that do not depend on it, and the package's documents forbid it.
    pub(crate) fn bytes(&self) -> &[u8] {
        let n_bytes = self.0.len_bytes();
        if n_bytes == 0 {
            return &[];
        }
        // SAFETY: Python guarantees that a contiguous buffer of this length is at this address until it is released, which the
        // borrow of `self` delays. That nobody writes to it is the caller's duty, as for `zlib` and `hashlib` of Python.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast_const().cast(), n_bytes) }
    }

    /// Returns bytes that no thread can change: a copy, if the buffer is writable. Decoders follow their input, so it must not change.
    pub(crate) fn unchanging(&self) -> Cow<'_, [u8]> {
        if self.0.readonly() {
            Cow::Borrowed(self.bytes())
        } else {
            Cow::Owned(self.bytes().to_vec())
        }
    }
}

/// A writable contiguous buffer of an object.
pub(crate) struct Output(PyUntypedBuffer);

impl Output {
    /// Returns the buffer of `object`.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if buffer.readonly() {
            return Err(argument(
                object.py(),
                "into: the buffer is read-only; give a bytearray or an array",
            ));
        }
        if !buffer.is_c_contiguous() {
            return Err(argument(
                object.py(),
                "into: the buffer is not contiguous; give a contiguous one",
            ));
        }
        Ok(Self(buffer))
    }

    /// Fails if the buffers overlap each other or an input, which would be read and written at once.
    pub(crate) fn check_apart(py: Python<'_>, outputs: &[Self], inputs: &[Input]) -> PyResult<()> {
        let range = |buffer: &PyUntypedBuffer| {
            let start = buffer.buf_ptr() as usize;
            start..start + buffer.len_bytes()
        };
        let mut ranges: Vec<_> = outputs
            .iter()
            .map(|output| (range(&output.0), true))
            .collect();
        ranges.extend(inputs.iter().map(|input| (range(&input.0), false)));
        ranges.retain(|(range, _)| !range.is_empty());
        ranges.sort_unstable_by_key(|(range, _)| range.start);
        // Of the ranges so far: the farthest end of all, and that of outputs.
        let (mut end, mut end_of_outputs) = (0, 0);
        for (range, is_output) in ranges {
            if range.start < if is_output { end } else { end_of_outputs } {
                return Err(argument(
                    py,
                    "into: the buffer overlaps another one of this call; give memory of its own",
                ));
            }
            end = end.max(range.end);
            if is_output {
                end_of_outputs = end_of_outputs.max(range.end);
            }
        }
        Ok(())
    }

    /// Returns the memory for a result.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        let n_bytes = self.0.len_bytes();
        if n_bytes == 0 {
            return &mut [];
        }
        // SAFETY: Python guarantees that a writable contiguous buffer of this length is at this address until it is released, which
        // the borrow of `self` delays. That nobody else uses it is the caller's duty, as for `readinto` of Python's files.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast(), n_bytes) }
    }
}

/// A new `bytes` object whose content is to be written. No other reference to it exists.
pub(crate) struct NewBytes<'py> {
    object: Bound<'py, PyBytes>,
    n_bytes: usize,
}

impl<'py> NewBytes<'py> {
    /// Allocates an object.
    pub(crate) fn new(py: Python<'py>, n_bytes: usize) -> PyResult<Self> {
        let length = ffi::Py_ssize_t::try_from(n_bytes).map_err(|_| {
            argument(
                py,
                &format!("{n_bytes} bytes are more than an object can have"),
            )
        })?;
        // SAFETY: the global lock is held; null makes an object whose bytes are to be written. It is owned, or null after an error,
        // which `from_owned_ptr_or_err` tells apart.
        let object = unsafe {
            let made = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length);
            Bound::from_owned_ptr_or_err(py, made)?
        };
        // SAFETY: the function above returns nothing but bytes.
        let object = unsafe { object.cast_into_unchecked::<PyBytes>() };
        Ok(Self { object, n_bytes })
    }

    /// Returns the memory of the object.
    pub(crate) fn memory(&mut self) -> &mut [u8] {
        // Python shares the empty object.
        if self.n_bytes == 0 {
            return &mut [];
        }
        // SAFETY: the object has `n_bytes` bytes at this address, and no other reference to it exists, as it was made here and is
        // given away only by value. Memory that comes from another language has some value, and callers only write to it.
        unsafe {
            let start = ffi::PyBytes_AsString(self.object.as_ptr()).cast::<u8>();
            std::slice::from_raw_parts_mut(start, self.n_bytes)
        }
    }

    /// Returns the object, all of whose bytes were written.
    pub(crate) fn finish(self) -> Bound<'py, PyBytes> {
        self.object
    }
}

/// Returns a new `bytes` object of `n_bytes`, which `fill` writes without the global lock.
pub(crate) fn new_bytes<'py, E: Send>(
    py: Python<'py>,
    n_bytes: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E> + Send,
) -> PyResult<Result<Bound<'py, PyBytes>, E>> {
    let mut bytes = NewBytes::new(py, n_bytes)?;
    let memory = bytes.memory();
    let filled = crate::threads::run(py, || fill(memory));
    Ok(filled.map(|()| bytes.finish()))
}
