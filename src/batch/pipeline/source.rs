//! Input of a pipeline: pages to compress, or blocks to decompress.

use std::borrow::Cow;
use std::ops::Range;

use crate::Result;
use crate::gpu::HostBuffer;
use crate::lz4::PageEntry;

/// Location of the input bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// A slice of the caller.
    Bytes(&'a [u8]),
    /// A pinned buffer that the device reads by DMA, and the number of bytes from its start.
    Pinned(&'a HostBuffer, u64),
    /// A slice of the caller with blocks of a frame, which start at any byte, not at multiples of 4.
    Frame(&'a [u8]),
    /// A `Uint8Array`.
    #[cfg(web_pages)]
    Js(&'a crate::js_bytes::JsBytes),
    /// A `Uint8Array` with blocks of a frame.
    #[cfg(web_pages)]
    JsFrame(&'a crate::js_bytes::JsBytes),
}

impl Source<'_> {
    /// Returns true if blocks start at any byte.
    pub(super) fn is_frame(&self) -> bool {
        #[cfg(web_pages)]
        if let Self::JsFrame(_) = self {
            return true;
        }
        matches!(self, Self::Frame(_))
    }

    pub(in crate::batch) fn n_bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) | Self::Frame(bytes) => bytes.len() as u64,
            Self::Pinned(_, n_bytes) => *n_bytes,
            #[cfg(web_pages)]
            Self::Js(bytes) | Self::JsFrame(bytes) => bytes.len() as u64,
        }
    }

    /// Returns the block of a valid entry; `None` if only the device can read it.
    pub(in crate::batch) fn block(&self, entry: &PageEntry) -> Result<Option<Cow<'_, [u8]>>> {
        let start = usize::try_from(entry.offset).unwrap_or(usize::MAX);
        self.get(start..start.saturating_add(entry.length as usize))
    }

    /// Returns the bytes in a range; `None` if only the device can read them.
    pub(in crate::batch) fn get(&self, range: Range<usize>) -> Result<Option<Cow<'_, [u8]>>> {
        match self {
            Self::Bytes(bytes) | Self::Frame(bytes) => {
                Ok(Some(bytes.get(range).unwrap_or_default().into()))
            }
            Self::Pinned(..) => Ok(None),
            #[cfg(web_pages)]
            Self::Js(bytes) | Self::JsFrame(bytes) => {
                bytes.read(range).map(|block| Some(block.into()))
            }
        }
    }
}
