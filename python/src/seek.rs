//! `SeekableReader`: random access to the content of files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pagepress::lz4::frame::SeekableFrame;
use pyo3::prelude::*;

use crate::buffers::Output;
use crate::dictionary::Dictionary;
use crate::errors::{argument, raise_io};
use crate::threads::run;

/// Bytes of compressed data.
trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// A file object of Python.
struct PythonFile(Py<PyAny>);

impl Read for PythonFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let bytes = self.0.call_method1(py, "read", (out.len(),))?;
            let bytes: &[u8] = bytes.extract(py).map_err(PyErr::from)?;
            let Some(room) = out.get_mut(..bytes.len()) else {
                return Err(argument(
                    py,
                    "read() of the file returned more bytes than it was asked for",
                )
                .into());
            };
            room.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}

impl Seek for PythonFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        Python::attach(|py| {
            let at = match to {
                SeekFrom::Start(at) => self.0.call_method1(py, "seek", (at, 0)),
                SeekFrom::Current(offset) => self.0.call_method1(py, "seek", (offset, 1)),
                SeekFrom::End(offset) => self.0.call_method1(py, "seek", (offset, 2)),
            };
            Ok(at?.extract(py)?)
        })
    }
}

/// Reads any part of the content of a file.
#[pyclass(frozen, module = "pagepress")]
pub(crate) struct SeekableReader(Mutex<SeekableFrame<Box<dyn Source>>>);

#[pymethods]
impl SeekableReader {
    /// Opens a path, or a file object with `read` and `seek`.
    #[new]
    #[pyo3(signature = (file, *, dictionary=None))]
    fn new(
        py: Python<'_>,
        file: &Bound<'_, PyAny>,
        dictionary: Option<&Dictionary>,
    ) -> PyResult<Self> {
        let path: Option<PathBuf> = match file.hasattr("read")? {
            true => None,
            false => Some(file.extract()?),
        };
        let object = file.clone().unbind();
        let dictionary = dictionary.map(|dictionary| dictionary.0.clone());
        let open = || {
            let source: Box<dyn Source> = match path {
                Some(path) => Box::new(File::open(path)?),
                None => Box::new(PythonFile(object)),
            };
            match dictionary {
                Some(dictionary) => SeekableFrame::open_with_dictionary(source, dictionary),
                None => SeekableFrame::open(source),
            }
        };
        let opened = run(py, open).map_err(|error| raise_io(py, error))?;
        Ok(Self(Mutex::new(opened)))
    }

    /// True if the file has an index.
    #[getter]
    fn has_index(&self, py: Python<'_>) -> bool {
        run(py, || self.lock().has_index())
    }

    /// Returns the bytes of all content.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        run(py, || self.lock().content_bytes()).map_err(|error| raise_io(py, error))
    }

    /// Fills a buffer with the content from byte `at` on, as far as there is content; returns the number of bytes.
    fn read_into(&self, py: Python<'_>, at: u64, into: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut output = Output::new(into)?;
        let out = output.bytes();
        let read = || {
            let mut frame = self.lock();
            frame.seek(SeekFrom::Start(at))?;
            let mut n_bytes = 0;
            while let Some(rest) = out.get_mut(n_bytes..).filter(|rest| !rest.is_empty()) {
                match frame.read(rest)? {
                    0 => break,
                    more => n_bytes += more,
                }
            }
            Ok(n_bytes)
        };
        run(py, read).map_err(|error| raise_io(py, error))
    }
}

impl SeekableReader {
    fn lock(&self) -> MutexGuard<'_, SeekableFrame<Box<dyn Source>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
