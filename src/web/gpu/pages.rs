//! Pages from and to arrays of JavaScript, without a copy through the module's memory.

use super::codec::WebCodec;
use crate::batch::js::JsPacked;
use crate::js::{Bytes, Value};
use crate::lz4::BlockError;
use crate::web::call::{Call, Done};
use crate::web::level;
use crate::web::memory::taken;
use crate::web::table::read_table;
use crate::{Error, Result};

/// Compresses pages. The array must stay as it is until the call is done. The number of what the call gives is an array of
/// the blocks; the bytes are their table.
///
/// # Safety
/// The codec is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn gpu_compress_pages(
    codec: *const WebCodec,
    bytes: u32,
    page_size: u32,
    flags: u32,
) -> *mut Call {
    let bytes = Value::new(bytes).map(Bytes::new);
    // SAFETY: this function's contract.
    unsafe { &*codec }.call(async move |codec| {
        let bytes = bytes.ok_or_else(no_array)?;
        let compressed = codec.compress(&bytes, page_size, level(flags));
        let (mut blocks, timings) = compressed.await?;
        Ok(Done {
            timings,
            number: blocks.packed()?.into_value().into_number().into(),
            bytes: bytemuck::cast_slice(&blocks.table).to_vec(),
        })
    })
}

/// Decompresses pages. The array must stay as it is until the call is done. The number of what the call gives is an array
/// of the pages; the bytes are one a page, 0 or the number of a [`BlockError`], which `is_strict` makes an error.
///
/// # Safety
/// The codec is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn gpu_decompress_pages(
    codec: *const WebCodec,
    packed: u32,
    table: *mut u8,
    n_table: usize,
    page_size: u32,
    n_bytes: f64,
    is_strict: bool,
) -> *mut Call {
    // SAFETY: this function's contract.
    let (codec, table) = unsafe { (&*codec, taken(table, n_table)) };
    let packed = Value::new(packed).map(Bytes::new);
    codec.call(async move |codec| {
        let pages = JsPacked {
            packed: packed.ok_or_else(no_array)?,
            // The words of fills are left for the GPU to read.
            table: read_table(&table, &[])?,
            page_size,
            n_bytes: n_bytes as u64,
        };
        let (bytes, errors, timings) = codec.decompress(&pages).await?;
        if is_strict {
            first_error(&errors)?;
        }
        let status = errors
            .iter()
            .map(|error| error.map_or(0, |error| error as u8));
        Ok(Done {
            timings,
            number: bytes.into_value().into_number().into(),
            bytes: status.collect(),
        })
    })
}

/// What is wrong with the first page that is not sound.
pub(super) fn first_error(errors: &[Option<BlockError>]) -> Result<()> {
    for (page, error) in errors.iter().enumerate() {
        if let Some(source) = *error {
            return Err(Error::CorruptPage { page, source });
        }
    }
    Ok(())
}

fn no_array() -> Error {
    Error::Engine {
        engine: "wasm",
        message: "no array was given".into(),
    }
}
