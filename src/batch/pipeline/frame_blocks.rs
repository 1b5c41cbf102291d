//! Blocks of a frame in an array of JavaScript, made of pages that a GPU compressed.
//!
//! They go from mapped memory to the array by way of a piece of wasm memory that fits a cache: there each block gets its size
//! and its checksum. A page that one word fills is no block yet; JavaScript has the codec of the CPU encode it, so that its
//! encoder is no part of this module, and the block is kept, since pages of zeros are many.

use js_sys::{Function, Uint8Array};
use wasm_bindgen::prelude::*;

use super::ring::broken;
use crate::gpu::HostBuffer;
use crate::js_bytes::JsBytes;
use crate::lz4::frame::{BlockSize, checksum, put, put_word};
use crate::lz4::{PageEntry, PageKind};
use crate::{Result, memory};

/// Packed bytes that are put into the array at a time.
const PIECE_BYTES: u64 = 256 << 10;
/// Blocks of fills that are kept. They are few in most content, and their search is linear.
const MAX_FILLS: usize = 64;
/// Bytes of a block before its content, and behind it.
const SIZE_BYTES: u64 = 4;
const CHECKSUM_BYTES: u64 = 4;

/// The block of a page that one word fills.
#[derive(Debug)]
struct Fill {
    word: u64,
    page_bytes: usize,
    /// With its size and its checksum.
    block: Vec<u8>,
}

/// Blocks of a frame, in one array unless there are very many.
#[derive(Debug)]
pub(crate) struct FrameBlocks {
    /// Returns the block, with size and checksum, of the page in its argument.
    encode: Function,
    block_checksums: bool,
    page_bytes: u64,
    /// Bytes of content of pages that are still to come.
    n_left: u64,
    fills: Vec<Fill>,
    /// Blocks that are not in an array yet.
    made: Vec<u8>,
    pieces: Vec<JsBytes>,
    /// Bytes in use of the last piece.
    n_last: usize,
}

impl FrameBlocks {
    /// No blocks yet. `encode` returns the block, with its size and checksum, of a page.
    pub(crate) fn new(encode: Function, block_checksums: bool) -> Self {
        Self {
            encode,
            block_checksums,
            page_bytes: 0,
            n_left: 0,
            fills: Vec::new(),
            made: Vec::new(),
            pieces: Vec::new(),
            n_last: 0,
        }
    }

    /// Forgets the blocks of an earlier attempt. Those to come are of `n_bytes` of content.
    pub(in crate::batch) fn begin(&mut self, n_bytes: u64, page_size: u32) {
        (self.page_bytes, self.n_left) = (page_size.into(), n_bytes);
        self.pieces.clear();
        self.n_last = 0;
    }

    /// Allocates an array for the blocks of `tables`, which come next.
    pub(in crate::batch) fn reserve<'a>(
        &mut self,
        tables: impl Iterator<Item = &'a [u32]>,
    ) -> Result<()> {
        let mut n_bytes = 0;
        for entry in tables.flat_map(entries) {
            n_bytes += SIZE_BYTES + CHECKSUM_BYTES * u64::from(self.block_checksums);
            let entry = entry?;
            n_bytes += match entry.kind {
                // A few literals and one match: 160 bytes and its length. Were it longer, an array would be added.
                PageKind::Fill(_) => 160 + self.page_bytes / 255,
                _ => u64::from(entry.length),
            };
        }
        self.add_piece(n_bytes as usize)
    }

    fn add_piece(&mut self, n_bytes: usize) -> Result<()> {
        self.cut_last()?;
        self.pieces.push(JsBytes::zeros(n_bytes)?);
        self.n_last = 0;
        Ok(())
    }

    /// Cuts the last array to what is in use.
    fn cut_last(&mut self) -> Result<()> {
        if let Some(piece) = self.pieces.pop() {
            let part = piece.part(0..self.n_last)?;
            self.pieces.push(JsBytes::new(part));
        }
        Ok(())
    }

    /// Appends the blocks of a job, of which `host` has the first `n_bytes` and `table` two words a page.
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

    /// Appends the blocks of `table`, whose offsets count from `start` bytes before `packed`.
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
            memory::reserve(&mut made, block.len() + 8)?;
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

    /// Copies bytes to the end of the last array.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let room = self.pieces.last().map_or(0, JsBytes::len) - self.n_last;
        if bytes.len() > room {
            self.add_piece(bytes.len())?;
        }
        if let Some(piece) = self.pieces.last() {
            piece.write(self.n_last, bytes)?;
        }
        self.n_last += bytes.len();
        Ok(())
    }

    /// Returns the block of a page that `word` fills.
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

    /// Returns all blocks in one array.
    pub(crate) fn into_array(mut self) -> Result<Uint8Array> {
        self.cut_last()?;
        if self.pieces.len() > 1 {
            let whole = JsBytes::zeros(self.pieces.iter().map(JsBytes::len).sum())?;
            let mut at = 0;
            for piece in &self.pieces {
                whole.copy(at, piece, 0..piece.len())?;
                at += piece.len();
            }
            return Ok(whole.into_array());
        }
        let only = self.pieces.pop();
        only.map_or_else(|| JsBytes::zeros(0), Ok)
            .map(JsBytes::into_array)
    }
}

/// Neighbouring pages, and the bytes of their blocks.
struct Group {
    first: usize,
    end: usize,
    range: std::ops::Range<u64>,
}

/// Cuts a table into groups of about [`PIECE_BYTES`].
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

/// The entries of a table that kernels wrote; the words of fills are 0.
fn entries(table: &[u32]) -> impl Iterator<Item = Result<PageEntry>> {
    table.as_chunks().0.iter().map(|&words| {
        let unknown = |error| broken(format!("kernels wrote a table entry of no kind: {error}"));
        PageEntry::from_words(words, &[]).map_err(unknown)
    })
}
