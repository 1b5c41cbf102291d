//! Streams frames from a reader to a writer in bounded memory, on the faster engine. Native only.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::frames::{AnyDecoder, Progress, empty_report};
use crate::Error;
use crate::batch::codec::{Codec, Report};
use crate::batch::timing::Timings;
use crate::clock::Clock;
use crate::lz4::frame::{self, FrameOptions, FrameWriter, StreamError};
use crate::memory::extend;

/// Bytes of one read in decompression.
const READ_BYTES: usize = 8 << 20;

type Chunks = Receiver<io::Result<Vec<u8>>>;

impl Codec {
    /// Compresses the output of `reader` to one frame. `progress` is called after every write; `Break` cancels. Memory use
    /// does not grow with the input.
    ///
    /// # Errors
    /// [`StreamError`]; the bytes written until then are a truncated frame.
    pub fn compress_stream<R: Read + Send + 'static>(
        &mut self,
        reader: R,
        writer: &mut impl Write,
        options: &FrameOptions,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Progress, Report), StreamError> {
        let clock = Clock::start();
        let options = &self.frame_options(options);
        if let Some(reason) = self.cpu_only() {
            let reason = reason.to_owned();
            let done =
                frame::compress_stream(reader, writer, options, |done| progress(convert(done)))?;
            return Ok((convert(done), cpu_report(reason, clock)));
        }
        let mut out = Vec::new();
        let mut frame = FrameWriter::new(options, &mut out)?;
        let mut report = empty_report("there is no content");
        let mut done = Progress::default();
        for chunk in read_ahead(reader, self.chunk_bytes(options.block_size))? {
            let chunk = chunk.map_err(StreamError::Read)?;
            report.add(crate::batch::block_on(
                self.push_chunk(&mut frame, options, &chunk, &mut out),
            )?);
            done.bytes_in += chunk.len() as u64;
            write(writer, &mut out, &mut done)?;
            if progress(done).is_break() {
                return Err(Error::Cancelled.into());
            }
        }
        frame.finish(&mut out)?;
        write(writer, &mut out, &mut done)?;
        writer.flush().map_err(StreamError::Write)?;
        report.timings.total_ns = clock.elapsed_ns();
        Ok((done, report))
    }

    /// Decompresses the frames read from `reader`. `progress` is called after every write; `Break` cancels. Memory use does
    /// not grow with the input.
    ///
    /// # Errors
    /// [`StreamError`], with [`Error::OutputLimit`] if the content is longer than `limit` bytes. The bytes written until
    /// then are a prefix of the content.
    pub fn decompress_stream<R: Read + Send + 'static>(
        &mut self,
        reader: R,
        writer: &mut impl Write,
        limit: Option<u64>,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Progress, Report), StreamError> {
        let clock = Clock::start();
        if let Some(reason) = self.cpu_only() {
            let reason = reason.to_owned();
            let progress = |done| progress(convert(done));
            let done = match &self.options.dictionary {
                Some(dictionary) => {
                    dictionary.decompress_stream(reader, writer, limit, progress)?
                }
                None => frame::decompress_stream(reader, writer, limit, progress)?,
            };
            return Ok((convert(done), cpu_report(reason, clock)));
        }
        let mut decoder = AnyDecoder::new(self, limit);
        let mut report = empty_report("there is no content");
        let mut done = Progress::default();
        let (mut rest, mut out) = (Vec::new(), Vec::new());
        for chunk in read_ahead(reader, READ_BYTES)? {
            extend(&mut rest, &chunk.map_err(StreamError::Read)?)?;
            let mut at = 0;
            loop {
                let advanced = decoder.advance(self, &rest[at..], &mut out, &mut report);
                match crate::batch::block_on(advanced)? {
                    0 => break,
                    consumed => at += consumed,
                }
                write(writer, &mut out, &mut done)?;
            }
            rest.drain(..at);
            done.bytes_in += at as u64;
            if progress(done).is_break() {
                return Err(Error::Cancelled.into());
            }
        }
        decoder.finish(&rest)?;
        writer.flush().map_err(StreamError::Write)?;
        report.timings.total_ns = clock.elapsed_ns();
        Ok((done, report))
    }
}

fn convert(progress: frame::Progress) -> Progress {
    Progress {
        bytes_in: progress.bytes_in,
        bytes_out: progress.bytes_out,
    }
}

fn cpu_report(reason: String, clock: Clock) -> Report {
    Report {
        engine: crate::engine::CPU,
        reason,
        timings: Timings::host(clock.elapsed_ns()),
    }
}

fn write(
    writer: &mut impl Write,
    out: &mut Vec<u8>,
    done: &mut Progress,
) -> Result<(), StreamError> {
    writer.write_all(out).map_err(StreamError::Write)?;
    done.bytes_out += out.len() as u64;
    out.clear();
    Ok(())
}

/// Reads chunks of `chunk_bytes`, the last one shorter, on a thread of its own that prefetches one chunk.
fn read_ahead<R: Read + Send + 'static>(
    mut reader: R,
    chunk_bytes: usize,
) -> Result<Chunks, StreamError> {
    let (sender, chunks) = sync_channel(1);
    let read = move || {
        loop {
            let mut chunk = Vec::new();
            let result = (&mut reader)
                .take(chunk_bytes as u64)
                .read_to_end(&mut chunk);
            let is_last = !matches!(result, Ok(n_bytes) if n_bytes == chunk_bytes);
            let is_empty = matches!(result, Ok(0));
            if (!is_empty && sender.send(result.map(|_| chunk)).is_err()) || is_last {
                return;
            }
        }
    };
    let thread = thread::Builder::new()
        .name("pagepress-read".into())
        .spawn(read);
    thread.map(|_| chunks).map_err(StreamError::Thread)
}
