//! Pages in JavaScript arrays: they are copied directly between the arrays and mapped GPU memory, without wasm memory.

use super::codec::gpu_codec::{JOB_BYTES, SLOTS};
use super::pipeline::decompress::{Target, check};
use super::pipeline::frame_blocks::FrameBlocks;
use super::pipeline::js::{JsBlocks, JsPacked, OnProgress};
use super::pipeline::plan::Form;
use super::pipeline::ring::Pipeline;
use super::pipeline::sink::Sink;
use super::pipeline::source::Source;
use super::timing::Timings;
use crate::gpu::{Backend, Buffer, GpuDevice};
use crate::js_bytes::JsBytes;
use crate::lz4::BlockError;
use crate::{Error, Result};

/// The codec of the package's GPU module. It has no CPU fallback.
#[derive(Debug)]
pub(crate) struct JsCodec(Pipeline);

impl JsCodec {
    pub(crate) fn new(device: GpuDevice) -> Self {
        Self(Pipeline::new(device, SLOTS, true, 1))
    }

    pub(crate) fn device(&self) -> &GpuDevice {
        self.0.device()
    }

    /// Prepares the next call after one that failed with `error`: opens another device after a loss, and waits for
    /// the browser to report the other errors of refused work. Returns `error`.
    pub(crate) async fn after(&mut self, error: Error) -> Error {
        match &error {
            // The next call fails if there is no other device.
            Error::DeviceLost { .. } => drop(self.0.reopen_async().await),
            Error::Engine { .. } => drop(self.device().synchronize_async().await),
            _ => {}
        }
        error
    }

    /// Returns the pipeline, set up for jobs of this page size.
    fn pipeline(&mut self, page_size: u32, on_progress: OnProgress) -> &mut Pipeline {
        self.0.batch_pages = (JOB_BYTES / u64::from(page_size.max(1))).max(1);
        self.0.on_progress = on_progress;
        &mut self.0
    }

    /// Compresses pages, to the start of `into` or to new arrays.
    pub(crate) async fn compress(
        &mut self,
        bytes: &JsBytes,
        form: Form<'_>,
        into: Option<JsBytes>,
        on_progress: OnProgress,
    ) -> Result<(JsBlocks, Timings)> {
        let mut blocks = JsBlocks::new(into);
        let sink = Sink::Js(&mut blocks);
        let compressed = self.compress_to(sink, bytes, form, on_progress);
        let timings = compressed.await?;
        Ok((blocks, timings))
    }

    /// Compresses pages to blocks of a frame, which are appended to `blocks`.
    pub(crate) async fn compress_frame(
        &mut self,
        blocks: &mut FrameBlocks,
        bytes: &JsBytes,
        form: Form<'_>,
        on_progress: OnProgress,
    ) -> Result<Timings> {
        let sink = Sink::JsFrame(blocks);
        self.compress_to(sink, bytes, form, on_progress).await
    }

    async fn compress_to(
        &mut self,
        sink: Sink<'_>,
        bytes: &JsBytes,
        form: Form<'_>,
        on_progress: OnProgress,
    ) -> Result<Timings> {
        if let Some(reason) = form.level.cpu_only() {
            return Err(Error::BackendUnavailable {
                backend: "webgpu",
                reason: reason.into(),
            });
        }
        let pipeline = self.pipeline(form.page_size, on_progress);
        let compressed = pipeline.compress_safely(Source::Js(bytes), form, sink);
        compressed.await
    }

    /// Decompresses pages to `out`, which has their total length. Returns the error of each page.
    pub(crate) async fn decompress(
        &mut self,
        pages: &JsPacked,
        out: &JsBytes,
        on_progress: OnProgress,
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let pages = pages.view();
        check(&pages)?;
        let pipeline = self.pipeline(pages.page_size, on_progress);
        pipeline.decompress_safely(&pages, Target::Js(out)).await
    }

    /// Decompresses pages to a buffer of the codec's device, which has their total length. Returns the error of each
    /// page. There is no recovery from a lost device, since the buffer is lost too.
    pub(crate) async fn decompress_resident(
        &mut self,
        pages: &JsPacked,
        buffer: &Buffer,
        on_progress: OnProgress,
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let pages = pages.view();
        let pipeline = self.pipeline(pages.page_size, on_progress);
        pipeline.begin();
        let mut target = Target::Device(buffer);
        let outcome = pipeline.decompress(&pages, &mut target).await;
        pipeline.end(outcome)
    }
}
