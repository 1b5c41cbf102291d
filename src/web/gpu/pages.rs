//! Pages from and to arrays of JavaScript, without a copy through the module's memory.

use js_sys::{Object, Uint8Array};

use super::convert::{entries_from, pages_to_js};
use crate::batch::js::{Attempt, JsBytes, JsPacked};
use crate::batch::{Codec, Report};
use crate::lz4::{BlockError, Level};
use crate::{Error, Result};

/// Compresses pages to an object as the package gives it.
pub(super) async fn compress(
    codec: &mut Codec,
    bytes: &Uint8Array,
    page_size: u32,
    level: Level,
) -> Result<(Object, Report)> {
    let bytes = JsBytes::new(bytes);
    match codec.try_compress_js(&bytes, page_size, level).await? {
        Attempt::Done(mut blocks, report) => {
            let packed = blocks.packed()?;
            let n_bytes = bytes.len() as u64;
            let pages = pages_to_js(&packed, &blocks.table, page_size, n_bytes);
            Ok((pages, report))
        }
        Attempt::Cpu(reason) => Err(no_gpu(reason)),
    }
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
    let pages = JsPacked {
        packed: JsBytes::new(&given.packed),
        table: entries_from(&given.table, &[])?,
        page_size: given.page_size,
        n_bytes: given.n_bytes,
    };
    match codec.try_decompress_js(&pages).await? {
        Attempt::Done(checked, report) => Ok((checked, report)),
        Attempt::Cpu(reason) => Err(no_gpu(reason)),
    }
}

/// The codec of this module is never without a GPU.
fn no_gpu(reason: String) -> Error {
    Error::BackendUnavailable {
        backend: "webgpu",
        reason,
    }
}
