//! Compresses and decompresses frames (`.lz4` files) in memory, on the faster engine.

use std::ops::ControlFlow;

use crate::batch::codec::choose::Plan;
#[cfg(gpu_engine)]
use crate::batch::codec::no_gpu;
use crate::batch::codec::{Codec, Report, on_host};
use crate::batch::timing::Timings;
use crate::clock::Clock;
#[cfg(gpu_engine)]
use crate::gpu::Backend;
use crate::lz4::frame::{FrameDecoder, FrameOptions, FrameWriter, Given, Output, give_back};
use crate::lz4::is_page_size;
#[cfg(not(target_arch = "wasm32"))]
use crate::lz4::{MAX_PAGE_SIZE, frame::expected_content};
use crate::{Error, Result};

/// Progress of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes of input consumed.
    pub bytes_in: u64,
    /// Bytes of output produced.
    pub bytes_out: u64,
}

/// Bytes of content that the CPU processes between two reports of progress.
const CPU_CHUNK_BYTES: usize = if cfg!(target_arch = "wasm32") {
    2 << 20
} else {
    16 << 20
};

/// Bytes of content that a blocking call on a GPU handles at a time: its jobs stay in flight meanwhile.
#[cfg(gpu_engine)]
const BLOCKING_BYTES: usize = 1 << 30;

/// Returns the reason why no GPU can write the blocks of these options, if there is one.
fn cpu_blocks(options: &FrameOptions) -> Option<String> {
    let n_bytes = options.block_size;
    (!is_page_size(n_bytes)).then(|| {
        format!("blocks of {n_bytes} bytes are the CPU's; GPUs take 4, 8, 16, 32 and 64 KiB")
    })
}

/// Returns an empty report on the CPU.
pub(in crate::batch) fn empty_report(reason: &str) -> Report {
    Report {
        engine: crate::engine::CPU,
        reason: reason.to_owned(),
        timings: Timings::default(),
    }
}

impl Codec {
    /// Returns `options` with the dictionary of the codec, unless they have one.
    pub(in crate::batch) fn frame_options(&self, options: &FrameOptions) -> FrameOptions {
        let dictionary = options.dictionary.as_ref();
        FrameOptions {
            dictionary: dictionary.or(self.options.dictionary.as_ref()).cloned(),
            ..options.clone()
        }
    }

    /// Returns the number of bytes of content per call for the best throughput.
    pub(in crate::batch) fn chunk_bytes(&self, block_size: u32) -> usize {
        #[cfg(gpu_engine)]
        if self.device().is_some() && is_page_size(block_size) {
            return crate::batch::codec::gpu_codec::CHUNK_BYTES;
        }
        CPU_CHUNK_BYTES.next_multiple_of(block_size.max(1) as usize)
    }

    /// Returns the number of bytes of content that a blocking call on a GPU handles at a time; `None` for other calls.
    fn blocking_bytes(&self) -> Option<usize> {
        #[cfg(gpu_engine)]
        if self.may_block() {
            return Some(BLOCKING_BYTES);
        }
        None
    }

    /// Compresses `content` to one frame. `progress` is called after every piece; `Break` cancels.
    ///
    /// Blocks of 4, 8, 16, 32 and 64 KiB can run on a GPU; others run on the CPU, and the report says so.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a block size out of range; [`Error::ContentSizeMismatch`] if the options name
    /// another content size; [`Error::Cancelled`]; [`Error::DeviceLost`] and [`Error::OutOfMemory`] on a forced GPU.
    pub async fn compress_frame_async(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Vec<u8>, Report)> {
        let mut out = Vec::new();
        let compressed = self.compress_frame_into_async(content, options, &mut out, progress);
        let report = compressed.await?;
        give_back(&mut out);
        Ok((out, report))
    }

    /// As [`compress_frame_async`](Self::compress_frame_async), into the memory of `out`, whose contents are overwritten. It
    /// grows to the bytes of the worst case, those of `content` and of the blocks' sizes; the system makes only what is written
    /// resident.
    ///
    /// # Errors
    /// As [`compress_frame_async`](Self::compress_frame_async); `out` is empty then.
    pub async fn compress_frame_into_async(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
        out: &mut Vec<u8>,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Report> {
        out.clear();
        let compressed = self.compress_frame_to(content, options, out, progress);
        let compressed = compressed.await;
        compressed.inspect_err(|_| out.clear())
    }

    async fn compress_frame_to(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
        out: &mut Vec<u8>,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Report> {
        let clock = Clock::start();
        let options = &self.frame_options(options);
        let mut writer = FrameWriter::new(options, out)?;
        writer.reserve(content.len(), out)?;
        let mut report = empty_report("there is no content");
        let mut done = Progress::default();
        let chunk_bytes = match self.blocking_bytes() {
            Some(bytes) => bytes.next_multiple_of(options.block_size.max(1) as usize),
            None => self.chunk_bytes(options.block_size),
        };
        for chunk in content.chunks(chunk_bytes) {
            let pushed = self.push_chunk(&mut writer, options, chunk, out);
            report.add(pushed.await?);
            done.bytes_in += chunk.len() as u64;
            done.bytes_out = out.len() as u64;
            if progress(done).is_break() {
                return Err(Error::Cancelled);
            }
        }
        writer.finish(out)?;
        report.timings.total_ns = clock.elapsed_ns();
        Ok(report)
    }

    /// Appends the blocks of `chunk` to a frame; all chunks but the last are a multiple of the block size.
    pub(in crate::batch) async fn push_chunk(
        &mut self,
        writer: &mut FrameWriter,
        options: &FrameOptions,
        chunk: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Report> {
        let (page_size, level) = (options.block_size, options.level);
        let dictionary = options.dictionary.as_ref();
        let cpus = cpu_blocks(options).filter(|_| self.cpu_only().is_none());
        let reason = if let Some(reason) = cpus {
            reason
        } else {
            match self
                .plan_compress(chunk, page_size, level, dictionary)
                .await?
            {
                Plan::Cpu(reason) => reason,
                #[cfg(gpu_engine)]
                Plan::Gpu(reason) => match self.push_blocks(writer, options, chunk, out).await {
                    Ok((engine, timings)) => {
                        return Ok(Report {
                            engine,
                            reason,
                            timings,
                        });
                    }
                    Err(error) => self.give_up(error)?,
                },
            }
        };
        let ((), timings) = on_host(|| writer.push(chunk, out))?;
        Ok(Report {
            engine: crate::engine::CPU,
            reason,
            timings,
        })
    }

    /// Appends the blocks of `chunk` to a frame, from the GPU. Writer and `out` are as before after an error.
    #[cfg(gpu_engine)]
    async fn push_blocks(
        &mut self,
        writer: &mut FrameWriter,
        options: &FrameOptions,
        chunk: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(&'static str, Timings)> {
        let gpu = self.gpu.as_mut().ok_or_else(no_gpu)?;
        writer.reserve_most(chunk.len(), out)?;
        let start = out.len();
        let run = gpu.compress_frame(chunk, options, writer.checksum(), out);
        let (sum, timings) = run.await?;
        writer.set_checksum(sum);
        writer.note_blocks(chunk.len(), &out[start..]);
        Ok((gpu.device().name(), timings))
    }

    /// Decompresses all frames in `bytes`. `progress` is called after every piece; `Break` cancels.
    ///
    /// Independent blocks of at most 64 KiB can run on a GPU; linked and larger blocks and legacy frames run on the
    /// CPU, and the report says so.
    ///
    /// # Errors
    /// Errors of the frames; [`Error::OutputLimit`] if the content is longer than `limit` bytes; [`Error::Cancelled`];
    /// [`Error::DeviceLost`] and [`Error::OutOfMemory`] on a forced GPU.
    pub async fn decompress_frame_async(
        &mut self,
        bytes: &[u8],
        limit: Option<u64>,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Vec<u8>, Report)> {
        let mut out = Vec::new();
        #[cfg(not(target_arch = "wasm32"))]
        {
            // The last block of a frame is decoded to the memory of a full one.
            let expected = expected_content(bytes, self.options.dictionary.as_ref())
                .saturating_add(MAX_PAGE_SIZE.into());
            out.expect(expected.min(limit.unwrap_or(u64::MAX)));
        }
        let decompressed = self.decompress_frame_to(bytes, limit, &mut out, progress);
        let report = decompressed.await?;
        Ok((out, report))
    }

    /// As [`decompress_frame_async`](Self::decompress_frame_async), to the start of `out`; returns the bytes of content, too.
    /// Bytes of `out` behind it are not written if all blocks of a frame but its last have content of one size, as most writers
    /// make them; else any of them may be.
    ///
    /// # Errors
    /// As [`decompress_frame_async`](Self::decompress_frame_async), after which `out` has arbitrary content;
    /// [`Error::OutputTooSmall`] if the content does not fit, with its size as far as it was decoded or is in the header.
    pub async fn decompress_frame_into_async(
        &mut self,
        bytes: &[u8],
        out: &mut [u8],
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(usize, Report)> {
        let mut out = Given::new(out);
        let decompressed = self.decompress_frame_to(bytes, None, &mut out, progress);
        let report = decompressed.await?;
        Ok((out.len(), report))
    }

    async fn decompress_frame_to(
        &mut self,
        bytes: &[u8],
        limit: Option<u64>,
        out: &mut dyn Output,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Report> {
        let clock = Clock::start();
        let mut report = empty_report("there is no content");
        let mut decoder = match self.blocking_bytes() {
            Some(bytes) => AnyDecoder::with_group_bytes(self, limit, bytes),
            None => AnyDecoder::new(self, limit),
        };
        let mut at = 0;
        loop {
            let advanced = decoder.advance(self, &bytes[at..], out, &mut report);
            let consumed = advanced
                .await
                .map_err(|error| error.with_detected_format(bytes))?;
            if consumed == 0 {
                break;
            }
            at += consumed;
            let done = Progress {
                bytes_in: at as u64,
                bytes_out: out.len() as u64,
            };
            if progress(done).is_break() {
                return Err(Error::Cancelled);
            }
        }
        let finished = decoder.finish(&bytes[at..]);
        finished.map_err(|error| error.with_detected_format(bytes))?;
        report.timings.total_ns = clock.elapsed_ns();
        Ok(report)
    }
}

/// The frame decoder of a codec: that of the CPU, or the one that decodes blocks on a GPU.
#[derive(Debug)]
pub(in crate::batch) enum AnyDecoder {
    Cpu(Box<FrameDecoder>, String),
    #[cfg(gpu_engine)]
    Gpu(Box<super::gpu_frames::GpuFrameDecoder>),
}

impl AnyDecoder {
    pub(in crate::batch) fn new(codec: &Codec, limit: Option<u64>) -> Self {
        Self::make(codec, limit, None)
    }

    /// Creates a decoder that returns little more than `group_bytes` of content per call.
    pub(in crate::batch) fn with_group_bytes(
        codec: &Codec,
        limit: Option<u64>,
        group_bytes: usize,
    ) -> Self {
        Self::make(codec, limit, Some(group_bytes))
    }

    fn make(codec: &Codec, limit: Option<u64>, group_bytes: Option<usize>) -> Self {
        let cpu = |reason: &str| {
            let dictionary = codec.options.dictionary.clone();
            let mut decoder = FrameDecoder::new(limit).with_dictionary(dictionary);
            if let Some(bytes) = group_bytes {
                decoder = decoder.with_group_bytes(bytes);
            }
            Self::Cpu(Box::new(decoder), reason.to_owned())
        };
        match codec.cpu_only() {
            Some(reason) => cpu(reason),
            #[cfg(gpu_engine)]
            None => {
                let group_bytes =
                    group_bytes.unwrap_or(crate::batch::codec::gpu_codec::CHUNK_BYTES);
                let dictionary = codec.options.dictionary.clone();
                let decoder =
                    super::gpu_frames::GpuFrameDecoder::new(limit, group_bytes, dictionary);
                Self::Gpu(Box::new(decoder))
            }
            #[cfg(not(gpu_engine))]
            None => cpu(""),
        }
    }

    /// Decodes some of `input` and returns the number of bytes consumed: 0 if the next block is not complete.
    pub(in crate::batch) async fn advance(
        &mut self,
        codec: &mut Codec,
        input: &[u8],
        out: &mut dyn Output,
        report: &mut Report,
    ) -> Result<usize> {
        match self {
            Self::Cpu(decoder, reason) => {
                let (consumed, timings) = on_host(|| decoder.advance_to(input, out))?;
                report.add(Report {
                    engine: crate::engine::CPU,
                    reason: reason.clone(),
                    timings,
                });
                let _ = codec;
                Ok(consumed)
            }
            #[cfg(gpu_engine)]
            Self::Gpu(decoder) => decoder.advance(codec, input, out, report).await,
        }
    }

    /// Ends the input: nothing follows `rest`.
    pub(in crate::batch) fn finish(&mut self, rest: &[u8]) -> Result<()> {
        match self {
            Self::Cpu(decoder, _) => decoder.finish(rest),
            #[cfg(gpu_engine)]
            Self::Gpu(decoder) => decoder.finish(rest),
        }
    }
}

/// Blocking forms. Native only. On a GPU, content checksums are computed on a thread of their own while the GPU works; on CUDA,
/// frames without one use the threads that the blocking forms of pages do, for 128 MiB and more.
#[cfg(not(target_arch = "wasm32"))]
impl Codec {
    /// Blocking form of [`compress_frame_async`](Self::compress_frame_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn compress_frame(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
    ) -> Result<(Vec<u8>, Report)> {
        let go_on = |_| ControlFlow::Continue(());
        self.blocking(|codec| {
            crate::batch::block_on(codec.compress_frame_async(content, options, go_on))
        })
    }

    /// Blocking form of [`compress_frame_into_async`](Self::compress_frame_into_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn compress_frame_into(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
        out: &mut Vec<u8>,
    ) -> Result<Report> {
        let go_on = |_| ControlFlow::Continue(());
        self.blocking(|codec| {
            crate::batch::block_on(codec.compress_frame_into_async(content, options, out, go_on))
        })
    }

    /// Blocking form of [`decompress_frame_async`](Self::decompress_frame_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn decompress_frame(
        &mut self,
        bytes: &[u8],
        limit: Option<u64>,
    ) -> Result<(Vec<u8>, Report)> {
        let go_on = |_| ControlFlow::Continue(());
        self.blocking(|codec| {
            crate::batch::block_on(codec.decompress_frame_async(bytes, limit, go_on))
        })
    }

    /// Blocking form of [`decompress_frame_into_async`](Self::decompress_frame_into_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn decompress_frame_into(
        &mut self,
        bytes: &[u8],
        out: &mut [u8],
    ) -> Result<(usize, Report)> {
        let go_on = |_| ControlFlow::Continue(());
        self.blocking(|codec| {
            crate::batch::block_on(codec.decompress_frame_into_async(bytes, out, go_on))
        })
    }
}
