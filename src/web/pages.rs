//! Pages from and to arrays of JavaScript: on a GPU without a copy through the module's memory, on the CPU with one.

use js_sys::{Object, Uint8Array};

use super::convert::{entries_from, pages_to_js, table_words};
use crate::Result;
use crate::batch::codec::on_host;
#[cfg(feature = "wgpu")]
use crate::batch::js::{Attempt, JsBytes, JsPacked};
use crate::batch::{Codec, Report};
use crate::lz4::{self, BlockError, Level, PackedPages};

/// What came of an attempt on a GPU, of which this build has none.
#[cfg(not(feature = "wgpu"))]
enum Attempt<T> {
    #[expect(dead_code, reason = "without a GPU engine all is left to the CPU")]
    Done(T, Report),
    Cpu(String),
}

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

#[cfg(feature = "wgpu")]
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
