//! Streaming from a reader to a writer: one thread reads, one runs the codec, which uses all cores, and the caller's
//! thread writes. Bounded channels between them give backpressure.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{FrameDecoder, FrameOptions, FrameWriter};
use crate::Error;
use crate::memory::{extend, reserve};

/// Least bytes of one read.
const CHUNK_BYTES: usize = 4 << 20;
/// Least bytes of one read for each core.
const CHUNK_BYTES_PER_CORE: usize = 512 << 10;
/// Chunks that may be queued between two threads.
const QUEUE: usize = 2;

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

/// Output of the codec's thread: the bytes that `consumed` bytes of input gave, or the end.
enum Piece {
    Bytes { consumed: u64, bytes: Vec<u8> },
    End,
}

type Chunks = Receiver<io::Result<Vec<u8>>>;
type Pieces = SyncSender<Result<Piece, StreamError>>;

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
    let options = *options;
    let mut header = Vec::new();
    let frame = FrameWriter::new(&options, &mut header)?;
    let chunk_bytes = CHUNK_BYTES
        .max(CHUNK_BYTES_PER_CORE * rayon::current_num_threads())
        .next_multiple_of(options.block_size as usize);
    run(
        reader,
        writer,
        chunk_bytes,
        progress,
        move |chunks, pieces| compress_chunks(frame, header, &chunks, &pieces),
    )
}

fn compress_chunks(
    mut frame: FrameWriter,
    header: Vec<u8>,
    chunks: &Chunks,
    pieces: &Pieces,
) -> Result<(), StreamError> {
    let mut bytes = header;
    for chunk in chunks {
        let chunk = chunk.map_err(StreamError::Read)?;
        frame.push(&chunk, &mut bytes)?;
        let piece = Piece::Bytes {
            consumed: chunk.len() as u64,
            bytes: std::mem::take(&mut bytes),
        };
        if pieces.send(Ok(piece)).is_err() {
            return Ok(());
        }
    }
    frame.finish(&mut bytes)?;
    // The send fails if the writer stopped, which has reported its error.
    let _ = pieces.send(Ok(Piece::Bytes { consumed: 0, bytes }));
    Ok(())
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
    run(
        reader,
        writer,
        CHUNK_BYTES,
        progress,
        move |chunks, pieces| decompress_chunks(FrameDecoder::new(limit), &chunks, &pieces),
    )
}

fn decompress_chunks(
    mut decoder: FrameDecoder,
    chunks: &Chunks,
    pieces: &Pieces,
) -> Result<(), StreamError> {
    let mut rest = Vec::new();
    for chunk in chunks {
        extend(&mut rest, &chunk.map_err(StreamError::Read)?)?;
        let mut at = 0;
        loop {
            let mut bytes = Vec::new();
            let consumed = decoder.advance(&rest[at..], &mut bytes)?;
            if consumed == 0 {
                break;
            }
            at += consumed;
            if pieces
                .send(Ok(Piece::Bytes {
                    consumed: consumed as u64,
                    bytes,
                }))
                .is_err()
            {
                return Ok(());
            }
        }
        rest.drain(..at);
    }
    Ok(decoder.finish(&rest)?)
}

/// Starts the threads and writes the output of the codec's thread.
fn run<R: Read + Send + 'static>(
    reader: R,
    writer: &mut impl Write,
    chunk_bytes: usize,
    mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    codec: impl FnOnce(Chunks, Pieces) -> Result<(), StreamError> + Send + 'static,
) -> Result<Progress, StreamError> {
    let (chunk_sender, chunks) = sync_channel(QUEUE);
    let (piece_sender, pieces) = sync_channel(QUEUE);
    start("pagepress-read", move || {
        read_chunks(reader, chunk_bytes, &chunk_sender)
    })?;
    start("pagepress-codec", move || {
        let end = codec(chunks, piece_sender.clone()).map(|()| Piece::End);
        // The send fails if the writer stopped, which has reported its error.
        let _ = piece_sender.send(end);
    })?;
    let mut total = Progress::default();
    for piece in pieces {
        match piece? {
            Piece::Bytes { consumed, bytes } => {
                writer.write_all(&bytes).map_err(StreamError::Write)?;
                total.bytes_in += consumed;
                total.bytes_out += bytes.len() as u64;
                if progress(total).is_break() {
                    return Err(Error::Cancelled.into());
                }
            }
            Piece::End => {
                writer.flush().map_err(StreamError::Write)?;
                return Ok(total);
            }
        }
    }
    let message = "the thread of the codec stopped".to_owned();
    Err(Error::Engine {
        engine: "cpu",
        message,
    }
    .into())
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), StreamError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map(drop)
        .map_err(StreamError::Thread)
}

/// Sends full chunks and a shorter last one, until the end, an error, or the receiver is gone.
fn read_chunks(
    mut reader: impl Read,
    chunk_bytes: usize,
    chunks: &SyncSender<io::Result<Vec<u8>>>,
) {
    loop {
        let mut chunk = Vec::new();
        let room = reserve(&mut chunk, chunk_bytes);
        let result = room.map_err(io::Error::from).and_then(|()| {
            (&mut reader)
                .take(chunk_bytes as u64)
                .read_to_end(&mut chunk)
        });
        let end = match result {
            Ok(n_bytes) => n_bytes < chunk_bytes,
            Err(_) => true,
        };
        let message = result.map(|_| chunk);
        let empty = message.as_ref().is_ok_and(Vec::is_empty);
        if (!empty && chunks.send(message).is_err()) || end {
            return;
        }
    }
}
