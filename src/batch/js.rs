//! Pages in memory of JavaScript: they go to the GPU and come back without a copy through the module's own memory.

use std::ops::Range;

use super::compress::Sink;
use super::decompress::{Target, check};
use super::gpu_codec::{JOB_BYTES, SLOTS};
use super::plan::Packed;
use super::ring::Pipeline;
use super::source::Source;
use super::timing::Timings;
use crate::gpu::{Backend, GpuDevice, HostBuffer, HostUse};
use crate::js::Bytes;
use crate::lz4::{BlockError, Level, PageEntry};
use crate::{Error, Result};

/// Writes a range of `bytes` at `offset` of `host`, both multiples of 4 long.
pub(super) async fn write(
    bytes: &Bytes,
    range: Range<usize>,
    host: &HostBuffer,
    offset: u64,
) -> Result<()> {
    let end = offset + range.len() as u64;
    let mapped = host.mapped_async(offset..end, HostUse::Upload).await?;
    mapped.copy(0, bytes, range)
}

/// Compressed pages, in one piece unless there are very many.
#[derive(Debug, Default)]
pub(crate) struct JsBlocks {
    pieces: Vec<Bytes>,
    /// Bytes in use of the last piece, and of all.
    n_last: usize,
    n_packed: usize,
    /// Two words a page.
    pub(crate) table: Vec<u32>,
}

impl JsBlocks {
    /// Makes room for `n_bytes` of blocks, which come next.
    pub(super) fn reserve(&mut self, n_bytes: u64) -> Result<()> {
        self.pieces.push(Bytes::zeros(n_bytes as usize)?);
        self.n_last = 0;
        Ok(())
    }

    /// Appends the first `n_bytes` of `host`, and a table that counts from there.
    pub(super) async fn append(
        &mut self,
        host: &HostBuffer,
        n_bytes: u64,
        table: &[u32],
    ) -> Result<()> {
        if let Some(piece) = self.pieces.last() {
            put(piece, self.n_last, host, n_bytes as usize).await?;
        }
        let base_words = (self.n_packed / 4) as u32;
        for entry in table.chunks_exact(2) {
            self.table.extend([entry[0] + base_words, entry[1]]);
        }
        self.n_last += n_bytes as usize;
        self.n_packed += n_bytes as usize;
        Ok(())
    }

    /// All blocks in one array.
    pub(crate) fn packed(&mut self) -> Result<Bytes> {
        if self.pieces.len() > 1 {
            let whole = Bytes::zeros(self.n_packed)?;
            let mut at = 0;
            for piece in self.pieces.drain(..) {
                whole.copy(at, &piece, 0..piece.len())?;
                at += piece.len();
            }
            return Ok(whole);
        }
        self.pieces.pop().map_or_else(|| Bytes::zeros(0), Ok)
    }
}

/// Puts the first `n_bytes` of `host` at `at` of `out`.
pub(super) async fn put(out: &Bytes, at: usize, host: &HostBuffer, n_bytes: usize) -> Result<()> {
    let copied = n_bytes.next_multiple_of(4) as u64;
    host.read_mapped_async(0..copied, |mapped| out.copy(at, mapped, 0..n_bytes))
        .await?
}

/// Packed pages; the words of fills need not be known.
#[derive(Debug)]
pub(crate) struct JsPacked {
    pub packed: Bytes,
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

    /// `error`, once the next call can do without it: a lost device is replaced, and what else the browser has to say
    /// about refused work is heard.
    pub(crate) async fn after(&mut self, error: Error) -> Error {
        match &error {
            // The next call tells if there is no other device.
            Error::DeviceLost { .. } => drop(self.0.reopen_async().await),
            Error::Engine { .. } => drop(self.device().synchronize_async().await),
            _ => {}
        }
        error
    }

    /// The pipeline, cutting jobs for this page size.
    fn pipeline(&mut self, page_size: u32) -> &mut Pipeline {
        self.0.batch_pages = (JOB_BYTES / u64::from(page_size.max(1))).max(1);
        &mut self.0
    }

    /// Compresses pages.
    pub(crate) async fn compress(
        &mut self,
        bytes: &Bytes,
        page_size: u32,
        level: Level,
    ) -> Result<(JsBlocks, Timings)> {
        if level == Level::Sequential {
            return Err(Error::BackendUnavailable {
                backend: "webgpu",
                reason: "the level sequential is the CPU's".into(),
            });
        }
        let mut blocks = JsBlocks::default();
        let pipeline = self.pipeline(page_size);
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
    ) -> Result<(Bytes, Vec<Option<BlockError>>, Timings)> {
        let pages = pages.view();
        let out = Bytes::zeros(check(&pages)?)?;
        let pipeline = self.pipeline(pages.page_size);
        let run = pipeline.decompress_safely(&pages, Target::Js(&out));
        let (errors, timings) = run.await?;
        Ok((out, errors, timings))
    }
}
