//! `DeviceArray`: bytes in the memory of a GPU.

use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::engine::Memory;
use super::{dlpack, interface};
use crate::buffers::new_bytes;
use crate::errors::{coded, raise};
use crate::threads::run;

/// Bytes in the memory of a GPU, all work on which is done. The memory is freed when this and all arrays of other libraries that
/// share it are gone.
#[pyclass(frozen, module = "pagepress.cuda")]
pub(crate) struct DeviceArray(pub(super) Arc<Memory>);

/// Fails in a process that was forked after the GPU was opened.
pub(super) fn check_process(py: Python<'_>, is_forked: bool) -> PyResult<()> {
    if !is_forked {
        return Ok(());
    }
    let message = "the GPU was opened before this process was forked; open Chunks in this process, or start processes by \"spawn\" or \"forkserver\"";
    Err(coded(py, "ENGINE", message))
}

/// Copies memory of a GPU to new `bytes`.
pub(super) fn to_bytes<'py>(py: Python<'py>, memory: &Memory) -> PyResult<Bound<'py, PyBytes>> {
    check_process(py, memory.is_forked())?;
    let n_bytes = memory.span().n_bytes as usize;
    let filled = new_bytes(py, n_bytes, |out| memory.download(out))?;
    filled.map_err(|error| raise(py, &error))
}

#[pymethods]
impl DeviceArray {
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.span().n_bytes
    }

    #[getter]
    fn shape(&self) -> (u64,) {
        (self.0.span().n_bytes,)
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        "uint8"
    }

    /// Number of the CUDA device.
    #[getter]
    fn device(&self) -> i32 {
        self.0.ordinal()
    }

    fn __len__(&self) -> usize {
        self.0.span().n_bytes as usize
    }

    fn __repr__(&self) -> String {
        let (n_bytes, device) = (self.0.span().n_bytes, self.0.ordinal());
        format!("<pagepress.cuda.DeviceArray: {n_bytes} bytes on device {device}>")
    }

    /// Copies the bytes to the host.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        to_bytes(py, &self.0)
    }

    #[getter(__cuda_array_interface__)]
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interface::describe(py, self.0.span())
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CUDA, self.0.ordinal())
    }

    /// Returns a capsule of DLPack. There is no work that `stream` has to wait for.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = stream;
        let here = self.__dlpack_device__();
        if let Some((kind, id)) = dl_device.filter(|&device| device != here) {
            let message = format!(
                "the array is on device {here:?}, not on {:?}; ask for that device, or take tobytes()",
                (kind, id)
            );
            return Err(PyBufferError::new_err(message));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        let is_copied = copy == Some(true);
        let memory = if is_copied {
            check_process(py, self.0.is_forked())?;
            let copied = run(py, || self.0.copy());
            Arc::new(copied.map_err(|error| raise(py, &error))?)
        } else {
            Arc::clone(&self.0)
        };
        dlpack::export(py, memory, versioned, is_copied)
    }
}
