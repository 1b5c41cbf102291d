//! Bytes as the caller has them.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(target_arch = "wasm32")]
use crate::Error;
use crate::Result;
use crate::gpu::{HostBuffer, HostMemory};
use crate::lz4::{BlockError, PackedPages, PageEntry};

/// Bytes in our memory or, in a browser, in JavaScript's, from where they go to a GPU without a copy through ours.
#[derive(Debug, Clone)]
pub(crate) enum Bytes<'a> {
    /// Ours.
    Slice(&'a [u8]),
    /// JavaScript's.
    #[cfg(target_arch = "wasm32")]
    Js(JsBytes),
}

#[cfg(target_arch = "wasm32")]
impl From<&js_sys::Uint8Array> for Bytes<'_> {
    fn from(array: &js_sys::Uint8Array) -> Self {
        Self::Js(JsBytes {
            array: array.clone(),
            length: array.length() as usize,
        })
    }
}

/// An array of JavaScript, which may shrink or go away between two looks at it, and is refused then.
#[cfg(target_arch = "wasm32")]
#[derive(Debug, Clone)]
pub(crate) struct JsBytes {
    array: js_sys::Uint8Array,
    length: usize,
}

#[cfg(target_arch = "wasm32")]
impl JsBytes {
    /// The view of a range, to be used before JavaScript runs again.
    fn view(&self, range: Range<usize>) -> Result<js_sys::Uint8Array> {
        if range.end <= self.array.length() as usize {
            return Ok(self.array.subarray(range.start as u32, range.end as u32));
        }
        Err(Error::InvalidArgument {
            name: "bytes",
            value: format!("an array that shrank to {} bytes", self.array.length()),
            expected: "leave the array as it is until the call is done",
        })
    }
}

impl Bytes<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Slice(bytes) => bytes.len(),
            #[cfg(target_arch = "wasm32")]
            Self::Js(bytes) => bytes.length,
        }
    }

    /// A range in our memory; empty where it leaves the bytes.
    pub(crate) fn get(&self, range: Range<usize>) -> Result<Cow<'_, [u8]>> {
        match self {
            Self::Slice(bytes) => Ok(Cow::Borrowed(bytes.get(range).unwrap_or_default())),
            #[cfg(target_arch = "wasm32")]
            Self::Js(bytes) => bytes.view(range).map(|view| Cow::Owned(view.to_vec())),
        }
    }

    /// Writes a range at `offset`, a multiple of 8, and zeros after it up to a multiple of 4.
    pub(super) async fn write(
        &self,
        range: Range<usize>,
        host: &HostBuffer,
        offset: u64,
    ) -> Result<()> {
        let body = range.start..range.end - range.len() % 8;
        let rest = self.get(body.end..range.end)?;
        let mut tail = [0; 8];
        tail[..rest.len()].copy_from_slice(&rest);
        let tail_at = offset + body.len() as u64;
        host.write_async(tail_at, &tail[..rest.len().next_multiple_of(4)])
            .await?;
        match self {
            Self::Slice(bytes) => host.write_async(offset, &bytes[body]).await,
            #[cfg(target_arch = "wasm32")]
            Self::Js(bytes) => {
                let n_bytes = body.len() as u64;
                host.write_js_async(offset, n_bytes, || bytes.view(body))
                    .await
            }
        }
    }
}

/// Packed pages whose blocks are wherever the caller has them; see [`PackedPages`].
#[derive(Debug)]
pub(crate) struct PackedBytes<'a> {
    pub packed: Bytes<'a>,
    /// The words of fills need not be known.
    pub table: Cow<'a, [PageEntry]>,
    pub page_size: u32,
    pub n_bytes: u64,
}

impl<'a> From<&'a PackedPages> for PackedBytes<'a> {
    fn from(pages: &'a PackedPages) -> Self {
        Self {
            packed: Bytes::Slice(&pages.packed),
            table: Cow::Borrowed(&pages.table),
            page_size: pages.page_size,
            n_bytes: pages.n_bytes,
        }
    }
}

impl PackedBytes<'_> {
    /// Decompresses a page with a sound entry on the CPU, and says what is wrong with it.
    pub(super) fn decompress_page(
        &self,
        page: usize,
        content: &mut [u8],
    ) -> Result<Option<BlockError>> {
        let entry = self.table[page];
        let start = usize::try_from(entry.offset).unwrap_or(usize::MAX);
        let block = self
            .packed
            .get(start..start.saturating_add(entry.length as usize))?;
        let entry = PageEntry { offset: 0, ..entry };
        Ok(entry.decompress(&block, content).err())
    }

    /// The first pages, about `n_bytes` of them, in our memory with all that their entries name.
    pub(super) fn first(&self, n_bytes: usize) -> Result<PackedPages> {
        let n_pages = (n_bytes / self.page_size as usize).clamp(1, self.table.len().max(1));
        let table = &self.table[..n_pages.min(self.table.len())];
        let end = |entry: &PageEntry| entry.offset.saturating_add(u64::from(entry.length));
        let end = table.iter().map(end).max().unwrap_or(0);
        let end = usize::try_from(end)
            .unwrap_or(usize::MAX)
            .min(self.packed.len());
        let packed = self.packed.get(0..end)?.into_owned();
        Ok(PackedPages {
            table: with_fills(table, &packed),
            n_bytes: self
                .n_bytes
                .min(table.len() as u64 * u64::from(self.page_size)),
            page_size: self.page_size,
            packed,
        })
    }
}

/// The entries with the words of fills read from `packed`.
fn with_fills(table: &[PageEntry], packed: &[u8]) -> Vec<PageEntry> {
    let known = |entry: &PageEntry| {
        let words = entry.to_words()?;
        PageEntry::from_words(words, packed).ok()
    };
    table
        .iter()
        .map(|entry| known(entry).unwrap_or(*entry))
        .collect()
}
