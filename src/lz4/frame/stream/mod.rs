//! Streaming from a reader to a writer: one thread reads, tasks of the thread pool compress or decompress groups of
//! blocks, and the caller's thread writes their results in order. A bounded queue gives backpressure. Buffers circulate,
//! so that memory is bounded and each page of it faults once.

mod compress;
mod decompress;
mod group;
mod parts;
mod tasks;

use std::io::{self, ErrorKind, Read, Write};
use std::ops::ControlFlow;

use super::FrameOptions;
use crate::Error;
use crate::lz4::Dictionary;
use crate::memory::extend;

/// Results shorter than this are collected before they are written.
const MIN_WRITE_BYTES: usize = 64 << 10;

/// The progress of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes read whose result is written.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
}

/// The reason why a stream stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The input cannot be read.
    #[error("reading: {0}")]
    Read(#[source] io::Error),
    /// The output cannot be written.
    #[error("writing: {0}")]
    Write(#[source] io::Error),
    /// A thread cannot be started.
    #[error("starting a thread: {0}")]
    Thread(#[source] io::Error),
    /// The data is invalid, or the caller cancelled.
    #[error(transparent)]
    Codec(#[from] Error),
}

/// Compresses the bytes of `reader` to one frame. `progress` is called after every write; `Break` cancels.
///
/// Memory does not grow with the input. After an error, the reading thread ends with its next read.
///
/// # Errors
/// [`StreamError`]; the bytes written so far are not a whole frame.
pub fn compress_stream<R: Read + Send + 'static>(
    reader: R,
    writer: &mut impl Write,
    options: &FrameOptions,
    progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Progress, StreamError> {
    let mut output = StreamOutput::new(writer, progress);
    compress::compress(reader, &mut output, options)?;
    Ok(output.total)
}

/// Decompresses the frames of `reader`. `progress` is called after every write; `Break` cancels.
///
/// Memory does not grow with the input. After an error, the reading thread ends with its next read.
///
/// # Errors
/// [`StreamError`], with [`Error::OutputLimit`] if the content is longer than `limit` bytes; the bytes written so far
/// are not the whole content.
pub fn decompress_stream<R: Read + Send + 'static>(
    reader: R,
    writer: &mut impl Write,
    limit: Option<u64>,
    progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Progress, StreamError> {
    let mut output = StreamOutput::new(writer, progress);
    decompress::decompress(reader, &mut output, limit, None)?;
    Ok(output.total)
}

/// Streams of frames with a dictionary, which [`FrameOptions::dictionary`] writes.
impl Dictionary {
    /// As [`decompress_stream`], with this dictionary.
    ///
    /// # Errors
    /// As [`decompress_stream`]; [`Error::WrongDictionary`] if a frame states another id.
    pub fn decompress_stream<R: Read + Send + 'static>(
        &self,
        reader: R,
        writer: &mut impl Write,
        limit: Option<u64>,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Progress, StreamError> {
        let mut output = StreamOutput::new(writer, progress);
        decompress::decompress(reader, &mut output, limit, Some(self))?;
        Ok(output.total)
    }
}

/// The writer of a stream.
struct StreamOutput<'a, W: Write, P> {
    writer: &'a mut W,
    /// Results that are too short for a write.
    held: Vec<u8>,
    progress: P,
    total: Progress,
}

impl<'a, W: Write, P: FnMut(Progress) -> ControlFlow<()>> StreamOutput<'a, W, P> {
    fn new(writer: &'a mut W, progress: P) -> Self {
        Self {
            writer,
            held: Vec::new(),
            progress,
            total: Progress::default(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        self.total.bytes_out += bytes.len() as u64;
        if self.held.len() + bytes.len() < MIN_WRITE_BYTES {
            return Ok(extend(&mut self.held, bytes)?);
        }
        self.write_held()?;
        self.writer.write_all(bytes).map_err(StreamError::Write)
    }

    /// Notes that the results of the first `bytes_in` bytes of input were written, and reports progress.
    fn advance_to(&mut self, bytes_in: u64) -> Result<(), StreamError> {
        self.total.bytes_in = bytes_in;
        match (self.progress)(self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled.into()),
        }
    }

    fn write_held(&mut self) -> Result<(), StreamError> {
        let written = self.writer.write_all(&self.held);
        self.held.clear();
        written.map_err(StreamError::Write)
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        self.write_held()?;
        self.writer.flush().map_err(StreamError::Write)
    }
}

/// Reads until `buffer` is full or the input ends; returns the number of bytes.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> Result<usize, StreamError> {
    let mut n_bytes = 0;
    while n_bytes < buffer.len() {
        match reader.read(&mut buffer[n_bytes..]) {
            Ok(0) => break,
            Ok(n_read) => n_bytes = (n_bytes + n_read).min(buffer.len()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(StreamError::Read(error)),
        }
    }
    Ok(n_bytes)
}
