//! Pages from and to arrays of JavaScript: on a GPU without a copy through the module's memory, on the CPU with one.

#[cfg(feature = "wgpu")]
use std::borrow::Cow;

use js_sys::{Object, Uint8Array};

use super::convert::{entries_from, pages_to_js, table_words};
#[cfg(not(feature = "wgpu"))]
use crate::Result;
use crate::batch::attempt::Attempt;
#[cfg(feature = "wgpu")]
use crate::batch::bytes::{Bytes, PackedBytes};
use crate::batch::codec::on_host;
#[cfg(feature = "wgpu")]
use crate::batch::sink::{BlockSink, PageSink};
use crate::batch::{Codec, Report};
#[cfg(feature = "wgpu")]
use crate::gpu::HostBuffer;
use crate::lz4::{self, BlockError, Level, PackedPages};
#[cfg(feature = "wgpu")]
use crate::{Error, Result};

/// Compresses pages to an object as the package gives it.
pub(super) async fn compress(
    codec: &mut Codec,
    bytes: &Uint8Array,
    page_size: u32,
    level: Level,
) -> Result<(Object, Report)> {
    let reason = match try_compress(codec, bytes, page_size, level).await? {
        Attempt::Done(pages, report) => return Ok((pages, report)),
        Attempt::Cpu(reason) => reason,
    };
    let (pages, timings) = on_host(|| lz4::compress_pages(&bytes.to_vec(), page_size, level))?;
    let packed = Uint8Array::from(pages.packed.as_slice());
    let pages = pages_to_js(&packed, &table_words(&pages)?, page_size, pages.n_bytes);
    Ok((pages, Report::cpu(reason, timings)))
}

/// Packed pages as the package gets them.
pub(super) struct Given {
    pub packed: Uint8Array,
    /// Two words a page.
    pub table: Vec<u32>,
    pub page_size: u32,
    pub n_bytes: u64,
}

/// Decompresses pages; of each, what is wrong with it.
pub(super) async fn decompress(
    codec: &mut Codec,
    given: &Given,
) -> Result<((Uint8Array, Vec<Option<BlockError>>), Report)> {
    let reason = match try_decompress(codec, given).await? {
        Attempt::Done(checked, report) => return Ok((checked, report)),
        Attempt::Cpu(reason) => reason,
    };
    let packed = given.packed.to_vec();
    let pages = PackedPages {
        table: entries_from(&given.table, &packed)?,
        packed,
        page_size: given.page_size,
        n_bytes: given.n_bytes,
    };
    let ((bytes, status), timings) = on_host(|| lz4::decompress_pages_status(&pages))?;
    let bytes = Uint8Array::from(bytes.as_slice());
    Ok(((bytes, status), Report::cpu(reason, timings)))
}

#[cfg(not(feature = "wgpu"))]
async fn try_compress(
    codec: &Codec,
    _bytes: &Uint8Array,
    _page_size: u32,
    _level: Level,
) -> Result<Attempt<Object>> {
    Ok(Attempt::Cpu(codec.choice().reason.clone()))
}

#[cfg(not(feature = "wgpu"))]
async fn try_decompress(
    codec: &Codec,
    _given: &Given,
) -> Result<Attempt<(Uint8Array, Vec<Option<BlockError>>)>> {
    Ok(Attempt::Cpu(codec.choice().reason.clone()))
}

#[cfg(feature = "wgpu")]
async fn try_compress(
    codec: &mut Codec,
    bytes: &Uint8Array,
    page_size: u32,
    level: Level,
) -> Result<Attempt<Object>> {
    let bytes = Bytes::from(bytes);
    codec
        .try_compress_to::<JsBlocks>(&bytes, page_size, level)
        .await
}

#[cfg(feature = "wgpu")]
async fn try_decompress(
    codec: &mut Codec,
    given: &Given,
) -> Result<Attempt<(Uint8Array, Vec<Option<BlockError>>)>> {
    let pages = PackedBytes {
        packed: Bytes::from(&given.packed),
        table: Cow::Owned(entries_from(&given.table, &[])?),
        page_size: given.page_size,
        n_bytes: given.n_bytes,
    };
    codec.try_decompress_to(&pages).await
}

/// An array of zeros, or an error where JavaScript would throw.
#[cfg(feature = "wgpu")]
fn new_array(n_bytes: usize) -> Result<Uint8Array> {
    use wasm_bindgen::{JsCast, JsValue};
    let make = |constructor: JsValue| {
        let arguments = js_sys::Array::of1(&JsValue::from_f64(n_bytes as f64));
        js_sys::Reflect::construct(constructor.unchecked_ref::<js_sys::Function>(), &arguments)
    };
    let made =
        js_sys::Reflect::get(&js_sys::global(), &JsValue::from_str("Uint8Array")).and_then(make);
    made.map(JsCast::unchecked_into)
        .map_err(|_| Error::OutOfMemory {
            requested: n_bytes as u64,
        })
}

/// Compressed pages, in one piece unless there are very many.
#[cfg(feature = "wgpu")]
struct JsBlocks {
    pieces: Vec<Uint8Array>,
    /// Bytes in use of the last piece, and of all.
    n_last: u32,
    n_packed: usize,
    table: Vec<u32>,
    page_size: u32,
    n_bytes: usize,
}

#[cfg(feature = "wgpu")]
impl BlockSink for JsBlocks {
    type Out = Object;
    // Fresh memory costs as much as a copy, so it is taken once.
    const WANTS_TOTAL: bool = true;

    fn new(n_bytes: usize, page_size: u32) -> Self {
        Self {
            pieces: Vec::new(),
            n_last: 0,
            n_packed: 0,
            table: Vec::new(),
            page_size,
            n_bytes,
        }
    }

    fn reserve(&mut self, n_bytes: u64) -> Result<()> {
        self.pieces.push(new_array(n_bytes as usize)?);
        self.n_last = 0;
        Ok(())
    }

    async fn append(&mut self, host: &HostBuffer, n_bytes: u64, table: &[u32]) -> Result<()> {
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

    fn finish(mut self) -> Result<Object> {
        let packed = match (self.pieces.pop(), self.pieces.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                let packed = new_array(self.n_packed)?;
                let mut at = 0;
                for piece in self.pieces.into_iter().chain(last) {
                    packed.set(&piece, at);
                    at += piece.length();
                }
                packed
            }
        };
        let n_bytes = self.n_bytes as u64;
        Ok(pages_to_js(&packed, &self.table, self.page_size, n_bytes))
    }
}

#[cfg(feature = "wgpu")]
impl PageSink for Uint8Array {
    fn new(n_bytes: usize) -> Result<Self> {
        new_array(n_bytes)
    }

    async fn put(&mut self, at: usize, host: &HostBuffer, n_bytes: usize) -> Result<()> {
        let copied = n_bytes.next_multiple_of(4) as u64;
        host.read_js_async(0..copied, |mapped| {
            self.set(&mapped.subarray(0, n_bytes as u32), at as u32);
        })
        .await
    }

    fn put_page(&mut self, at: usize, page: &[u8]) {
        self.subarray(at as u32, (at + page.len()) as u32)
            .copy_from(page);
    }
}
