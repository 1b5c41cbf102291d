//! Pages in memory of JavaScript: they go to the GPU and come back without a copy through the module's own memory.

use std::borrow::Cow;
use std::ops::Range;

use js_sys::Uint8Array;
use wasm_bindgen::{JsCast, JsValue};

use super::choose::Plan;
use super::codec::{Codec, Report};
use super::compress::Sink;
use super::decompress::{Target, check};
use super::plan::Packed;
use super::source::Source;
use crate::gpu::{Backend, HostBuffer};
use crate::lz4::{BlockError, Level, PageEntry};
use crate::{Error, Result};

/// An array, which may shrink or go away between two looks at it, and is refused then.
#[derive(Debug)]
pub(crate) struct JsBytes {
    array: Uint8Array,
    length: usize,
}

impl JsBytes {
    pub(crate) fn new(array: &Uint8Array) -> Self {
        let length = array.length() as usize;
        Self {
            array: array.clone(),
            length,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The view of a range, to be used before JavaScript runs again.
    fn view(&self, range: Range<usize>) -> Result<Uint8Array> {
        if range.end <= self.array.length() as usize {
            return Ok(self.array.subarray(range.start as u32, range.end as u32));
        }
        Err(Error::InvalidArgument {
            name: "bytes",
            value: format!("an array that shrank to {} bytes", self.array.length()),
            expected: "leave the array as it is until the call is done",
        })
    }

    /// A range, copied.
    pub(super) fn get(&self, range: Range<usize>) -> Result<Vec<u8>> {
        self.view(range).map(|view| view.to_vec())
    }

    /// Writes a range at `offset` of `host`, both multiples of 4 long.
    pub(super) async fn write(
        &self,
        range: Range<usize>,
        host: &HostBuffer,
        offset: u64,
    ) -> Result<()> {
        let n_bytes = range.len() as u64;
        host.write_js_async(offset, n_bytes, || self.view(range))
            .await
    }
}

/// An array of zeros, or an error where JavaScript would throw.
fn new_array(n_bytes: usize) -> Result<Uint8Array> {
    let make = |constructor: JsValue| {
        let arguments = js_sys::Array::of1(&JsValue::from_f64(n_bytes as f64));
        js_sys::Reflect::construct(constructor.unchecked_ref::<js_sys::Function>(), &arguments)
    };
    let made = js_sys::Reflect::get(&js_sys::global(), &JsValue::from_str("Uint8Array"));
    made.and_then(make)
        .map(JsCast::unchecked_into)
        .map_err(|_| Error::OutOfMemory {
            requested: n_bytes as u64,
        })
}

/// Compressed pages, in one piece unless there are very many.
#[derive(Debug, Default)]
pub(crate) struct JsBlocks {
    pieces: Vec<Uint8Array>,
    /// Bytes in use of the last piece, and of all.
    n_last: u32,
    n_packed: usize,
    /// Two words a page.
    pub(crate) table: Vec<u32>,
}

impl JsBlocks {
    /// Makes room for `n_bytes` of blocks, which come next.
    pub(super) fn reserve(&mut self, n_bytes: u64) -> Result<()> {
        self.pieces.push(new_array(n_bytes as usize)?);
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
        let at = self.n_last;
        if let Some(piece) = self.pieces.last() {
            host.read_js_async(0..n_bytes, |mapped| piece.set(mapped, at))
                .await?;
        }
        let base_words = (self.n_packed / 4) as u32;
        for entry in table.chunks_exact(2) {
            self.table.extend([entry[0] + base_words, entry[1]]);
        }
        self.n_last += n_bytes as u32;
        self.n_packed += n_bytes as usize;
        Ok(())
    }

    /// All blocks in one array.
    pub(crate) fn packed(&mut self) -> Result<Uint8Array> {
        if self.pieces.len() > 1 {
            let whole = new_array(self.n_packed)?;
            let mut at = 0;
            for piece in self.pieces.drain(..) {
                whole.set(&piece, at);
                at += piece.length();
            }
            self.pieces.push(whole);
        }
        self.pieces.pop().map_or_else(|| new_array(0), Ok)
    }
}

/// Puts the first `n_bytes` of `host` at `at` of `out`.
pub(super) async fn put(
    out: &Uint8Array,
    at: usize,
    host: &HostBuffer,
    n_bytes: usize,
) -> Result<()> {
    let copied = n_bytes.next_multiple_of(4) as u64;
    host.read_js_async(0..copied, |mapped| {
        out.set(&mapped.subarray(0, n_bytes as u32), at as u32);
    })
    .await
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

/// What came of an attempt on the GPU.
pub(crate) enum Attempt<T> {
    /// It is done.
    Done(T, Report),
    /// It is left to the CPU, for this reason.
    Cpu(String),
}

impl Codec {
    /// `error`, once the next call can do without it: a lost device is replaced, and what else the browser has to say
    /// about refused work is heard.
    pub(crate) async fn after(&mut self, error: Error) -> Error {
        match (&error, &mut self.gpu) {
            // The next call tells if there is no other device.
            (Error::DeviceLost { .. }, Some(gpu)) => drop(gpu.reopen_async().await),
            (Error::Engine { .. }, Some(gpu)) => drop(gpu.device().synchronize_async().await),
            _ => {}
        }
        error
    }

    /// Compresses pages if that is the GPU's.
    pub(crate) async fn try_compress_js(
        &mut self,
        bytes: &JsBytes,
        page_size: u32,
        level: Level,
    ) -> Result<Attempt<JsBlocks>> {
        let first = |n: usize| bytes.get(0..n).map(Cow::Owned);
        let plan = self.plan_compress_of(bytes.len(), first, page_size, level);
        let (reason, gpu) = match (plan.await?, &mut self.gpu) {
            (Plan::Gpu(reason), Some(gpu)) => (reason, gpu),
            (Plan::Gpu(reason) | Plan::Cpu(reason), _) => return Ok(Attempt::Cpu(reason)),
        };
        let mut blocks = JsBlocks::default();
        let pipeline = gpu.pipeline_for(page_size);
        let source = Source::Js(bytes);
        let run = pipeline.compress_safely(source, page_size, level, Sink::Js(&mut blocks));
        match run.await {
            Ok(timings) => {
                let engine = gpu.device().name();
                Ok(Attempt::Done(
                    blocks,
                    Report {
                        engine,
                        reason,
                        timings,
                    },
                ))
            }
            Err(error) => self.give_up(error).map(Attempt::Cpu),
        }
    }

    /// Decompresses pages if that is the GPU's; of each, what is wrong with it.
    pub(crate) async fn try_decompress_js(
        &mut self,
        pages: &JsPacked,
    ) -> Result<Attempt<(Uint8Array, Vec<Option<BlockError>>)>> {
        let n_bytes = check(&pages.view())?;
        let view = pages.view();
        let plan = self.plan_decompress_of(&view).await?;
        let (reason, gpu) = match (plan, &mut self.gpu) {
            (Plan::Gpu(reason), Some(gpu)) => (reason, gpu),
            (Plan::Gpu(reason) | Plan::Cpu(reason), _) => return Ok(Attempt::Cpu(reason)),
        };
        let out = new_array(n_bytes)?;
        let pipeline = gpu.pipeline_for(pages.page_size);
        match pipeline.decompress_safely(&view, Target::Js(&out)).await {
            Ok((errors, timings)) => {
                let engine = gpu.device().name();
                Ok(Attempt::Done(
                    (out, errors),
                    Report {
                        engine,
                        reason,
                        timings,
                    },
                ))
            }
            Err(error) => self.give_up(error).map(Attempt::Cpu),
        }
    }
}
