//! Frames under `futures-io`: the asynchronous twins of the adapters of `std::io`.
//!
//! `futures-io` is nothing but traits, without dependencies; tokio's own traits are reached through `tokio_util::compat`.
//! The work of the CPU is done in the task that polls, 1 MiB at a time; that of a GPU elsewhere.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

use super::codec::{Codec, Report};
use super::frames::Progress;
use super::session::{FrameCompression, FrameDecompression, step_bytes};
use crate::lz4::frame::FrameOptions;
use crate::memory::zeros;
use crate::{Error, Result};

/// Bytes asked of a reader at a time.
const READ_BYTES: usize = 256 << 10;
/// Bytes of content taken by one write at most.
const MAX_WRITE_BYTES: usize = 1 << 20;

#[cfg(not(target_arch = "wasm32"))]
type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// In a browser nothing moves to another thread.
#[cfg(target_arch = "wasm32")]
type Work<T> = Pin<Box<dyn Future<Output = T>>>;

/// A codec with one end of a stream, which work takes and gives back.
struct Engine<S> {
    codec: Codec,
    session: S,
    out: Vec<u8>,
}

enum State<S> {
    Idle(Box<Engine<S>>),
    Working(Work<(Box<Engine<S>>, Result<bool>)>),
    /// The codec failed, or a future that had it was dropped.
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

    /// The engine once its work is done, and what that gave, if there was any.
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

    /// Starts work that needs the engine, which is idle.
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

/// Compresses what is written to it to one frame, which goes to the writer inside.
///
/// Closing it ends the frame; dropping it before leaves a truncated frame.
#[derive(Debug)]
pub struct AsyncCompressWriter<W> {
    writer: W,
    state: State<FrameCompression>,
    /// Bytes of the output that the writer took.
    written: usize,
    is_flushed: bool,
    is_ended: bool,
}

impl<W: AsyncWrite + Unpin> AsyncCompressWriter<W> {
    /// A writer on the engine of `codec`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a block size out of range.
    pub fn new(writer: W, codec: Codec, options: &FrameOptions) -> Result<Self> {
        let session = FrameCompression::new(options, Some(step_bytes(&codec)))?;
        Ok(Self {
            writer,
            state: State::new(codec, session),
            written: 0,
            is_flushed: true,
            is_ended: false,
        })
    }

    /// Content compressed so far and what it became, and how; `None` while work is under way, as after a
    /// write that was not flushed.
    pub fn progress(&self) -> Option<(Progress, &Report)> {
        match &self.state {
            State::Idle(engine) => Some((engine.session.progress(), engine.session.report())),
            _ => None,
        }
    }

    /// The writer inside. What is written to it lands in the middle of the frame.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Gives the writer back.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Passes on all that is compressed.
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

/// What a writer has its engine do.
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
    /// Takes content once what was compressed of earlier content is passed on. What goes wrong with it is told by the
    /// next call.
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

/// Decompresses the frames that the reader inside gives, to its end.
///
/// After an error of the decoder every read gives that error; one of the reader inside is passed on, and reading may be tried
/// again.
#[derive(Debug)]
pub struct AsyncDecompressReader<R> {
    reader: R,
    state: State<FrameDecompression>,
    input: Vec<u8>,
    /// Bytes of the output that were taken.
    taken: usize,
    wants_input: bool,
    is_ended: bool,
}

impl<R: AsyncRead + Unpin> AsyncDecompressReader<R> {
    /// A reader on the engine of `codec`, which fails with [`Error::OutputLimit`] rather than give more than `limit`
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

    /// Input done with so far and what it became, and how; `None` while work is under way.
    pub fn progress(&self) -> Option<(Progress, &Report)> {
        match &self.state {
            State::Idle(engine) => Some((engine.session.progress(), engine.session.report())),
            _ => None,
        }
    }

    /// The reader inside. What is read from it is missing here.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Gives the reader back, which may be ahead of what was decompressed.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

/// The error for a reader that says it gave more than it was asked for.
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
