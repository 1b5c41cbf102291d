//! Destinations of compressed pages.

#[cfg(web_pages)]
use super::frame_blocks::FrameBlocks;
#[cfg(web_pages)]
use super::js::JsBlocks;
use super::plan::Form;
use crate::Result;
use crate::gpu::HostBuffer;
use crate::lz4::{Dictionary, PackedPages, PageEntry};
use crate::memory;

/// Compressed pages of one job.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PinnedPart {
    /// Blocks, each at a multiple of 4 bytes, in an [`HostUse::Download`](crate::gpu::HostUse::Download) buffer.
    pub packed: HostBuffer,
    /// Bytes of blocks, from the start of the buffer.
    pub packed_bytes: u64,
    /// One entry per page.
    pub table: Vec<PageEntry>,
}

/// Destination of compressed pages.
#[derive(Debug)]
pub(crate) enum Sink<'a> {
    /// Appends to a vector of the caller.
    Packed(&'a mut PackedPages),
    /// Keeps the pinned buffers that the device wrote: zero-copy.
    Pinned(&'a mut Vec<PinnedPart>),
    /// Writes each job to its own memory, also jobs of several threads.
    Placed(&'a dyn super::placement::Placing),
    /// Appends to a `Uint8Array`.
    #[cfg(web_pages)]
    Js(&'a mut JsBlocks),
    /// Appends to JavaScript memory as blocks of a frame, each preceded by its size.
    #[cfg(web_pages)]
    JsFrame(&'a mut FrameBlocks),
}

impl Sink<'_> {
    /// Clears the output of an earlier attempt and reserves memory for pages of `n_bytes`.
    pub(super) fn begin(&mut self, n_bytes: u64, form: &Form<'_>) -> Result<()> {
        let page_size = form.page_size;
        match self {
            Self::Pinned(parts) => parts.clear(),
            Self::Placed(_) => {}
            #[cfg(web_pages)]
            Self::Js(blocks) => blocks.clear(),
            #[cfg(web_pages)]
            Self::JsFrame(blocks) => blocks.begin(n_bytes, page_size),
            Self::Packed(pages) => {
                pages.packed.clear();
                pages.table.clear();
                (pages.page_size, pages.n_bytes) = (page_size, n_bytes);
                pages.dictionary_id = form.dictionary.map_or(0, Dictionary::id);
                // WebAssembly memory never shrinks. Natively, reserved memory costs nothing before its first touch.
                if cfg!(not(target_arch = "wasm32")) {
                    let n_pages = n_bytes.div_ceil(page_size.into());
                    let n_packed = n_bytes.next_multiple_of(4) as usize;
                    memory::reserve_result(&mut pages.packed, n_packed)?;
                    memory::reserve(&mut pages.table, n_pages as usize)?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if the total size must be known before the first block is written: page faults of a fresh
    /// `ArrayBuffer` cost as much as the copy, so it is allocated once.
    pub(super) fn wants_total(&self) -> bool {
        match self {
            Self::Packed(_) | Self::Pinned(_) | Self::Placed(_) => false,
            #[cfg(web_pages)]
            Self::Js(_) | Self::JsFrame(_) => true,
        }
    }

    /// Reserves memory for the next blocks: those of jobs with this many packed bytes and these tables.
    pub(super) fn reserve<'t>(
        &mut self,
        jobs: impl Iterator<Item = (u64, &'t [u32])>,
    ) -> Result<()> {
        match self {
            Self::Packed(_) | Self::Pinned(_) | Self::Placed(_) => {
                let _ = jobs;
                Ok(())
            }
            #[cfg(web_pages)]
            Self::Js(blocks) => blocks.reserve(jobs.map(|(n_bytes, _)| n_bytes).sum()),
            #[cfg(web_pages)]
            Self::JsFrame(blocks) => blocks.reserve(jobs.map(|(_, table)| table)),
        }
    }
}
