//! Parts of a group of blocks, decoded on a GPU.

use crate::batch::codec::aside::aside;
use crate::batch::codec::{Codec, Report};
use crate::lz4::formats::fault;
use crate::lz4::frame::{FrameBlock, FrameContent, Output};
use crate::lz4::{Dictionary, MAX_PAGE_SIZE, PageEntry, PageKind, decode_with};
use crate::{Result, memory};

/// Least bytes of content that are worth a thread to hash them.
const HASHED_BYTES: usize = 1 << 20;

/// Decodes parts of a group.
pub(super) struct Part<'a> {
    pub input: &'a [u8],
    pub block_size: u32,
    pub dictionary: Option<&'a Dictionary>,
    /// Bytes of output before the content that is not hashed yet.
    pub hashed: usize,
    /// Bytes of output from which on no further block of unexpected size is decoded.
    pub end: usize,
}

impl Part<'_> {
    /// Decodes blocks as pages on the GPU, and the ones that fail on the CPU. Returns how many.
    pub(super) async fn decode(
        &mut self,
        codec: &mut Codec,
        blocks: &[FrameBlock<'_>],
        content: &mut FrameContent,
        out: &mut dyn Output,
    ) -> Result<(usize, Report)> {
        let page_bytes = self.block_size as usize;
        // The last block may be short; no content follows that would overwrite what a page leaves behind it.
        let n_pages = blocks.len() - usize::from(out.is_given());
        let before = out.len();
        // SAFETY: `decompress_blocks_to` writes only initialised bytes.
        let (unhashed, room) = unsafe { out.content_and_room(self.hashed, n_pages * page_bytes) }?;
        let n_pages = room.len() / page_bytes;
        let room = &mut room[..n_pages * page_bytes];
        let table = self.table(&blocks[..n_pages])?;
        let is_hashed = codec.may_block() && unhashed.len() >= HASHED_BYTES;
        if is_hashed {
            self.hashed = before;
        }
        let hash = is_hashed.then_some(|| content.add(unhashed));
        let run =
            codec.decompress_blocks_to(self.input, &table, self.block_size, self.dictionary, room);
        let (errors, report) = aside(hash, run).await?;
        let n_sound = errors.iter().take_while(|error| error.is_none()).count();
        let mut behind = Vec::new();
        if let Some(pages) = room.get_mut((n_sound + 1) * page_bytes..) {
            // SAFETY: `decompress_blocks_to` has initialised all of the room.
            memory::extend(&mut behind, unsafe { pages.assume_init_ref() })?;
        }
        // SAFETY: the room has `n_pages` pages, of which `n_sound` are no more than all.
        unsafe { out.add(n_sound * page_bytes) };
        let mut behind = behind.chunks(page_bytes);
        for (i, block) in blocks.iter().enumerate().skip(n_sound) {
            if out.len() >= self.end {
                return Ok((i, report));
            }
            let page = match i > n_sound {
                true => behind.next(),
                false => None,
            };
            match page.filter(|_| errors[i].is_none()) {
                Some(page) => out.extend(page)?,
                None => out.extend(&decode_alone(block, self.dictionary)?)?,
            }
        }
        Ok((blocks.len(), report))
    }

    /// Decodes blocks on the CPU, and returns how many.
    pub(super) fn decode_on_cpu(
        &self,
        blocks: &[FrameBlock<'_>],
        out: &mut dyn Output,
    ) -> Result<usize> {
        for (i, block) in blocks.iter().enumerate() {
            if out.len() >= self.end {
                return Ok(i);
            }
            out.extend(&decode_alone(block, self.dictionary)?)?;
        }
        Ok(blocks.len())
    }

    /// Returns the places of blocks in the input.
    fn table(&self, blocks: &[FrameBlock<'_>]) -> Result<Vec<PageEntry>> {
        let mut table = memory::with_room(blocks.len())?;
        for block in blocks {
            table.push(PageEntry {
                offset: offset_in(self.input, block) as u64,
                length: block.data.len() as u32,
                kind: match block.compressed {
                    true => PageKind::Lz4,
                    false => PageKind::Stored,
                },
            });
        }
        Ok(table)
    }
}

/// Returns the offset of a block's data in the input that it was read from.
pub(super) fn offset_in(input: &[u8], block: &FrameBlock<'_>) -> usize {
    block.data.as_ptr().addr() - input.as_ptr().addr()
}

/// Returns true if a block is long enough for this much content: a byte expands to at most 255.
pub(super) fn may_hold(block: &FrameBlock<'_>, n_bytes: u32) -> bool {
    block.data.len().saturating_mul(255) >= n_bytes as usize
}

/// Decodes a block of unknown content on the CPU.
pub(super) fn decode_alone(
    block: &FrameBlock<'_>,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<u8>> {
    if !block.compressed {
        return memory::copied(block.data);
    }
    // A byte expands to at most 255.
    let most = block.data.len().saturating_mul(255);
    let mut content = memory::zeros(most.min(MAX_PAGE_SIZE as usize))?;
    let history = dictionary.map_or(0, Dictionary::n_bytes) as u64;
    let corrupt = |source| fault(block.index, block.data, history, source);
    let length = decode_with(block.data, &mut content, 0, dictionary).map_err(corrupt)?;
    content.truncate(length);
    Ok(content)
}
