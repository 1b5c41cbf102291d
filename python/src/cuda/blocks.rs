//! `Blocks`: an LZ4 frame in the memory of a GPU, and the places of its blocks.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::array::{DeviceArray, to_bytes};
use super::engine::Memory;
use super::frame::Block;

/// An LZ4 frame in the memory of a GPU, and the places of its blocks. Immutable.
#[pyclass(frozen, module = "pagepress.cuda")]
pub(crate) struct Blocks {
    pub(super) frame: Arc<Memory>,
    pub(super) blocks: Vec<Block>,
    pub(super) n_bytes: u64,
    pub(super) chunk_size: u32,
}

#[pymethods]
impl Blocks {
    /// Bytes of the content.
    #[getter]
    fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Most bytes of content of a block.
    #[getter]
    fn chunk_size(&self) -> u32 {
        self.chunk_size
    }

    /// Bytes of each block.
    #[getter]
    fn sizes(&self) -> Vec<u32> {
        self.blocks.iter().map(|block| block.n_bytes).collect()
    }

    /// First byte of each block in `data`, behind its size.
    #[getter]
    fn offsets(&self) -> Vec<u64> {
        self.blocks.iter().map(|block| block.offset).collect()
    }

    /// The frame, in the memory of the GPU.
    #[getter]
    fn data(&self) -> DeviceArray {
        DeviceArray(Arc::clone(&self.frame))
    }

    /// Copies the frame to the host: the content of an `.lz4` file.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        to_bytes(py, &self.frame)
    }

    fn __len__(&self) -> usize {
        self.blocks.len()
    }

    fn __repr__(&self) -> String {
        let (n, n_bytes) = (self.blocks.len(), self.n_bytes);
        let frame = self.frame.span().n_bytes;
        format!("<pagepress.cuda.Blocks: {n} of {n_bytes} bytes, {frame} compressed>")
    }
}
