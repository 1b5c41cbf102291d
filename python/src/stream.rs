//! Frames in parts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pagepress::batch::{self, CodecOptions, FrameCompression};
use pagepress::lz4::frame::{FrameDecoder, FrameEvent, FrameReader, Step};
use pagepress::lz4::{self, Level};
use pagepress::{Error, Result};
use pollster::block_on;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffers::Input;
use crate::codec::Codec;
use crate::dictionary::Dictionary;
use crate::errors::{argument, raise};
use crate::options::Frame;
use crate::threads::run;

/// Most bytes of content that are decoded at a time, unless a block is larger.
const GROUP_BYTES: usize = 4 << 20;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // After a panic the stream is over, as after an error.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compresses content, given in pieces, to one frame.
#[pyclass(frozen, module = "pagepress")]
pub(crate) struct Compressor(Mutex<Writing>);

struct Writing {
    session: FrameCompression,
    codec: batch::Codec,
    /// True after the end and after an error.
    is_over: bool,
}

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(signature = (*, level="auto", block_size=65536, content_checksum=true, block_checksums=false, index=false, content_size=None, dictionary=None, codec=None, part_size=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        level: &str,
        block_size: u32,
        content_checksum: bool,
        block_checksums: bool,
        index: bool,
        content_size: Option<u64>,
        dictionary: Option<&Dictionary>,
        codec: Option<&Codec>,
        part_size: Option<usize>,
    ) -> PyResult<Self> {
        let auto = codec.map_or(Level::auto(false, false), Codec::auto_level);
        let frame = Frame {
            level,
            block_size,
            content_checksum,
            block_checksums,
            index,
            content_size,
            dictionary,
        };
        let options = frame.options(py, auto)?;
        let codec = match codec {
            Some(codec) => codec.another(py)?,
            None => cpu().map_err(|error| raise(py, &error))?,
        };
        let session =
            FrameCompression::new(&options, part_size).map_err(|error| raise(py, &error))?;
        Ok(Self(Mutex::new(Writing {
            session,
            codec,
            is_over: false,
        })))
    }

    /// Adds content; returns the bytes of complete parts.
    fn compress<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let input = Input::new(data)?;
        let content = input.bytes();
        self.step(py, false, |writing, out| {
            block_on(writing.session.push_async(&mut writing.codec, content, out))
        })
    }

    /// Compresses all content so far.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, false, |writing, out| {
            block_on(writing.session.flush_async(&mut writing.codec, out))
        })
    }

    /// Ends the frame.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, true, |writing, out| {
            block_on(writing.session.finish_async(&mut writing.codec, out))
        })
    }
}

impl Compressor {
    fn step<'py>(
        &self,
        py: Python<'py>,
        is_last: bool,
        step: impl FnOnce(&mut Writing, &mut Vec<u8>) -> Result<()> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let stepped = run(py, || {
            let mut writing = lock(&self.0);
            if writing.is_over {
                return None;
            }
            writing.is_over = true;
            let mut out = Vec::new();
            let done = step(&mut writing, &mut out);
            writing.is_over = is_last || done.is_err();
            Some(done.map(|()| out))
        });
        match stepped {
            None => Err(argument(
                py,
                "the stream has ended or failed; open another one",
            )),
            Some(out) => Ok(PyBytes::new(py, &out.map_err(|error| raise(py, &error))?)),
        }
    }
}

fn cpu() -> Result<batch::Codec> {
    batch::Codec::new(CodecOptions {
        backend: batch::BackendRequest::Cpu,
        ..CodecOptions::default()
    })
}

/// Decompresses one frame, given in pieces. Skippable frames before it are skipped.
#[pyclass(frozen, module = "pagepress")]
pub(crate) struct Decompressor(Mutex<Reading>);

struct Reading {
    /// Finds the end of the frame.
    reader: FrameReader,
    decoder: FrameDecoder,
    /// Compressed bytes that were not decoded yet, of which `reader` has passed the first `passed`.
    held: Vec<u8>,
    passed: usize,
    /// Content that was not returned yet, from `returned` on.
    out: Vec<u8>,
    returned: usize,
    is_end_found: bool,
    is_finished: bool,
    unused: Vec<u8>,
    failed: Option<Error>,
}

#[pymethods]
impl Decompressor {
    #[new]
    #[pyo3(signature = (*, max_size=None, dictionary=None))]
    fn new(max_size: Option<u64>, dictionary: Option<&Dictionary>) -> Self {
        let dictionary: Option<lz4::Dictionary> = dictionary.map(|dictionary| dictionary.0.clone());
        let decoder = FrameDecoder::new(max_size).with_dictionary(dictionary.clone());
        Self(Mutex::new(Reading {
            reader: FrameReader::new().with_dictionary(dictionary),
            decoder: decoder.with_group_bytes(GROUP_BYTES),
            held: Vec::new(),
            passed: 0,
            out: Vec::new(),
            returned: 0,
            is_end_found: false,
            is_finished: false,
            unused: Vec::new(),
            failed: None,
        }))
    }

    /// Adds compressed bytes; returns at most `max_length` bytes of content, or all that they complete if it is negative.
    #[pyo3(signature = (data, max_length=-1), text_signature = "($self, data, max_length=-1)")]
    fn decompress<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        max_length: isize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let input = Input::new(data)?;
        let bytes = input.unchanging();
        let most = usize::try_from(max_length).unwrap_or(usize::MAX);
        let content = run(py, || {
            let mut reading = lock(&self.0);
            if let Some(error) = &reading.failed {
                return Err(error.clone());
            }
            let done = reading.add(&bytes, most);
            reading.failed = done.as_ref().err().cloned();
            done
        });
        Ok(PyBytes::new(
            py,
            &content.map_err(|error| raise(py, &error))?,
        ))
    }

    /// Ends the input: an error inside a frame.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let finished = run(py, || {
            let mut reading = lock(&self.0);
            let reading = &mut *reading;
            if let Some(error) = &reading.failed {
                return Err(error.clone());
            }
            if reading.is_finished {
                return Ok(());
            }
            let rest = reading.held.get(reading.passed..).unwrap_or_default();
            let ended = reading
                .reader
                .finish(rest)
                .and_then(|_| reading.decoder.finish(rest));
            reading.failed = ended.as_ref().err().cloned();
            ended
        });
        finished.map_err(|error| raise(py, &error))
    }

    /// True after the end of the frame, once all content was returned.
    #[getter]
    fn eof(&self, py: Python<'_>) -> bool {
        run(py, || lock(&self.0).is_eof())
    }

    /// True if more input is needed to return more content.
    #[getter]
    fn needs_input(&self, py: Python<'_>) -> bool {
        run(py, || {
            let reading = lock(&self.0);
            !reading.is_eof() && reading.returned == reading.out.len()
        })
    }

    /// The bytes after the frame, once `eof` is true.
    #[getter]
    fn unused_data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let unused = run(py, || lock(&self.0).unused.clone());
        PyBytes::new(py, &unused)
    }
}

impl Reading {
    fn is_eof(&self) -> bool {
        self.is_finished && self.returned == self.out.len()
    }

    fn add(&mut self, bytes: &[u8], most: usize) -> Result<Vec<u8>> {
        if self.is_end_found {
            self.unused.extend_from_slice(bytes);
        } else {
            self.held.extend_from_slice(bytes);
            self.find_end()?;
        }
        self.out.drain(..self.returned);
        self.returned = 0;
        let mut at = 0;
        while self.out.len() < most && !self.is_finished {
            let ready = self.held.get(at..self.passed).unwrap_or_default();
            match self.decoder.advance(ready, &mut self.out)? {
                0 if self.is_end_found => {
                    self.decoder.finish(ready)?;
                    self.is_finished = true;
                }
                0 => break,
                n_bytes => at += n_bytes,
            }
        }
        self.held.drain(..at);
        self.passed -= at;
        self.returned = self.out.len().min(most);
        Ok(self.out.get(..self.returned).unwrap_or_default().to_vec())
    }

    /// Passes the complete pieces of the frame, and splits off what follows the frame.
    fn find_end(&mut self) -> Result<()> {
        loop {
            let rest = self.held.get(self.passed..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            match self.reader.step(rest)? {
                Step::Event { event, consumed } => {
                    let is_end = matches!(event, FrameEvent::End { .. });
                    self.passed += consumed;
                    if is_end {
                        self.is_end_found = true;
                        self.unused = self.held.split_off(self.passed);
                        return Ok(());
                    }
                }
                Step::More { consumed: 0, .. } => return Ok(()),
                Step::More { consumed, .. } => self.passed += consumed,
            }
        }
    }
}
