//! Pages in arrays of JavaScript: they go to mapped GPU memory and come back in one copy, not through wasm memory.

use js_sys::Function;
use wasm_bindgen::JsValue;

use super::compress::Sink;
use super::decompress::Target;
pub(crate) use super::decompress::check;
use super::frame_blocks::FrameBlocks;
use super::gpu_codec::{JOB_BYTES, SLOTS};
use super::plan::Packed;
use super::ring::Pipeline;
use super::source::Source;
use super::timing::Timings;
use crate::gpu::{Backend, Buffer, GpuDevice, HostBuffer};
use crate::js_bytes::JsBytes;
use crate::lz4::{BlockError, CPU_ONLY, Level, PageEntry};
use crate::{Error, Result, memory};

/// The caller's progress callback, which also cancels calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnProgress(pub Option<Function>);

impl OnProgress {
    /// Reports the bytes of the pages whose results are there, and of their blocks.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the callback returns false or throws.
    pub(super) fn report(&self, page_bytes: u64, block_bytes: u64) -> Result<()> {
        let Some(function) = &self.0 else {
            return Ok(());
        };
        let [pages, blocks] = [page_bytes, block_bytes].map(|n| JsValue::from(n as f64));
        match function.call2(&JsValue::UNDEFINED, &pages, &blocks) {
            Ok(answer) if answer != JsValue::FALSE => Ok(()),
            _ => Err(Error::Cancelled),
        }
    }
}

/// Compressed pages, in one piece unless there are very many.
#[derive(Debug, Default)]
pub(crate) struct JsBlocks {
    pieces: Vec<JsBytes>,
    /// Bytes in use of the last piece, and of all.
    n_last: usize,
    n_packed: usize,
    /// Two words a page.
    pub(crate) table: Vec<u32>,
}

impl JsBlocks {
    /// Makes room for `n_bytes` of blocks, which come next.
    pub(crate) fn reserve(&mut self, n_bytes: u64) -> Result<()> {
        self.pieces.push(JsBytes::zeros(n_bytes as usize)?);
        self.n_last = 0;
        Ok(())
    }

    /// Appends the first `n_bytes` of `host`, and the entries of `table`, which count from there.
    pub(crate) async fn append(
        &mut self,
        host: &HostBuffer,
        n_bytes: u64,
        table: &[u32],
    ) -> Result<()> {
        if let Some(piece) = self.pieces.last() {
            host.read_js_async(0..n_bytes, piece, self.n_last).await?;
        }
        let base_words = (self.n_packed / 4) as u32;
        memory::reserve(&mut self.table, table.len())?;
        for entry in table.chunks_exact(2) {
            self.table.extend([entry[0] + base_words, entry[1]]);
        }
        self.n_last += n_bytes as usize;
        self.n_packed += n_bytes as usize;
        Ok(())
    }

    /// All blocks in one array.
    pub(crate) fn packed(&mut self) -> Result<JsBytes> {
        if self.pieces.len() > 1 {
            let whole = JsBytes::zeros(self.n_packed)?;
            let mut at = 0;
            for piece in self.pieces.drain(..) {
                whole.copy(at, &piece, 0..piece.len())?;
                at += piece.len();
            }
            return Ok(whole);
        }
        self.pieces.pop().map_or_else(|| JsBytes::zeros(0), Ok)
    }
}

/// Packed pages; the words of fills need not be known.
#[derive(Debug)]
pub(crate) struct JsPacked {
    /// The blocks.
    pub bytes: JsBytes,
    /// Whether `bytes` are a frame, in which blocks start at any byte.
    pub is_frame: bool,
    pub table: Vec<PageEntry>,
    pub page_size: u32,
    pub n_bytes: u64,
}

impl JsPacked {
    pub(crate) fn view(&self) -> Packed<'_> {
        let blocks = match self.is_frame {
            true => Source::JsFrame(&self.bytes),
            false => Source::Js(&self.bytes),
        };
        Packed {
            blocks,
            table: &self.table,
            page_size: self.page_size,
            n_bytes: self.n_bytes,
        }
    }
}

/// The codec of the package's GPU module. It runs on the GPU alone.
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

    /// Compresses pages.
    pub(crate) async fn compress(
        &mut self,
        bytes: &JsBytes,
        page_size: u32,
        level: Level,
        on_progress: OnProgress,
    ) -> Result<(JsBlocks, Timings)> {
        let mut blocks = JsBlocks::default();
        let sink = Sink::Js(&mut blocks);
        let compressed = self.compress_to(sink, bytes, page_size, level, on_progress);
        let timings = compressed.await?;
        Ok((blocks, timings))
    }

    /// Compresses pages to blocks of a frame, which are appended to `blocks`.
    pub(crate) async fn compress_frame(
        &mut self,
        blocks: &mut FrameBlocks,
        bytes: &JsBytes,
        page_size: u32,
        level: Level,
        on_progress: OnProgress,
    ) -> Result<Timings> {
        let sink = Sink::JsFrame(blocks);
        self.compress_to(sink, bytes, page_size, level, on_progress)
            .await
    }

    async fn compress_to(
        &mut self,
        sink: Sink<'_>,
        bytes: &JsBytes,
        page_size: u32,
        level: Level,
        on_progress: OnProgress,
    ) -> Result<Timings> {
        if !level.runs_on_gpu() {
            return Err(Error::BackendUnavailable {
                backend: "webgpu",
                reason: CPU_ONLY.into(),
            });
        }
        let pipeline = self.pipeline(page_size, on_progress);
        pipeline
            .compress_safely(Source::Js(bytes), page_size, level, sink)
            .await
    }

    /// Decompresses pages to `out`, which is as long as they are. Returns the error of each page.
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

    /// Decompresses pages to a buffer of the codec's device, which is as long as they are. Returns the error of each page.
    /// If the device is lost, so is the buffer: nothing is done again.
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
