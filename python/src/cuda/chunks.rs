//! `Chunks`: compresses arrays in the memory of a GPU.

use std::sync::Arc;

use pagepress::Error;
use pyo3::prelude::*;

use super::array::{DeviceArray, check_process};
use super::blocks::Blocks;
use super::engine::Engine;
use super::foreign::{Access, Foreign};
use super::{frame, raise_block};
use crate::buffers::Input;
use crate::errors::{argument, raise};
use crate::threads::run;

/// Most bytes of a chunk.
const MAX_CHUNK_SIZE: u32 = 65_536;

/// The kernels of a GPU for chunks of up to a number of bytes. Calls return when their work is done; those from several threads take
/// turns.
#[pyclass(frozen, module = "pagepress.cuda")]
pub(crate) struct Chunks {
    engine: Engine,
    chunk_size: u32,
}

#[pymethods]
impl Chunks {
    #[new]
    #[pyo3(signature = (chunk_size=65536, device=0))]
    fn new(py: Python<'_>, chunk_size: u32, device: usize) -> PyResult<Self> {
        if !(1..=MAX_CHUNK_SIZE).contains(&chunk_size) {
            let message = format!("invalid chunk_size: {chunk_size}; give 1 to 65536");
            return Err(argument(py, &message));
        }
        let engine = run(py, || Engine::open(device, chunk_size));
        Ok(Self {
            engine: engine.map_err(|error| raise(py, &error))?,
            chunk_size,
        })
    }

    #[getter]
    fn chunk_size(&self) -> u32 {
        self.chunk_size
    }

    /// Number of the CUDA device.
    #[getter]
    fn device(&self) -> i32 {
        self.engine.ordinal()
    }

    fn __repr__(&self) -> String {
        let (chunk_size, device) = (self.chunk_size, self.engine.ordinal());
        format!("<pagepress.cuda.Chunks: {chunk_size} bytes each, on device {device}>")
    }

    /// Compresses the bytes of an array.
    #[pyo3(signature = (array, *, stream=None))]
    fn compress(
        &self,
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        stream: Option<u64>,
    ) -> PyResult<Blocks> {
        check_process(py, self.engine.is_forked())?;
        let stream = self.stream(stream);
        let array = Foreign::new(&self.engine, array, stream)?;
        let span = array.span;
        // SAFETY: the library of the array guarantees its memory while `array` lives, which is until the call returns, after the work;
        // the caller of Python guarantees the stream, and that nothing writes to the array meanwhile.
        let compressed = run(py, || unsafe { self.engine.compress(span, stream) });
        let (frame, blocks) = compressed.map_err(|error| raise(py, &error))?;
        Ok(Blocks {
            frame,
            blocks,
            n_bytes: span.n_bytes,
            chunk_size: self.chunk_size,
        })
    }

    /// Copies a frame to the GPU.
    fn upload(&self, py: Python<'_>, frame: &Bound<'_, PyAny>) -> PyResult<Blocks> {
        check_process(py, self.engine.is_forked())?;
        let input = Input::new(frame)?;
        let bytes = input.unchanging();
        let uploaded = run(py, || {
            let parsed = frame::parse(&bytes)?;
            let memory = self.engine.upload(parsed.bytes)?;
            Ok(Blocks {
                frame: memory,
                blocks: parsed.blocks,
                n_bytes: parsed.n_bytes,
                chunk_size: parsed.chunk_size,
            })
        });
        uploaded.map_err(|error: Error| raise_block(py, &error))
    }

    /// Decompresses blocks, or a frame in the memory of the host, to a new array or to `out`.
    #[pyo3(signature = (blocks, *, out=None, stream=None))]
    fn decompress<'py>(
        &self,
        py: Python<'py>,
        blocks: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        stream: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_process(py, self.engine.is_forked())?;
        let stream = self.stream(stream);
        if let Ok(blocks) = blocks.cast::<Blocks>() {
            return self.decompress_to(py, blocks.get(), out, stream);
        }
        let blocks = self.upload(py, blocks)?;
        self.decompress_to(py, &blocks, out, stream)
    }
}

impl Chunks {
    /// Returns the handle of the stream on which a call runs. DLPack calls the legacy default stream 1, since 0 has been ambiguous;
    /// the driver knows both.
    fn stream(&self, given: Option<u64>) -> u64 {
        match given {
            None => self.engine.stream(),
            Some(0) => 1,
            Some(handle) => handle,
        }
    }

    fn check_blocks(&self, py: Python<'_>, blocks: &Blocks) -> PyResult<()> {
        let device = self.engine.ordinal();
        if blocks.frame.ordinal() != device {
            let message = format!(
                "the blocks are on CUDA device {}, the kernels on {device}; open Chunks(device={0})",
                blocks.frame.ordinal()
            );
            return Err(argument(py, &message));
        }
        let longest = blocks.blocks.iter().map(|block| block.content).max();
        if let Some(longest) = longest.filter(|&longest| longest > self.chunk_size) {
            let message = format!(
                "the blocks have up to {longest} bytes of content, the kernels are for {}; open Chunks({longest})",
                self.chunk_size
            );
            return Err(argument(py, &message));
        }
        Ok(())
    }

    fn decompress_to<'py>(
        &self,
        py: Python<'py>,
        blocks: &Blocks,
        out: Option<&Bound<'py, PyAny>>,
        stream: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_blocks(py, blocks)?;
        let Some(out) = out else {
            let allocated = run(py, || self.engine.allocate(blocks.n_bytes));
            let memory = allocated.map_err(|error| raise(py, &error))?;
            // SAFETY: both memories were allocated here and live until the call returns; nobody else has the new one. The caller of
            // Python guarantees the stream.
            let done = run(py, || unsafe {
                let frame = blocks.frame.span();
                self.engine
                    .decompress(frame, &blocks.blocks, memory.span(), stream)
            });
            done.map_err(|error| raise_block(py, &error))?;
            return Ok(Bound::new(py, DeviceArray(Arc::clone(&memory)))?.into_any());
        };
        let room = Foreign::new(&self.engine, out, stream)?;
        check_room(py, &room, blocks)?;
        let span = room.span;
        // SAFETY: the library of `out` guarantees its memory while `room` lives, which is until the call returns, and the frame lives as
        // long. The caller of Python guarantees the stream, and that nothing uses `out` meanwhile.
        let done = run(py, || unsafe {
            let frame = blocks.frame.span();
            self.engine.decompress(frame, &blocks.blocks, span, stream)
        });
        done.map_err(|error| raise_block(py, &error))?;
        Ok(out.clone())
    }
}

/// Fails for memory that cannot take the content.
fn check_room(py: Python<'_>, room: &Foreign, blocks: &Blocks) -> PyResult<()> {
    if room.access == Access::Read {
        return Err(argument(
            py,
            "out: the array is read-only; give a writable one",
        ));
    }
    if room.span.overlaps(blocks.frame.span()) {
        return Err(argument(
            py,
            "out: the array overlaps the blocks; give memory of its own",
        ));
    }
    if room.span.n_bytes < blocks.n_bytes {
        return Err(raise(
            py,
            &Error::OutputTooSmall {
                needed: blocks.n_bytes,
                actual: room.span.n_bytes,
            },
        ));
    }
    Ok(())
}
