//! Bytes to upload, and their copy to a staging buffer.

use std::ops::Range;

use crate::Result;
use crate::gpu::{HostBuffer, HostMemory};
#[cfg(web_pages)]
use crate::js_bytes::JsBytes;

/// Bytes to upload.
#[derive(Debug, Clone)]
pub(in crate::batch) enum Piece<'a> {
    /// A slice.
    Bytes(&'a [u8]),
    /// Ranges of a slice by their offset in the upload, and the upload's total number of bytes.
    Parts(&'a [u8], &'a [(u64, Range<usize>)], usize),
    /// A range of a `Uint8Array`.
    #[cfg(web_pages)]
    Js(&'a JsBytes, Range<usize>),
    /// Ranges of such an array by their offset in the upload, and the upload's total number of bytes.
    #[cfg(web_pages)]
    JsParts(&'a JsBytes, &'a [(u64, Range<usize>)], usize),
}

impl Piece<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Parts(_, _, n_bytes) => *n_bytes,
            #[cfg(web_pages)]
            Self::Js(_, range) => range.len(),
            #[cfg(web_pages)]
            Self::JsParts(_, _, n_bytes) => *n_bytes,
        }
    }

    pub(super) async fn write(&self, host: &HostBuffer, offset: u64) -> Result<()> {
        match self {
            Self::Bytes(bytes) => write_padded(host, offset, bytes).await,
            Self::Parts(bytes, parts, n_bytes) => {
                let n_bytes = *n_bytes as u64;
                host.write_parts_async(offset, n_bytes, bytes, parts).await
            }
            #[cfg(web_pages)]
            Self::Js(bytes, range) => {
                let body = range.start..range.end - range.len() % 8;
                let rest = bytes.read(body.end..range.end)?;
                let rest_at = offset + body.len() as u64;
                host.write_js_async(offset, bytes, body).await?;
                write_padded(host, rest_at, &rest).await
            }
            #[cfg(web_pages)]
            Self::JsParts(bytes, parts, n_bytes) => {
                let n_bytes = *n_bytes as u64;
                host.write_js_parts_async(offset, n_bytes, bytes, parts)
                    .await
            }
        }
    }
}

/// Writes `bytes` at an offset that is a multiple of 8, padded with zeros to a multiple of 4.
async fn write_padded(host: &HostBuffer, offset: u64, bytes: &[u8]) -> Result<()> {
    let (body, rest) = bytes.split_at(bytes.len() & !7);
    host.write_async(offset, body).await?;
    let mut tail = [0; 8];
    tail[..rest.len()].copy_from_slice(rest);
    host.write_async(
        offset + body.len() as u64,
        &tail[..rest.len().next_multiple_of(4)],
    )
    .await
}
