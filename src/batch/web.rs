//! Pages in arrays of JavaScript: they go to mapped GPU memory and come back in one copy, not through wasm memory.

use js_sys::Function;
use wasm_bindgen::JsValue;

use super::compress::Sink;
use super::decompress::{Target, check};
use super::gpu_codec::{JOB_BYTES, SLOTS};
use super::plan::Packed;
use super::ring::Pipeline;
use super::source::Source;
use super::timing::Timings;
use crate::gpu::{Backend, GpuDevice, HostBuffer};
use crate::js_bytes::JsBytes;
use crate::lz4::{BlockError, CPU_ONLY, Level, PageEntry};
use crate::{Error, Result, memory};

/// The function that a caller gave to hear how far a call is, if it gave one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tell(pub Option<Function>);

impl Tell {
    /// Calls the function with the pages done and the bytes of their blocks.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it returns false or throws.
    pub(super) fn tell(&self, n_pages: usize, n_bytes: u64) -> Result<()> {
        let Some(function) = &self.0 else {
            return Ok(());
        };
        let (n_pages, n_bytes) = (JsValue::from(n_pages as f64), JsValue::from(n_bytes as f64));
        match function.call2(&JsValue::UNDEFINED, &n_pages, &n_bytes) {
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
    pub(super) fn reserve(&mut self, n_bytes: u64) -> Result<()> {
        self.pieces.push(JsBytes::zeros(n_bytes as usize)?);
        self.n_last = 0;
        Ok(())
    }

    /// Appends the first `n_bytes` of `host`, and the entries of `table`, which count from there.
    pub(super) async fn append(
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
    pub packed: JsBytes,
    pub table: Vec<PageEntry>,
    pub page_size: u32,
    pub n_bytes: u64,
}

impl JsPacked {
    fn view(&self) -> Packed<'_> {
        Packed {
            blocks: Source::Js(&self.packed),
            table: &self.table,
            page_size: self.page_size,
            n_bytes: self.n_bytes,
        }
    }
}

/// The codec of the package's module: pages on the GPU, and on nothing else.
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
    /// what else the browser reports about work that it refused. Gives `error` back.
    pub(crate) async fn after(&mut self, error: Error) -> Error {
        match &error {
            // The next call tells if there is no other device.
            Error::DeviceLost { .. } => drop(self.0.reopen_async().await),
            Error::Engine { .. } => drop(self.device().synchronize_async().await),
            _ => {}
        }
        error
    }

    /// The pipeline, which cuts jobs for this page size and tells how far they are.
    fn pipeline(&mut self, page_size: u32, tell: Tell) -> &mut Pipeline {
        self.0.batch_pages = (JOB_BYTES / u64::from(page_size.max(1))).max(1);
        self.0.tell = tell;
        &mut self.0
    }

    /// Compresses pages.
    pub(crate) async fn compress(
        &mut self,
        bytes: &JsBytes,
        page_size: u32,
        level: Level,
        tell: Tell,
    ) -> Result<(JsBlocks, Timings)> {
        if !level.runs_on_gpu() {
            return Err(Error::BackendUnavailable {
                backend: "webgpu",
                reason: CPU_ONLY.into(),
            });
        }
        let mut blocks = JsBlocks::default();
        let pipeline = self.pipeline(page_size, tell);
        let (source, sink) = (Source::Js(bytes), Sink::Js(&mut blocks));
        let timings = pipeline
            .compress_safely(source, page_size, level, sink)
            .await?;
        Ok((blocks, timings))
    }

    /// Decompresses pages; of each, what is wrong with it.
    pub(crate) async fn decompress(
        &mut self,
        pages: &JsPacked,
        tell: Tell,
    ) -> Result<(JsBytes, Vec<Option<BlockError>>, Timings)> {
        let pages = pages.view();
        let out = JsBytes::zeros(check(&pages)?)?;
        let pipeline = self.pipeline(pages.page_size, tell);
        let run = pipeline.decompress_safely(&pages, Target::Js(&out));
        let (errors, timings) = run.await?;
        Ok((out, errors, timings))
    }
}
