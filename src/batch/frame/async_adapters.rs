//! `futures-io` adapters: the asynchronous twins of the `std::io` adapters.
//!
//! `futures-io` has only traits and no dependencies; use `tokio_util::compat` for tokio's traits. CPU work runs in the
//! polling task, 1 MiB at a time.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

use super::frames::Progress;
use super::session::{FrameCompression, FrameDecompression, step_bytes};
use crate::batch::codec::{Codec, Report};
use crate::lz4::frame::FrameOptions;
use crate::memory::zeros;
use crate::{Error, Result};

/// Size of a read, in bytes.
const READ_BYTES: usize = 256 << 10;
/// Maximum bytes of content consumed by one write.
const MAX_WRITE_BYTES: usize = 1 << 20;

#[cfg(not(target_arch = "wasm32"))]
type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// Futures need not be `Send` in a browser: no value moves to another thread.
#[cfg(target_arch = "wasm32")]
type Work<T> = Pin<Box<dyn Future<Output = T>>>;

/// A codec and a session, moved into the future that works on them and back.
struct Engine<S> {
    codec: Codec,
    session: S,
    out: Vec<u8>,
}

enum State<S> {
    Idle(Box<Engine<S>>),
    Working(Work<(Box<Engine<S>>, Result<bool>)>),
    /// The codec failed, or the future that owned it was dropped.
    Failed(Error),
}

impl<S> fmt::Debug for State<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(_) => f.write_str("Idle"),
            Self::Working(_) => f.write_str("Working"),
            Self::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
        }
    }
}

impl<S> State<S> {
    fn new(codec: Codec, session: S) -> Self {
        Self::Idle(Box::new(Engine {
            codec,
            session,
            out: Vec::new(),
        }))
    }

    /// Polls the work under way; returns the engine when it is idle, with the result of the work if there was any.
    fn poll_engine(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<(&mut Engine<S>, Option<bool>)>> {
        let mut gave = None;
        if let Self::Working(work) = self {
            let (engine, result) = ready!(work.as_mut().poll(context));
            *self = match result {
                Ok(value) => {
                    gave = Some(value);
                    Self::Idle(engine)
                }
                Err(error) => Self::Failed(error),
            };
        }
        match self {
            Self::Idle(engine) => Poll::Ready(Ok((engine, gave))),
            Self::Failed(error) => Poll::Ready(Err(error.clone().into())),
            Self::Working(_) => Poll::Pending,
        }
    }

    /// Starts work on the idle engine.
    fn start(&mut self, work: impl FnOnce(Box<Engine<S>>) -> Work<(Box<Engine<S>>, Result<bool>)>) {
        let lost = Error::Engine {
            engine: "stream",
            message: "work that had the codec did not end".into(),
        };
        *self = match std::mem::replace(self, Self::Failed(lost)) {
            Self::Idle(engine) => Self::Working(work(engine)),
            other => other,
        };
    }
}

/// Compresses written content to one frame, which it writes to the inner writer.
///
/// Closing it ends the frame; dropping it earlier leaves a truncated frame.
#[derive(Debug)]
pub struct AsyncCompressWriter<W> {
    writer: W,
    state: State<FrameCompression>,
    /// Bytes of the output that the inner writer accepted.
    written: usize,
    is_flushed: bool,
    is_ended: bool,
}

impl<W: AsyncWrite + Unpin> AsyncCompressWriter<W> {
    /// Creates a writer on the engine of `codec`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a block size out of range.
    pub fn new(writer: W, codec: Codec, options: &FrameOptions) -> Result<Self> {
        let options = codec.frame_options(options);
        let session = FrameCompression::new(&options, Some(step_bytes(&codec)))?;
        Ok(Self {
            writer,
            state: State::new(codec, session),
            written: 0,
            is_flushed: true,
            is_ended: false,
        })
    }

    /// Returns progress and report; `None` while work is under way, for example after a write that was not flushed.
    pub fn progress(&self) -> Option<(Progress, &Report)> {
        match &self.state {
            State::Idle(engine) => Some((engine.session.progress(), engine.session.report())),
            _ => None,
        }
    }

    /// Returns the inner writer. Bytes written to it directly corrupt the frame.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns the inner writer.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Writes all compressed bytes to the inner writer.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (engine, _) = ready!(self.state.poll_engine(context))?;
        while self.written < engine.out.len() {
            let rest = &engine.out[self.written..];
            match ready!(Pin::new(&mut self.writer).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n_bytes => self.written += n_bytes,
            }
        }
        engine.out.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

/// Work of a writer on its engine.
enum Task {
    Push(Vec<u8>),
    Flush,
    End,
}

async fn compress(
    mut engine: Box<Engine<FrameCompression>>,
    task: Task,
) -> (Box<Engine<FrameCompression>>, Result<bool>) {
    let Engine {
        codec,
        session,
        out,
    } = &mut *engine;
    let done = match task {
        Task::Push(content) => session.push_async(codec, &content, out).await,
        Task::Flush => session.flush_async(codec, out).await,
        Task::End => session.finish_async(codec, out).await,
    };
    (engine, done.map(|()| true))
}

async fn decompress(
    mut engine: Box<Engine<FrameDecompression>>,
) -> (Box<Engine<FrameDecompression>>, Result<bool>) {
    let Engine {
        codec,
        session,
        out,
    } = &mut *engine;
    let advanced = session.advance_async(codec, out).await;
    (engine, advanced)
}

impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncCompressWriter<W> {
    /// Accepts content once the compressed bytes of earlier content are written. The next call returns its errors.
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        content: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_drain(context))?;
        if this.is_ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let part = content[..content.len().min(MAX_WRITE_BYTES)].to_vec();
        let n_bytes = part.len();
        this.is_flushed = false;
        this.state
            .start(|engine| Box::pin(compress(engine, Task::Push(part))));
        Poll::Ready(Ok(n_bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            ready!(this.poll_drain(context))?;
            if this.is_flushed {
                return Pin::new(&mut this.writer).poll_flush(context);
            }
            this.is_flushed = true;
            this.state
                .start(|engine| Box::pin(compress(engine, Task::Flush)));
        }
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            ready!(this.poll_drain(context))?;
            if this.is_ended {
                return Pin::new(&mut this.writer).poll_close(context);
            }
            (this.is_ended, this.is_flushed) = (true, true);
            this.state
                .start(|engine| Box::pin(compress(engine, Task::End)));
        }
    }
}

/// Decompresses all frames of the inner reader.
///
/// After an error of the decoder every read fails with that error. Errors of the inner reader are passed on, and the read
/// may be retried.
#[derive(Debug)]
pub struct AsyncDecompressReader<R> {
    reader: R,
    state: State<FrameDecompression>,
    input: Vec<u8>,
    /// Bytes of the output that were consumed.
    taken: usize,
    wants_input: bool,
    is_ended: bool,
}

impl<R: AsyncRead + Unpin> AsyncDecompressReader<R> {
    /// Creates a reader on the engine of `codec`. It fails with [`Error::OutputLimit`] if the content is longer than `limit`
    /// bytes.
    pub fn new(reader: R, codec: Codec, limit: Option<u64>) -> Self {
        let group_bytes = step_bytes(&codec);
        let session = FrameDecompression::with_group_bytes(&codec, limit, group_bytes);
        Self {
            reader,
            state: State::new(codec, session),
            input: Vec::new(),
            taken: 0,
            wants_input: true,
            is_ended: false,
        }
    }

    /// Returns progress and report; `None` while work is under way.
    pub fn progress(&self) -> Option<(Progress, &Report)> {
        match &self.state {
            State::Idle(engine) => Some((engine.session.progress(), engine.session.report())),
            _ => None,
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
}

/// Returns the error for a reader that reports more bytes than the buffer holds.
fn too_many() -> io::Error {
    let message = "the reader says that it gave more bytes than there was room for";
    io::Error::new(io::ErrorKind::InvalidData, message)
}

impl<R: AsyncRead + Unpin> AsyncRead for AsyncDecompressReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        content: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            let (engine, gave) = ready!(this.state.poll_engine(context))?;
            this.wants_input |= gave == Some(false);
            let ready_bytes = &engine.out[this.taken..];
            if !ready_bytes.is_empty() || this.is_ended || content.is_empty() {
                let n_bytes = ready_bytes.len().min(content.len());
                content[..n_bytes].copy_from_slice(&ready_bytes[..n_bytes]);
                this.taken += n_bytes;
                return Poll::Ready(Ok(n_bytes));
            }
            engine.out.clear();
            this.taken = 0;
            if this.wants_input {
                if this.input.is_empty() {
                    this.input = zeros(READ_BYTES)?;
                }
                let reader = Pin::new(&mut this.reader);
                let n_bytes = ready!(reader.poll_read(context, &mut this.input))?;
                if n_bytes == 0 {
                    this.is_ended = true;
                    if let Err(error) = engine.session.finish() {
                        this.state = State::Failed(error);
                    }
                    continue;
                }
                let input = this.input.get(..n_bytes).ok_or_else(too_many)?;
                engine.session.push(input);
                this.wants_input = false;
            }
            this.state.start(|engine| Box::pin(decompress(engine)));
        }
    }
}
