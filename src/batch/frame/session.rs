//! Frames in parts, on whichever engine is faster. These do no input or output of their own and wait for nothing but
//! the engine, so they fit under any reader, writer or runtime; memory is bounded by the size of the parts.

use super::frames::{AnyDecoder, Progress, empty_report};
use crate::batch::codec::{Codec, Report};
use crate::lz4::frame::{FrameOptions, FrameWriter};
use crate::memory::extend;
use crate::{Error, Result};

/// Bytes of content for one step on one core.
#[cfg(feature = "futures-io")]
const ONE_CORE_BYTES: usize = 1 << 20;

/// Compresses one frame from content that comes in pieces of any size.
#[derive(Debug)]
pub struct FrameCompression {
    writer: FrameWriter,
    options: FrameOptions,
    /// Most bytes compressed at a time; `None` leaves it to the engine.
    part_bytes: Option<usize>,
    /// The header, until it is given.
    header: Vec<u8>,
    /// Content that waits for more.
    held: Vec<u8>,
    done: Progress,
    report: Report,
}

impl FrameCompression {
    /// A frame with nothing in it yet. `part_bytes` is how much content is compressed at a time, and held until then;
    /// it is rounded up to whole blocks. `None` takes what the engine does best: 16 MiB on the cores, 128 MiB on a GPU.
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
            options: *options,
            part_bytes,
            header,
            held: Vec::new(),
            done: Progress::default(),
            report: empty_report("there is no content"),
        })
    }

    /// Takes the next piece of content, and appends to `out` what is compressed of it and of what was held.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] and [`crate::Error::OutOfMemory`] on a forced GPU; the frame cannot go on then.
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

    /// Appends what is held to `out`. The last block may be a short one, which costs ratio.
    ///
    /// # Errors
    /// As [`push_async`](Self::push_async).
    pub async fn flush_async(&mut self, codec: &mut Codec, out: &mut Vec<u8>) -> Result<()> {
        let mut part = std::mem::take(&mut self.held);
        let compressed = self.compress(codec, &part, out).await;
        // Its memory is of use for the next part.
        part.clear();
        self.held = part;
        compressed
    }

    /// Appends what is held, and the end of the frame. Nothing is to follow.
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

    /// Content compressed so far, and what it became.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.done
    }

    /// Returns the report of the parts so far.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Bytes that are compressed at a time on `codec`.
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

/// Decompresses any sequence of frames that comes in pieces of any size.
#[derive(Debug)]
pub struct FrameDecompression {
    decoder: AnyDecoder,
    /// Input, of which the first `at` bytes are done with.
    held: Vec<u8>,
    at: usize,
    done: Progress,
    report: Report,
    /// The error after which there is no more content.
    failed: Option<Error>,
}

/// Content that is appended; what is there is taken back if the work on it fails or is dropped.
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
    /// A decoder for `codec` that fails with [`crate::Error::OutputLimit`] rather than give more than `limit` bytes.
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

    /// The same, giving not much more than `group_bytes` of content at a time.
    #[must_use]
    pub fn with_group_bytes(codec: &Codec, limit: Option<u64>, group_bytes: usize) -> Self {
        Self {
            decoder: AnyDecoder::with_group_bytes(codec, limit, group_bytes),
            ..Self::new(codec, limit)
        }
    }

    /// Takes the next piece of input. [`advance_async`](Self::advance_async) makes content of it.
    pub fn push(&mut self, input: &[u8]) {
        if let Err(error) = extend(self.room(), input) {
            self.failed.get_or_insert(error);
        }
    }

    /// Appends some content to `out`; false if there is none before more input comes. One call gives 16 MiB at most on
    /// the CPU and 128 MiB on a GPU, if blocks are not larger.
    ///
    /// # Errors
    /// What is wrong with the frames; [`crate::Error::OutputLimit`]; [`crate::Error::OutOfMemory`];
    /// [`crate::Error::DeviceLost`] on a forced GPU; [`crate::Error::Cancelled`] if a call before was dropped. Nothing is
    /// appended to `out` then, and every call after it gives the same error.
    pub async fn advance_async(&mut self, codec: &mut Codec, out: &mut Vec<u8>) -> Result<bool> {
        self.refuse_if_failed()?;
        let start = out.len();
        let mut appended = Appended {
            out,
            start,
            is_whole: false,
        };
        // A call that is dropped leaves the decoder between two blocks.
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

    /// Says that no more input comes, once [`advance_async`](Self::advance_async) gives nothing.
    ///
    /// # Errors
    /// [`crate::Error::TruncatedFrame`] in a frame, and what else is wrong at its end; the error of an earlier call.
    pub fn finish(&mut self) -> Result<()> {
        self.refuse_if_failed()?;
        let finished = self.decoder.finish(&self.held[self.at..]);
        finished.inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn refuse_if_failed(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Input done with so far, and what it became.
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

/// Most bytes of content for one step where others wait for the thread, as in a browser or under an async runtime.
#[cfg(feature = "futures-io")]
pub(crate) fn step_bytes(codec: &Codec) -> usize {
    #[cfg(gpu_engine)]
    if codec.device().is_some() {
        return crate::batch::codec::gpu_codec::JOB_BYTES as usize;
    }
    let _ = codec;
    ONE_CORE_BYTES
}
