//! Groups of blocks: what one task decodes.

use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::lz4::Dictionary;
use crate::lz4::decode::decode_uninit;
use crate::lz4::formats::fault;
use crate::lz4::frame::FrameBlock;
use crate::memory::reserve;

/// A block in the bytes of a [`Group`].
#[derive(Debug)]
pub(super) struct Block {
    pub index: usize,
    pub is_compressed: bool,
    pub bytes: Range<usize>,
    /// Most bytes of content that it can have.
    pub max_content: usize,
}

/// Consecutive blocks of a frame, in bytes that other groups share.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub bytes: Arc<Vec<u8>>,
    pub blocks: Vec<Block>,
    /// Most bytes of content that the blocks can have.
    pub max_content: usize,
    /// The dictionary of the frame.
    pub dictionary: Option<Dictionary>,
}

impl Group {
    pub(super) fn push(&mut self, block: Block) {
        self.max_content += block.max_content;
        self.blocks.push(block);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = FrameBlock<'_>> {
        self.blocks.iter().map(|block| FrameBlock {
            index: block.index,
            compressed: block.is_compressed,
            data: &self.bytes[block.bytes.clone()],
        })
    }

    /// Decodes independent blocks to `content`, which is cleared first.
    pub(super) fn decode(&self, content: &mut Vec<u8>) -> Result<()> {
        content.clear();
        reserve(content, self.max_content)?;
        for (block, place) in self.iter().zip(&self.blocks) {
            if !block.compressed {
                content.extend_from_slice(block.data);
                continue;
            }
            let room = &mut content.spare_capacity_mut()[..place.max_content];
            let decoded = decode_uninit(block.data, room, self.dictionary.as_ref());
            let history = self.dictionary.as_ref().map_or(0, Dictionary::n_bytes) as u64;
            let corrupt = |source| fault(block.index, block.data, history, source);
            let decoded = decoded.map_err(corrupt)?;
            let end = decoded.len() + content.len();
            // SAFETY: `decode_uninit` initialised the bytes from the end of the content to this one, in its capacity.
            unsafe { content.set_len(end) };
        }
        Ok(())
    }
}
