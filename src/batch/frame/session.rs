//! Compresses and decompresses frames in parts, on the faster engine. Sessions do no I/O and await only the engine, so
//! they work with any reader, writer or runtime. Memory use is bounded by the size of the parts.

use super::frames::{AnyDecoder, Progress, empty_report};
use crate::batch::codec::{Codec, Report};
use crate::lz4::frame::{FrameOptions, FrameWriter};
use crate::memory::extend;
use crate::{Error, Result};

/// Bytes of content per step on one core.
#[cfg(feature = "futures-io")]
const ONE_CORE_BYTES: usize = 1 << 20;

/// Compresses content, passed in pieces of any size, to one frame.
#[derive(Debug)]
pub struct FrameCompression {
    writer: FrameWriter,
    options: FrameOptions,
    /// Maximum number of bytes compressed at a time; `None` selects the best size for the engine.
    part_bytes: Option<usize>,
    /// The header, until it is written to the output.
    header: Vec<u8>,
    /// Content that is buffered until a part is complete.
    held: Vec<u8>,
    done: Progress,
    report: Report,
}

impl FrameCompression {
    /// Creates an empty frame. `part_bytes` is the number of bytes of content that are buffered and compressed at a
    /// time, rounded up to whole blocks. `None` selects the best size for the engine: 16 MiB on the CPU, 128 MiB on a
    /// GPU.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for a block size out of range.
    pub fn new(options: &FrameOptions, part_bytes: Option<usize>) -> Result<Self> {
        let mut header = Vec::new();
        let writer = FrameWriter::new(options, &mut header)?;
        let block_bytes = options.block_size as usize;
        let part_bytes = part_bytes.map(|bytes| bytes.max(1).next_multiple_of(block_bytes));
        Ok(Self {
            writer,
            options: options.clone(),
            part_bytes,
            header,
            held: Vec::new(),
            done: Progress::default(),
            report: empty_report("there is no content"),
        })
    }

    /// Adds the next piece of content, and appends the compressed bytes of all complete parts to `out`.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] and [`crate::Error::OutOfMemory`] on a forced GPU. The frame cannot be continued
    /// then.
    pub async fn push_async(
        &mut self,
        codec: &mut Codec,
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let part_bytes = self.part_bytes(codec);
        let mut rest = content;
        if !self.held.is_empty() {
            let (fits, more) = rest.split_at(rest.len().min(part_bytes - self.held.len()));
            extend(&mut self.held, fits)?;
            rest = more;
            if self.held.len() < part_bytes {
                return Ok(());
            }
            self.flush_async(codec, out).await?;
        }
        while rest.len() >= part_bytes {
            let (part, more) = rest.split_at(part_bytes);
            self.compress(codec, part, out).await?;
            rest = more;
        }
        extend(&mut self.held, rest)
    }

    /// Compresses the buffered content and appends it to `out`. The last block may be short, which lowers the ratio.
    ///
    /// # Errors
    /// As [`push_async`](Self::push_async).
    pub async fn flush_async(&mut self, codec: &mut Codec, out: &mut Vec<u8>) -> Result<()> {
        let mut part = std::mem::take(&mut self.held);
        let compressed = self.compress(codec, &part, out).await;
        // Reuses the allocation for the next part.
        part.clear();
        self.held = part;
        compressed
    }

    /// Compresses the buffered content and appends it and the end of the frame to `out`. Nothing may follow.
    ///
    /// # Errors
    /// As [`push_async`](Self::push_async); [`crate::Error::ContentSizeMismatch`] if the options name another size.
    pub async fn finish_async(&mut self, codec: &mut Codec, out: &mut Vec<u8>) -> Result<()> {
        self.flush_async(codec, out).await?;
        let start = out.len();
        self.writer.end(out)?;
        self.done.bytes_out += (out.len() - start) as u64;
        Ok(())
    }

    /// Returns the bytes of content compressed so far, and of output.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.done
    }

    /// Returns the report of the parts so far.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the number of bytes that are compressed at a time on `codec`.
    pub(crate) fn part_bytes(&self, codec: &Codec) -> usize {
        self.part_bytes
            .unwrap_or_else(|| codec.chunk_bytes(self.options.block_size))
    }

    async fn compress(&mut self, codec: &mut Codec, part: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        out.append(&mut self.header);
        if !part.is_empty() {
            let pushed = codec.push_chunk(&mut self.writer, &self.options, part, out);
            self.report.add(pushed.await?);
        }
        self.done.bytes_in += part.len() as u64;
        self.done.bytes_out += (out.len() - start) as u64;
        Ok(())
    }
}

/// Decompresses any sequence of frames, passed in pieces of any size.
#[derive(Debug)]
pub struct FrameDecompression {
    decoder: AnyDecoder,
    /// Input; the first `at` bytes have been consumed.
    held: Vec<u8>,
    at: usize,
    done: Progress,
    report: Report,
    /// The error that ended decompression. All later calls return it.
    failed: Option<Error>,
}

/// Appended content, which is removed again on drop unless `is_whole`: after an error, or if the future is dropped.
struct Appended<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    is_whole: bool,
}

impl Drop for Appended<'_> {
    fn drop(&mut self) {
        if !self.is_whole {
            self.out.truncate(self.start);
        }
    }
}

impl FrameDecompression {
    /// Creates a decoder on the engine of `codec`. It fails with [`crate::Error::OutputLimit`] if the content is longer
    /// than `limit` bytes.
    #[must_use]
    pub fn new(codec: &Codec, limit: Option<u64>) -> Self {
        Self {
            decoder: AnyDecoder::new(codec, limit),
            held: Vec::new(),
            at: 0,
            done: Progress::default(),
            report: empty_report("there is no content"),
            failed: None,
        }
    }

    /// Creates a decoder that returns little more than `group_bytes` of content per call; else as [`new`](Self::new).
    #[must_use]
    pub fn with_group_bytes(codec: &Codec, limit: Option<u64>, group_bytes: usize) -> Self {
        Self {
            decoder: AnyDecoder::with_group_bytes(codec, limit, group_bytes),
            ..Self::new(codec, limit)
        }
    }

    /// Adds the next piece of input, for [`advance_async`](Self::advance_async).
    pub fn push(&mut self, input: &[u8]) {
        if let Err(error) = extend(self.room(), input) {
            self.failed.get_or_insert(error);
        }
    }

    /// Decompresses some content and appends it to `out`; returns false if more input is needed. Unless blocks hold
    /// more than the first of their frame, one call appends at most 16 MiB on the CPU and 128 MiB on a GPU.
    ///
    /// # Errors
    /// Errors of the frames; [`crate::Error::OutputLimit`]; [`crate::Error::OutOfMemory`]; [`crate::Error::DeviceLost`]
    /// on a forced GPU; [`crate::Error::Cancelled`] if the future of an earlier call was dropped. Nothing is appended
    /// to `out` then, and every later call returns the same error.
    pub async fn advance_async(&mut self, codec: &mut Codec, out: &mut Vec<u8>) -> Result<bool> {
        self.refuse_if_failed()?;
        let start = out.len();
        let mut appended = Appended {
            out,
            start,
            is_whole: false,
        };
        // If this future is dropped, the decoder stays in the middle of a step.
        self.failed = Some(Error::Cancelled);
        let rest = &self.held[self.at..];
        let advanced = self
            .decoder
            .advance(codec, rest, appended.out, &mut self.report);
        let advanced = advanced.await;
        self.failed = advanced.as_ref().err().cloned();
        let consumed = advanced?;
        appended.is_whole = true;
        self.at += consumed;
        self.done.bytes_in += consumed as u64;
        self.done.bytes_out += (appended.out.len() - start) as u64;
        Ok(consumed > 0)
    }

    /// Ends the input, after [`advance_async`](Self::advance_async) has returned false.
    ///
    /// # Errors
    /// [`crate::Error::TruncatedFrame`] inside a frame, other errors at the end of a frame, and the error of an earlier
    /// call.
    pub fn finish(&mut self) -> Result<()> {
        self.refuse_if_failed()?;
        let finished = self.decoder.finish(&self.held[self.at..]);
        finished.inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn refuse_if_failed(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Returns the bytes of input consumed so far, and of content.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.done
    }

    /// Returns the report of the calls so far.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the buffer for the next input.
    pub(crate) fn room(&mut self) -> &mut Vec<u8> {
        self.held.drain(..self.at);
        self.at = 0;
        &mut self.held
    }
}

/// Returns the maximum number of bytes of content per step where a step blocks a thread that others need: in a browser
/// or under an async runtime.
#[cfg(feature = "futures-io")]
pub(crate) fn step_bytes(codec: &Codec) -> usize {
    #[cfg(gpu_engine)]
    if codec.device().is_some() {
        return crate::batch::codec::gpu_codec::JOB_BYTES as usize;
    }
    let _ = codec;
    ONE_CORE_BYTES
}
