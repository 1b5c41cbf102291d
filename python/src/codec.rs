//! `Codec`: an engine that stays open between calls.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pagepress::batch::{self, BackendRequest, CodecOptions};
use pagepress::lz4::Level;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffers::{Input, Output, new_bytes};
use crate::dictionary::Dictionary;
use crate::errors::{coded, raise};
use crate::frame::{allocation, stated_content};
use crate::options::{self, Frame, backend};
use crate::pages::{self, Pages};
use crate::threads::run;

/// An open engine. Calls from several threads take turns.
#[pyclass(frozen, module = "pagepress")]
pub(crate) struct Codec {
    work: Mutex<Work>,
    options: CodecOptions,
    /// The process that opened a GPU: drivers do not survive a fork.
    process: Option<u32>,
    engine: &'static str,
    reason: String,
}

/// Engine and memory of a codec, for one call at a time.
pub(crate) struct Work {
    pub(crate) codec: batch::Codec,
    /// A frame before it is copied to an object of Python.
    frame: Vec<u8>,
}

impl Codec {
    /// Returns the engine, once no other thread uses it. Call it without the global lock, which that thread may need.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Work> {
        // A panic leaves the codec as an error does.
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the level of `auto`.
    pub(crate) fn auto_level(&self) -> Level {
        Level::auto(self.engine != "cpu", false)
    }

    /// Returns an engine of its own for a stream.
    pub(crate) fn another(&self, py: Python<'_>) -> PyResult<batch::Codec> {
        self.check_process(py)?;
        let options = self.options.clone();
        run(py, || batch::Codec::new(options)).map_err(|error| raise(py, &error))
    }

    /// Fails in a process that was forked after a GPU was opened.
    pub(crate) fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if self
            .process
            .is_none_or(|process| process == std::process::id())
        {
            return Ok(());
        }
        let message = "the GPU was opened before this process was forked; open a Codec in this process, or start processes by \"spawn\" or \"forkserver\"";
        Err(coded(py, "ENGINE", message))
    }
}

#[pymethods]
impl Codec {
    #[new]
    #[pyo3(signature = (engine="auto", *, adapter=None, allow_software=false))]
    fn new(
        py: Python<'_>,
        engine: &str,
        adapter: Option<usize>,
        allow_software: bool,
    ) -> PyResult<Self> {
        let options = CodecOptions {
            backend: backend(py, engine)?,
            allow_software,
            adapter_index: adapter,
            ..CodecOptions::default()
        };
        let opened = options.clone();
        let codec = run(py, || batch::Codec::new(opened)).map_err(|error| raise(py, &error))?;
        let choice = codec.choice();
        let (engine, reason) = (choice.engine, choice.reason.clone());
        let on_gpu = options.backend != BackendRequest::Cpu && engine != "cpu";
        Ok(Self {
            work: Mutex::new(Work {
                codec,
                frame: Vec::new(),
            }),
            options,
            process: on_gpu.then(std::process::id),
            engine,
            reason,
        })
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.engine
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.reason
    }

    fn __repr__(&self) -> String {
        format!("<pagepress.Codec on {}>", self.engine)
    }

    /// Compresses pages.
    #[pyo3(signature = (data, *, page_size=4096, level="auto"))]
    fn compress_pages(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        page_size: u32,
        level: &str,
    ) -> PyResult<Pages> {
        self.check_process(py)?;
        let input = Input::new(data)?;
        let bytes = input.bytes();
        let level = options::level(py, level, self.auto_level())?;
        let compressed = run(py, || {
            self.lock().codec.compress_pages(bytes, page_size, level)
        });
        let (pages, _) = compressed.map_err(|error| raise(py, &error))?;
        Ok(Pages(pages))
    }

    /// Decompresses pages, to new bytes or to a buffer.
    #[pyo3(signature = (pages, *, into=None))]
    fn decompress_pages<'py>(
        &self,
        py: Python<'py>,
        pages: &Pages,
        into: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_process(py)?;
        let pages = &pages.0;
        let to = |out: &mut [u8]| {
            self.lock()
                .codec
                .decompress_pages_into(pages, out)
                .map(|_| ())
        };
        if let Some(into) = into {
            let mut output = Output::new(into)?;
            let out = output.bytes();
            run(py, || to(out)).map_err(|error| raise(py, &error))?;
            return Ok(pages.n_bytes.into_pyobject(py)?.into_any());
        }
        let n_bytes = pages::n_bytes(py, pages)?;
        let filled = new_bytes(py, n_bytes, to)?;
        Ok(filled.map_err(|error| raise(py, &error))?.into_any())
    }

    #[pyo3(signature = (data, *, level="auto", block_size=65536, content_checksum=true, block_checksums=false, index=false, store_size=true, dictionary=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn compress<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        level: &str,
        block_size: u32,
        content_checksum: bool,
        block_checksums: bool,
        index: bool,
        store_size: bool,
        dictionary: Option<&Dictionary>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_process(py)?;
        let input = Input::new(data)?;
        let content = input.bytes();
        let frame = Frame {
            level,
            block_size,
            content_checksum,
            block_checksums,
            index,
            content_size: store_size.then_some(content.len() as u64),
            dictionary,
        };
        let options = frame.options(py, self.auto_level())?;
        // The frame is taken out, so that the lock is not held when the global one is taken again.
        let compressed = run(py, || {
            let mut work = self.lock();
            let mut frame = std::mem::take(&mut work.frame);
            let done = work
                .codec
                .compress_frame_into(content, &options, &mut frame);
            done.map(|_| frame)
        });
        let frame = compressed.map_err(|error| raise(py, &error))?;
        let bytes = PyBytes::new(py, &frame);
        run(py, || keep(&mut self.lock().frame, frame));
        Ok(bytes)
    }

    #[pyo3(signature = (data, *, max_size=None, dictionary=None, into=None))]
    fn decompress<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        max_size: Option<u64>,
        dictionary: Option<&Dictionary>,
        into: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_process(py)?;
        let input = Input::new(data)?;
        let frames = input.unchanging();
        let dictionary = dictionary.map(|dictionary| dictionary.0.clone());
        let to = |out: &mut [u8]| match &dictionary {
            Some(dictionary) => dictionary.decompress_frame_into(&frames, out),
            None => {
                let mut work = self.lock();
                work.codec
                    .decompress_frame_into(&frames, out)
                    .map(|(n_bytes, _)| n_bytes)
            }
        };
        if let Some(into) = into {
            let mut output = Output::new(into)?;
            Output::check_apart(
                py,
                std::slice::from_ref(&output),
                std::slice::from_ref(&input),
            )?;
            let limit = max_size.map_or(usize::MAX, |limit| {
                usize::try_from(limit).unwrap_or(usize::MAX)
            });
            let out = output.bytes();
            let room = out.len().min(limit);
            let n_bytes = run(py, || to(&mut out[..room])).map_err(|error| raise(py, &error))?;
            return Ok(n_bytes.into_pyobject(py)?.into_any());
        }
        let stated = stated_content(&frames, dictionary.as_ref());
        let stated = stated.filter(|&n| n <= max_size.unwrap_or(u64::MAX));
        if let Some(n_bytes) = stated.and_then(|n| allocation(n, frames.len())) {
            let filled = new_bytes(py, n_bytes, |out| match to(out) {
                Ok(found) if found == out.len() => Ok(()),
                found => Err(found.err()),
            })?;
            match filled {
                Ok(bytes) => return Ok(bytes.into_any()),
                // Several frames have more content than the first one states.
                Err(None | Some(pagepress::Error::OutputTooSmall { .. })) => {}
                Err(Some(error)) => return Err(raise(py, &error)),
            }
        }
        let content = run(py, || match &dictionary {
            Some(dictionary) => dictionary.decompress_frame(&frames, max_size),
            None => {
                let decompressed = self.lock().codec.decompress_frame(&frames, max_size);
                decompressed.map(|(content, _)| content)
            }
        });
        let content = content.map_err(|error| raise(py, &error))?;
        Ok(PyBytes::new(py, &content).into_any())
    }
}

/// Most bytes of memory that a codec keeps between calls.
const KEPT_BYTES: usize = 64 << 20;

/// Keeps the larger of two allocations for later calls, up to a limit.
fn keep(kept: &mut Vec<u8>, given: Vec<u8>) {
    if given.capacity() <= KEPT_BYTES && given.capacity() > kept.capacity() {
        *kept = given;
    }
}
