//! Pages from and to arrays of JavaScript: on a GPU without a copy through the module's memory, on the CPU with one.

use js_sys::{Object, Uint8Array};

use super::call::CallState;
use super::convert::{entries_from, pages_to_js, table_words};
use crate::Result;
use crate::batch::codec::on_host;
use crate::batch::js::{Attempt, JsBytes, JsPacked};
use crate::batch::{Codec, Report, Timings};
use crate::lz4::{self, BlockError, Level, PackedPages, PageEntry};

/// Bytes of pages in one step on the CPU: a multiple of every page size.
const STEP_BYTES: u32 = 1 << 20;

/// Compresses pages to an object as the package gives it.
pub(super) async fn compress(
    codec: &mut Codec,
    state: &CallState,
    bytes: &Uint8Array,
    page_size: u32,
    level: Level,
) -> Result<(Object, Report)> {
    let reason = match try_compress(codec, bytes, page_size, level).await? {
        Attempt::Done(pages, report) => return Ok((pages, report)),
        Attempt::Cpu(reason) => reason,
    };
    let (pages, timings) = compress_on_host(state, bytes, page_size, level).await?;
    let packed = Uint8Array::from(pages.packed.as_slice());
    let pages = pages_to_js(&packed, &table_words(&pages)?, page_size, pages.n_bytes);
    Ok((pages, Report::cpu(reason, timings)))
}

/// Compresses pages on the CPU, step by step.
async fn compress_on_host(
    state: &CallState,
    bytes: &Uint8Array,
    page_size: u32,
    level: Level,
) -> Result<(PackedPages, Timings)> {
    let (mut pages, mut timings) = on_host(|| lz4::compress_pages(&[], page_size, level))?;
    let length = bytes.length();
    let mut at = 0;
    while at < length {
        let end = length.min(at + STEP_BYTES);
        let step = bytes.subarray(at, end).to_vec();
        let (part, time) = on_host(|| lz4::compress_pages(&step, page_size, level))?;
        let base = pages.packed.len() as u64;
        pages
            .table
            .extend(part.table.into_iter().map(|entry| PageEntry {
                offset: base + entry.offset,
                ..entry
            }));
        pages.packed.extend_from_slice(&part.packed);
        pages.n_bytes += part.n_bytes;
        timings.add(&time);
        at = end;
        state.step(at as usize, pages.packed.len()).await;
    }
    Ok((pages, timings))
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
    state: &CallState,
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
    let (checked, timings) = decompress_on_host(state, pages).await?;
    Ok((checked, Report::cpu(reason, timings)))
}

/// Decompresses pages on the CPU, step by step.
async fn decompress_on_host(
    state: &CallState,
    mut pages: PackedPages,
) -> Result<((Uint8Array, Vec<Option<BlockError>>), Timings)> {
    let n_bytes = usize::try_from(pages.n_bytes).unwrap_or(usize::MAX);
    let n_pages = n_bytes.div_ceil(pages.page_size.max(1) as usize);
    if n_bytes <= STEP_BYTES as usize || n_pages != pages.table.len() {
        let ((bytes, status), timings) = on_host(|| lz4::decompress_pages_status(&pages))?;
        return Ok(((Uint8Array::from(bytes.as_slice()), status), timings));
    }
    let table = std::mem::take(&mut pages.table);
    let out = Uint8Array::new_with_length(n_bytes as u32);
    let mut status = Vec::with_capacity(n_pages);
    let mut timings = Timings::default();
    let mut at = 0;
    for entries in table.chunks((STEP_BYTES / pages.page_size).max(1) as usize) {
        let length = (n_bytes - at).min(entries.len() * pages.page_size as usize);
        pages.table = entries.to_vec();
        pages.n_bytes = length as u64;
        let ((bytes, step), time) = on_host(|| lz4::decompress_pages_status(&pages))?;
        out.subarray(at as u32, (at + length) as u32)
            .copy_from(&bytes);
        status.extend(step);
        timings.add(&time);
        at += length;
        state.step(at, at).await;
    }
    Ok(((out, status), timings))
}

async fn try_compress(
    codec: &mut Codec,
    bytes: &Uint8Array,
    page_size: u32,
    level: Level,
) -> Result<Attempt<Object>> {
    let bytes = JsBytes::new(bytes);
    match codec.try_compress_js(&bytes, page_size, level).await? {
        Attempt::Done(mut blocks, report) => {
            let packed = blocks.packed()?;
            let n_bytes = bytes.len() as u64;
            let pages = pages_to_js(&packed, &blocks.table, page_size, n_bytes);
            Ok(Attempt::Done(pages, report))
        }
        Attempt::Cpu(reason) => Ok(Attempt::Cpu(reason)),
    }
}

async fn try_decompress(
    codec: &mut Codec,
    given: &Given,
) -> Result<Attempt<(Uint8Array, Vec<Option<BlockError>>)>> {
    let pages = JsPacked {
        packed: JsBytes::new(&given.packed),
        table: entries_from(&given.table, &[])?,
        page_size: given.page_size,
        n_bytes: given.n_bytes,
    };
    codec.try_decompress_js(&pages).await
}
