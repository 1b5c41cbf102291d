//! Blocks of a frame in a JavaScript array, from pages that a GPU compressed.
//!
//! Blocks are copied from mapped memory to the array through a cache-sized buffer in wasm memory, where each block gets
//! its size and checksum. A fill page is not a block yet: JavaScript encodes it with the CPU codec, so that this module
//! needs no encoder. Encoded fill pages are cached, since pages of zeros are frequent.

use js_sys::{Function, Uint8Array};
use wasm_bindgen::prelude::*;

use super::ring::{broken, table_entry};
use crate::gpu::HostBuffer;
use crate::js_bytes::JsBytes;
use crate::lz4::frame::{BlockSize, checksum, put, put_word};
use crate::lz4::{PageEntry, PageKind};
use crate::{Result, memory};

/// Number of packed bytes that are copied to the array at a time.
const PIECE_BYTES: u64 = 256 << 10;
/// Maximum number of cached blocks of fill pages. Most content has few, and the search is linear.
const MAX_FILLS: usize = 64;
/// Maximum number of bytes of a fill page's block, without the length bytes of its match: a few literals and one match.
const FILL_BYTES: u64 = 160;

/// The cached block of a fill page.
#[derive(Debug)]
struct Fill {
    word: u64,
    page_bytes: usize,
    /// The block with its size and checksum.
    block: Vec<u8>,
}

/// Blocks of a frame, in one array unless there are very many.
#[derive(Debug)]
pub(crate) struct FrameBlocks {
    /// Function that returns the block, with size and checksum, of the page in its argument.
    encode: Function,
    block_checksums: bool,
    /// Bytes before and after all blocks that the caller writes: header and end of the frame.
    around: (usize, usize),
    page_bytes: u64,
    /// Bytes of content of the remaining pages.
    n_left: u64,
    fills: Vec<Fill>,
    /// Blocks that are not in an array yet.
    made: Vec<u8>,
    pieces: Vec<JsBytes>,
    /// Number of bytes in use of the last piece.
    n_last: usize,
}

impl FrameBlocks {
    /// Creates an empty list of blocks, in an array that has so many bytes of zeros `around` them. `encode` must return the
    /// block, with its size and checksum, of a page.
    pub(crate) fn new(encode: Function, block_checksums: bool, around: (usize, usize)) -> Self {
        Self {
            encode,
            block_checksums,
            around,
            page_bytes: 0,
            n_left: 0,
            fills: Vec::new(),
            made: Vec::new(),
            pieces: Vec::new(),
            n_last: 0,
        }
    }

    /// Removes the blocks of an earlier attempt, and starts blocks of `n_bytes` of content.
    pub(in crate::batch) fn begin(&mut self, n_bytes: u64, page_size: u32) {
        (self.page_bytes, self.n_left) = (page_size.into(), n_bytes);
        self.pieces.clear();
        self.n_last = 0;
    }

    /// Allocates an array for the next blocks, those of `tables`.
    pub(in crate::batch) fn reserve<'a>(
        &mut self,
        tables: impl Iterator<Item = &'a [u32]>,
    ) -> Result<()> {
        let mut n_bytes = 0;
        for entry in tables.flat_map(entries) {
            let entry = entry?;
            let block_bytes = match entry.kind {
                // An estimate: if a block is longer, `write` adds an array.
                PageKind::Fill(_) => FILL_BYTES + self.page_bytes / 255,
                _ => u64::from(entry.length),
            };
            let size = BlockSize::of(block_bytes as usize, true);
            n_bytes += size.framed_bytes(self.block_checksums);
        }
        self.add_piece(n_bytes)
    }

    /// Adds an array for `n_bytes` of blocks, which may be the last ones.
    fn add_piece(&mut self, n_bytes: usize) -> Result<()> {
        self.cut_last(0)?;
        let (before, after) = self.around;
        self.n_last = if self.pieces.is_empty() { before } else { 0 };
        self.pieces
            .push(JsBytes::zeros(self.n_last + n_bytes + after)?);
        Ok(())
    }

    /// Truncates the last array to the bytes in use and `n_bytes` more.
    fn cut_last(&mut self, n_bytes: usize) -> Result<()> {
        if let Some(piece) = self.pieces.pop() {
            let part = piece.part(0..self.n_last + n_bytes)?;
            self.pieces.push(JsBytes::new(part));
        }
        Ok(())
    }

    /// Appends the blocks of a job: the first `n_bytes` of `host`, with two words per page in `table`.
    pub(in crate::batch) async fn append(
        &mut self,
        host: &HostBuffer,
        n_bytes: u64,
        table: &[u32],
    ) -> Result<()> {
        let groups = groups(table)?;
        let parts: Vec<_> = groups.iter().map(|group| group.range.clone()).collect();
        let appended = host.read_parts_async(n_bytes, &parts, |i, packed| {
            let group = &groups[i];
            let entries = &table[2 * group.first..2 * group.end];
            self.append_group(packed, group.range.start, entries)
        });
        appended.await
    }

    /// Appends the blocks of `table`. `packed` starts at offset `start` of the job's blocks.
    fn append_group(&mut self, packed: &[u8], start: u64, table: &[u32]) -> Result<()> {
        let mut made = std::mem::take(&mut self.made);
        made.clear();
        for entry in entries(table) {
            let entry = entry?;
            let page_bytes = self.page_bytes.min(self.n_left);
            self.n_left -= page_bytes;
            let from = entry.offset.saturating_sub(start) as usize;
            let block = packed.get(from..from.saturating_add(entry.length as usize));
            let block = block.ok_or_else(|| broken("a block leaves its piece".into()))?;
            memory::reserve(
                &mut made,
                BlockSize::of(block.len(), true).framed_bytes(true),
            )?;
            match entry.kind {
                PageKind::Fill(_) => {
                    let word = block
                        .first_chunk()
                        .map_or(0, |word| u64::from_le_bytes(*word));
                    let block = self.fill(word, page_bytes as usize)?;
                    memory::extend(&mut made, block)?;
                    continue;
                }
                PageKind::Lz4 => put_word(&mut made, BlockSize::of(block.len(), true).word),
                PageKind::Stored => put_word(&mut made, BlockSize::of(block.len(), false).word),
            }
            put(&mut made, block);
            if self.block_checksums {
                put_word(&mut made, checksum(block));
            }
        }
        let written = self.write(&made);
        self.made = made;
        written
    }

    /// Appends bytes to the last array.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let room = self.pieces.last().map_or(0, JsBytes::len) - self.n_last;
        if bytes.len() + self.around.1 > room {
            self.add_piece(bytes.len())?;
        }
        if let Some(piece) = self.pieces.last() {
            piece.write(self.n_last, bytes)?;
        }
        self.n_last += bytes.len();
        Ok(())
    }

    /// Returns the block of a fill page, from the cache or from `encode`.
    fn fill(&mut self, word: u64, page_bytes: usize) -> Result<&[u8]> {
        let is_it = |fill: &Fill| fill.word == word && fill.page_bytes == page_bytes;
        let i = match self.fills.iter().position(is_it) {
            Some(i) => i,
            None => {
                if self.fills.len() == MAX_FILLS {
                    self.fills.clear();
                }
                let page = word.to_le_bytes().repeat(page_bytes / 8);
                let page = Uint8Array::from(page.as_slice());
                let block = self.encode.call1(&JsValue::UNDEFINED, &page);
                let block = block.map_err(|_| broken("a page was not encoded".into()))?;
                self.fills.push(Fill {
                    word,
                    page_bytes,
                    block: block.unchecked_into::<Uint8Array>().to_vec(),
                });
                self.fills.len() - 1
            }
        };
        Ok(&self.fills[i].block)
    }

    /// Returns all blocks, and what is around them, in one array.
    pub(crate) fn into_array(mut self) -> Result<Uint8Array> {
        self.cut_last(self.around.1)?;
        Ok(JsBytes::joined(self.pieces)?.into_array())
    }
}

/// Consecutive pages, and the range of their blocks.
struct Group {
    first: usize,
    end: usize,
    range: std::ops::Range<u64>,
}

/// Divides a table into groups of about [`PIECE_BYTES`].
fn groups(table: &[u32]) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (page, entry) in entries(table).enumerate() {
        let entry = entry?;
        let end = entry.offset + u64::from(entry.length);
        match groups.last_mut() {
            Some(group) if end.saturating_sub(group.range.start) <= PIECE_BYTES => {
                (group.end, group.range.end) = (page + 1, end);
            }
            _ => groups.push(Group {
                first: page,
                end: page + 1,
                range: entry.offset..end,
            }),
        }
    }
    Ok(groups)
}

/// Decodes the entries of a table that kernels wrote, with 0 as the words of fill pages.
fn entries(table: &[u32]) -> impl Iterator<Item = Result<PageEntry>> {
    table
        .as_chunks()
        .0
        .iter()
        .map(|&words| table_entry(words, &[]))
}
