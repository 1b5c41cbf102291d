//! `std::io` adapters: a writer that compresses and a reader that decompresses. Native only.

use std::io::{self, BufRead, Read, Write};

use super::frames::Progress;
use super::session::{FrameCompression, FrameDecompression};
use crate::batch::codec::{Codec, Report};
use crate::lz4::frame::FrameOptions;
use crate::memory::reserve;
use crate::{Error, Result};

/// Size of a read, in bytes.
const READ_BYTES: usize = 1 << 20;

/// Compresses written content to one frame, which it writes to the inner writer.
///
/// The frame is complete only after [`finish`](Self::finish); dropping the writer earlier leaves a truncated frame.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::io::{Read, Write};
/// use pagepress::batch::{Codec, CodecOptions, CompressWriter, DecompressReader};
/// use pagepress::lz4::frame::FrameOptions;
///
/// let codec = Codec::new(CodecOptions::default())?;
/// let mut writer = CompressWriter::new(Vec::new(), codec, &FrameOptions::default())?;
/// writer.write_all(b"pages, pages, pages")?;
/// let (frame, _) = writer.finish()?;
/// let mut content = String::new();
/// let codec = Codec::new(CodecOptions::default())?;
/// DecompressReader::new(frame.as_slice(), codec, None).read_to_string(&mut content)?;
/// assert_eq!(content, "pages, pages, pages");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CompressWriter<W: Write> {
    writer: W,
    codec: Codec,
    session: FrameCompression,
    out: Vec<u8>,
    /// The error that ended the frame.
    failed: Option<Error>,
}

impl<W: Write> CompressWriter<W> {
    /// Creates a writer on the engine of `codec`. It buffers up to 16 MiB of content on the CPU and 128 MiB on a GPU.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a block size out of range.
    pub fn new(writer: W, codec: Codec, options: &FrameOptions) -> Result<Self> {
        Ok(Self {
            session: FrameCompression::new(&codec.frame_options(options), None)?,
            writer,
            codec,
            out: Vec::new(),
            failed: None,
        })
    }

    /// Returns the inner writer. Bytes written to it directly corrupt the frame.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns the bytes of content compressed so far and the bytes of the frame.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.session.progress()
    }

    /// Ends the frame, flushes, and returns the inner writer with a report of the call.
    ///
    /// # Errors
    /// Those of the inner writer and of the codec, the latter as the source of the [`io::Error`].
    pub fn finish(mut self) -> io::Result<(W, Report)> {
        self.refuse_if_failed()?;
        crate::batch::block_on(self.session.finish_async(&mut self.codec, &mut self.out))?;
        self.pass_on()?;
        self.writer.flush()?;
        Ok((self.writer, self.session.report().clone()))
    }

    fn refuse_if_failed(&self) -> io::Result<()> {
        self.failed
            .clone()
            .map_or(Ok(()), |error| Err(error.into()))
    }

    fn note(&mut self, result: Result<()>) -> io::Result<()> {
        result.map_err(|error| {
            self.failed = Some(error.clone());
            error.into()
        })
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let written = self.writer.write_all(&self.out);
        self.out.clear();
        if written.is_err() {
            self.failed = Some(Error::Engine {
                engine: "writer",
                message: "an earlier write failed, so the frame has a gap".into(),
            });
        }
        written
    }
}

impl<W: Write> Write for CompressWriter<W> {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.refuse_if_failed()?;
        let pushed = self
            .session
            .push_async(&mut self.codec, content, &mut self.out);
        let pushed = crate::batch::block_on(pushed);
        self.note(pushed)?;
        self.pass_on()?;
        Ok(content.len())
    }

    /// Compresses buffered content and flushes the inner writer, so that all content written so far can be decompressed.
    /// The last block may be short, so frequent flushes lower the ratio.
    fn flush(&mut self) -> io::Result<()> {
        self.refuse_if_failed()?;
        let flushed = self.session.flush_async(&mut self.codec, &mut self.out);
        let flushed = crate::batch::block_on(flushed);
        self.note(flushed)?;
        self.pass_on()?;
        self.writer.flush()
    }
}

/// Decompresses all frames of the inner reader.
///
/// Content is returned as it is decoded: if the content checksum at the end of a frame is wrong, all but the last decoded
/// part has been returned by then. After an error of the decoder every read fails with that error. Errors of the inner
/// reader are passed on, and the read may be retried.
#[derive(Debug)]
pub struct DecompressReader<R: Read> {
    reader: R,
    codec: Codec,
    session: FrameDecompression,
    input: Vec<u8>,
    out: Vec<u8>,
    /// Bytes of `out` that were consumed.
    taken: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    Frames,
    End,
    Failed(Error),
}

impl<R: Read> DecompressReader<R> {
    /// Creates a reader on the engine of `codec`. It fails with [`Error::OutputLimit`] if the content is longer than `limit`
    /// bytes.
    pub fn new(reader: R, codec: Codec, limit: Option<u64>) -> Self {
        Self {
            session: FrameDecompression::new(&codec, limit),
            reader,
            codec,
            input: Vec::new(),
            out: Vec::new(),
            taken: 0,
            state: State::Frames,
        }
    }

    /// Returns the inner reader. Bytes read from it directly are missing from the frames.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the inner reader, which may be ahead of the decompressed content.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// Returns the bytes of input consumed so far and the bytes of content.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.session.progress()
    }

    /// Returns the report of the calls so far.
    #[must_use]
    pub const fn report(&self) -> &Report {
        self.session.report()
    }

    /// Decompresses into `out`, which is empty, until it has content or the input ends.
    fn fill(&mut self) -> io::Result<()> {
        while self.out.is_empty() {
            match &self.state {
                State::End => return Ok(()),
                State::Failed(error) => return Err(error.clone().into()),
                State::Frames => {}
            }
            let advanced = self.session.advance_async(&mut self.codec, &mut self.out);
            let advanced = crate::batch::block_on(advanced);
            if !self.note(advanced)? {
                self.read()?;
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        reserve(&mut self.input, READ_BYTES)?;
        self.input.resize(READ_BYTES, 0);
        let n_bytes = loop {
            match self.reader.read(&mut self.input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if n_bytes == 0 {
            let finished = self.session.finish();
            self.note(finished)?;
            self.state = State::End;
        }
        let input = self.input.get(..n_bytes).ok_or_else(too_many)?;
        self.session.push(input);
        Ok(())
    }

    /// Keeps an error of the decoder: later input cannot be decoded, and the output of the failed step is not verified.
    fn note<T>(&mut self, result: Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            self.out.clear();
            self.taken = 0;
            self.state = State::Failed(error.clone());
            error.into()
        })
    }
}

/// Returns the error for a reader that reports more bytes than the buffer holds.
fn too_many() -> io::Error {
    let message = "the reader reports more bytes than the buffer holds";
    io::Error::new(io::ErrorKind::InvalidData, message)
}

impl<R: Read> BufRead for DecompressReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.out.len() {
            self.out.clear();
            self.taken = 0;
            self.fill()?;
        }
        Ok(&self.out[self.taken..])
    }

    fn consume(&mut self, n_bytes: usize) {
        self.taken = (self.taken + n_bytes).min(self.out.len());
    }
}

impl<R: Read> Read for DecompressReader<R> {
    fn read(&mut self, content: &mut [u8]) -> io::Result<usize> {
        if content.is_empty() {
            return Ok(0);
        }
        let n_bytes = self.fill_buf()?.read(content)?;
        self.consume(n_bytes);
        Ok(n_bytes)
    }
}
