//! Random access to the content of a mapped file: decodes the blocks that overlap a range.

use std::ops::Range;

use super::map::{Block, WINDOW_BYTES, short};
use super::read::block_data;
use super::{FrameMap, HISTORY_BYTES, word};
use crate::lz4::decode::decode_with;
use crate::lz4::formats::fault;
use crate::lz4::{BlockError, Dictionary};
use crate::memory::{extend, reserve};
use crate::{Error, Result};

/// Most bytes of content that are decoded at once, unless a block is larger.
const MAX_GROUP_BYTES: u64 = 4 << 20;

/// A read of a part of the content. It requests byte ranges of the file, which the caller supplies.
#[derive(Debug)]
pub struct ContentRead {
    range: Range<u64>,
    /// The block to decode next.
    pub(super) next: usize,
    /// The last content of linked blocks, up to 64 KiB.
    window: Vec<u8>,
}

impl ContentRead {
    pub(super) fn new(map: &FrameMap, range: Range<u64>) -> Self {
        let first = map
            .blocks
            .partition_point(|block| block.content_end() <= range.start);
        Self {
            next: map.blocks.get(first).map_or(first, |block| block.needs),
            range,
            window: Vec::new(),
        }
    }

    /// Returns the bytes of the file to supply next; `None` at the end of the part.
    #[must_use]
    pub fn wanted(&self, map: &FrameMap) -> Option<Range<u64>> {
        let group = self.group(map);
        Some(group.first()?.at..group.last()?.end())
    }

    /// Appends to `out` the requested content of the bytes that were [`wanted`](Self::wanted).
    ///
    /// # Errors
    /// [`Error::CorruptPage`] with the number of the block in the file, [`Error::ChecksumMismatch`],
    /// [`Error::OutOfMemory`], and [`Error::InvalidFrame`] if the file contradicts its index.
    pub fn supply(&mut self, map: &FrameMap, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let group = self.group(map);
        let Some(start) = group.first().map(|block| block.at) else {
            return Ok(());
        };
        for block in group {
            let at = (block.at - start) as usize;
            let end = (block.end() - start) as usize;
            let Some(bytes) = bytes.get(at..end) else {
                return Err(short(&(block.at..block.end()), bytes));
            };
            self.block(block, bytes, map.dictionary(), out)?;
            self.next += 1;
        }
        Ok(())
    }

    /// Returns the next blocks that are adjacent in the file, up to the size of a window.
    fn group<'a>(&self, map: &'a FrameMap) -> &'a [Block] {
        let rest = map.blocks.get(self.next..).unwrap_or_default();
        let Some(first) = rest.first() else {
            return rest;
        };
        let fits = |pair: &[Block]| {
            pair[1].at == pair[0].end()
                && pair[1].end() - first.at <= WINDOW_BYTES
                && pair[1].content_end() - first.content_at <= MAX_GROUP_BYTES
                && pair[1].content_at < self.range.end
        };
        if first.content_at >= self.range.end {
            return &[];
        }
        let n_more = rest.windows(2).take_while(|pair| fits(pair)).count();
        &rest[..=n_more]
    }

    fn block(
        &mut self,
        block: &Block,
        bytes: &[u8],
        dictionary: Option<&Dictionary>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        block.check_size(word(bytes, 0))?;
        let data = block_data(bytes, block.size)?;
        let page = self.next;
        let content_bytes = block.content_bytes as usize;
        if block.needs == self.next {
            self.window.clear();
        }
        let start = self.window.len();
        reserve(&mut self.window, content_bytes)?;
        if block.size.is_compressed() {
            self.window.resize(start + content_bytes, 0);
            let history = (start + dictionary.map_or(0, Dictionary::n_bytes)) as u64;
            let end = decode_with(data, &mut self.window, start, dictionary)
                .map_err(|source| fault(page, data, history, source))?;
            if end < self.window.len() {
                let source = BlockError::OutputUnderrun;
                return Err(Error::CorruptPage { page, source });
            }
        } else if data.len() == content_bytes {
            self.window.extend_from_slice(data);
        } else {
            let source = BlockError::BadTableEntry;
            return Err(Error::CorruptPage { page, source });
        }
        let from = self.range.start.saturating_sub(block.content_at) as usize;
        let to = (self.range.end - block.content_at).min(content_bytes as u64) as usize;
        if from < to {
            extend(out, &self.window[start + from..start + to])?;
        }
        let passed = self.window.len().saturating_sub(HISTORY_BYTES);
        self.window.drain(..passed);
        Ok(())
    }
}
