//! Parallel decoding of independent blocks, for native targets.
//!
//! The content size of a block is known only after decoding. Each block is decoded directly to its expected offset in
//! the output, in parallel; a block that overruns its slot is decoded again to scratch memory, which its thread reuses.
//! Slots are reserved but not initialised, so pages that no block writes to are never faulted in.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::decode::{Frame, FrameDecoder};
use super::output::Output;
use super::scratch::Scratch;
use super::{FrameBlock, FrameEvent};
use crate::lz4::decode::{decode_uninit, decode_with};
use crate::lz4::formats::fault;
use crate::lz4::{BlockError, Dictionary};
use crate::memory::{self, reserve};
use crate::{Error, Result};

/// Most bytes of content in one task of the thread pool, unless a block is larger.
const SHARE_BYTES: usize = 128 << 10;
/// Most bytes of content that are decoded while the content before them is hashed, unless [`MIN_BLOCKS`] are larger.
const HASHED_BYTES: usize = 2 << 20;
/// So many blocks at least occupy several cores.
const MIN_BLOCKS: usize = 4;
/// Most blocks in one group, which bounds the memory for them.
const MAX_BLOCKS: usize = 1 << 16;
/// Most blocks that are decoded at a time, whose states stay in a core's cache.
const PART_BLOCKS: usize = 512;
/// Blocks are counted with the content of those before them. If each has as much as it can have, one call returns at most
/// this multiple of its bytes.
const MAX_OVERRUN: usize = 4;

/// A block, its place in the output, and its result.
struct Work<'a> {
    block: FrameBlock<'a>,
    place: &'a mut [MaybeUninit<u8>],
    done: Result<Decoded>,
}

enum Decoded {
    /// So many bytes of content at the start of the place.
    InPlace(usize),
    /// Content that is longer than the place.
    Own(Vec<u8>),
}

/// Blocks of a frame that are decoded in one group.
#[derive(Default)]
struct Group<'a> {
    blocks: Vec<FrameBlock<'a>>,
    /// Bytes of content that the blocks are expected to have, and the most that they can have.
    content: usize,
    max_content: usize,
    /// True if the last block may be the last of its frame, whose content is shorter than that of others.
    ends: bool,
}

impl FrameDecoder {
    /// Implements [`FrameDecoder::advance_to`].
    pub(super) fn advance_parallel(&mut self, input: &[u8], out: &mut dyn Output) -> Result<usize> {
        self.refuse_if_failed()?;
        let start = out.len();
        // Bytes of input and of `out` up to the end of the last frame.
        let mut ended = (0, start);
        self.groups(input, out, &mut ended).or_else(|error| {
            self.failed = Some(error.clone());
            out.truncate(ended.1);
            if ended.1 > start {
                return Ok(ended.0);
            }
            Err(error)
        })
    }

    fn groups(
        &mut self,
        input: &[u8],
        out: &mut dyn Output,
        ended: &mut (usize, usize),
    ) -> Result<usize> {
        let (mut consumed, start) = (0, out.len());
        let mut group = Group::default();
        loop {
            let rest = &input[consumed..];
            let given = out.len() - start;
            let next = self.reader.next_max_content(rest);
            let most = self.group_bytes.saturating_mul(MAX_OVERRUN);
            let is_full = given + group.content + self.expected(next) > self.group_bytes
                || given + group.max_content + next > most;
            if (is_full && given + group.content > 0) || group.blocks.len() == MAX_BLOCKS {
                // Once the first blocks are decoded, their size is known.
                let is_new = |frame: &Frame| frame.slot.is_none() && !frame.header.linked;
                if self.frame.as_ref().is_some_and(is_new) && !group.blocks.is_empty() {
                    self.blocks(&std::mem::take(&mut group), out)?;
                    continue;
                }
                // After a block of a legacy frame, which has no end mark, another frame may follow.
                let is_legacy = self.frame.as_ref().is_some_and(|frame| frame.header.legacy);
                group.ends = is_legacy || next == 0;
                break;
            }
            let Some((length, event)) = self.reader.step(rest)?.progress() else {
                group.ends = true;
                break;
            };
            consumed += length;
            match event {
                Some(FrameEvent::Header(header)) => {
                    self.start(header)?;
                    out.check(header.content_size.unwrap_or(0))?;
                }
                Some(FrameEvent::Block(block)) => {
                    group.content += self.expected(next);
                    group.max_content += next;
                    reserve(&mut group.blocks, 1)?;
                    group.blocks.push(block);
                }
                Some(FrameEvent::End { content_checksum }) => {
                    group.ends = true;
                    self.blocks(&std::mem::take(&mut group), out)?;
                    self.end(content_checksum)?;
                    *ended = (consumed, out.len());
                }
                Some(FrameEvent::Skippable { .. }) | None => {}
            }
        }
        self.blocks(&group, out)?;
        Ok(consumed)
    }

    /// Returns the bytes of content that a block is expected to have, which can have `most`.
    fn expected(&self, most: usize) -> usize {
        let slot = self.frame.as_ref().and_then(|frame| frame.slot);
        slot.map_or(most, |slot| most.min(slot))
    }

    fn blocks(&mut self, group: &Group<'_>, out: &mut dyn Output) -> Result<()> {
        let Some(frame) = self.frame.as_mut().filter(|_| !group.blocks.is_empty()) else {
            return Ok(());
        };
        let start = out.len();
        if frame.header.linked {
            self.append_linked(&group.blocks, out)?;
            return self.add(out.content(start));
        }
        let decoding = Decoding {
            dictionary: frame.header.dictionary(self.reader.dictionary()),
            scratch: &self.scratch,
        };
        frame.independent_group(group, decoding, out)?;
        self.count(out.len() - start)
    }

    /// Decodes linked blocks that follow the content so far, and appends their content to `out`.
    pub(super) fn append_linked(
        &mut self,
        blocks: &[FrameBlock<'_>],
        out: &mut dyn Output,
    ) -> Result<()> {
        let Some(frame) = &self.frame else {
            return Ok(());
        };
        self.window.begin(frame.header.linked);
        let dictionary = frame.header.dictionary(self.reader.dictionary());
        for block in blocks {
            self.window.push(block, &frame.header, dictionary, None)?;
        }
        out.extend(self.window.content())
    }

    /// Hashes and counts content of the frame that was decoded.
    pub(super) fn add(&mut self, content: &[u8]) -> Result<()> {
        if let Some(frame) = &mut self.frame {
            frame.content.add(content);
        }
        self.count(content.len())
    }

    /// Counts bytes of content that were decoded.
    fn count(&mut self, n_bytes: usize) -> Result<()> {
        self.check_limit(n_bytes as u64)?;
        self.n_bytes += n_bytes as u64;
        Ok(())
    }
}

impl Frame {
    /// Decodes and hashes a group. A block that is shorter than its place leaves it partly written, and no content follows the last block,
    /// which so gets no place in memory of a caller.
    fn independent_group(
        &mut self,
        group: &Group<'_>,
        decoding: Decoding<'_>,
        out: &mut dyn Output,
    ) -> Result<()> {
        let mut hashed = out.len();
        let blocks = match group.blocks.as_slice() {
            [blocks @ .., _] if group.ends && out.is_given() => blocks,
            blocks => blocks,
        };
        for part in blocks.chunks(self.blocks_per_hash()) {
            self.independent(part, decoding, out, &mut hashed)?;
        }
        for last in &group.blocks[blocks.len()..] {
            let most = last.max_content(&self.header);
            let append = |memory: &mut [u8]| out.extend(decoding.content(last, memory)?);
            decoding.scratch.with(most, append)??;
        }
        self.content.add(out.content(hashed));
        Ok(())
    }

    /// Returns the number of blocks that are decoded while the content before them is hashed.
    fn blocks_per_hash(&self) -> usize {
        if !self.header.content_checksum {
            return PART_BLOCKS;
        }
        let block_bytes = self.slot.unwrap_or(self.header.block_max_size as usize);
        (HASHED_BYTES / block_bytes.max(1)).clamp(MIN_BLOCKS, PART_BLOCKS)
    }

    /// Decodes blocks while the content from byte `hashed` of `out` on is hashed. Blocks of a frame mostly have the same content
    /// size, so the size of the first one is the size of all places.
    fn independent(
        &mut self,
        group: &[FrameBlock<'_>],
        decoding: Decoding<'_>,
        out: &mut dyn Output,
        hashed: &mut usize,
    ) -> Result<()> {
        let header = self.header;
        let mut group = group;
        if let ([first, rest @ ..], None) = (group, self.slot) {
            let most = first.max_content(&header);
            let start = out.len();
            let append = |memory: &mut [u8]| out.extend(decoding.content(first, memory)?);
            decoding.scratch.with(most, append)??;
            self.slot = Some((out.len() - start).max(1));
            group = rest;
        }
        if group.is_empty() {
            return Ok(());
        }
        let slot = self.slot.unwrap_or(1);
        let expected = |block: &FrameBlock<'_>| match block.compressed {
            true => block.max_content(&header).min(slot),
            false => block.data.len(),
        };
        let total = group.iter().map(expected).sum();
        let decoded = out.len();
        // SAFETY: `decode_to_place` and `gather` write only initialised bytes.
        let (before, mut free) = unsafe { out.content_and_room(*hashed, total) }?;
        let mut work = Vec::new();
        reserve(&mut work, group.len())?;
        for block in group {
            let (place, rest) = free.split_at_mut(expected(block).min(free.len()));
            free = rest;
            work.push(Work {
                block: *block,
                place,
                done: Ok(Decoded::InPlace(0)),
            });
        }
        // Blocks of almost no content are grouped into fewer tasks.
        let per_share = (group.len() * SHARE_BYTES / total.max(1)).clamp(1, group.len());
        let decode_all = |share: &mut [Work<'_>]| {
            for Work { block, place, done } in share {
                *done = decoding.decode_to_place(block, place, block.max_content(&header));
            }
        };
        if per_share == work.len() {
            decode_all(&mut work);
            self.content.add(before);
        } else {
            let decode = || work.par_chunks_mut(per_share).for_each(decode_all);
            rayon::join(decode, || self.content.add(before));
        }
        *hashed = decoded;
        self.gather(
            work.into_iter()
                .map(|work| (work.place.len(), work.done))
                .collect(),
            out,
        )
    }

    /// Closes the gaps after contents that are shorter than their places, which follow `out`, and inserts longer ones.
    fn gather(&mut self, done: Vec<(usize, Result<Decoded>)>, out: &mut dyn Output) -> Result<()> {
        let mut moved: Option<Vec<u8>> = None;
        let (mut end, mut from, mut longest) = (0, 0, 1);
        let total = done.iter().map(|(place, _)| place).sum();
        // SAFETY: only content of blocks is moved inside the room.
        let places = unsafe { out.room(total) }?;
        for (place, done) in done {
            match (done?, &mut moved) {
                (Decoded::InPlace(length), None) => {
                    longest = longest.max(length);
                    if from != end {
                        places.copy_within(from..from + length, end);
                    }
                    end += length;
                }
                (Decoded::InPlace(length), Some(moved)) => {
                    longest = longest.max(length);
                    // SAFETY: `decode_to_place` wrote the first `length` bytes of this place. Only earlier contents
                    // were moved, toward the front, before the first content that was longer than its place.
                    let content = unsafe { places[from..from + length].assume_init_ref() };
                    memory::extend(moved, content)?;
                }
                (Decoded::Own(content), moved) => {
                    longest = longest.max(content.len());
                    match moved {
                        Some(moved) => memory::extend(moved, &content)?,
                        None => *moved = Some(content),
                    }
                }
            }
            from += place;
        }
        self.slot = Some(longest);
        // SAFETY: contents were written to the places or moved to their front, so the first `end` bytes of the room are
        // initialised.
        unsafe { out.add(end) };
        out.extend(&moved.unwrap_or_default())
    }
}

/// The dictionary and the memory that decode the blocks of a frame.
#[derive(Clone, Copy)]
struct Decoding<'a> {
    dictionary: Option<&'a Dictionary>,
    scratch: &'a Scratch,
}

impl Decoding<'_> {
    /// Decodes a block to its place, or to memory of its own if the content is longer.
    fn decode_to_place(
        self,
        block: &FrameBlock<'_>,
        place: &mut [MaybeUninit<u8>],
        most: usize,
    ) -> Result<Decoded> {
        if !block.compressed {
            // The place of a stored block has its length, unless memory of the caller ends before.
            if place.len() < block.data.len() {
                return memory::copied(block.data).map(Decoded::Own);
            }
            place.write_copy_of_slice(block.data);
            return Ok(Decoded::InPlace(place.len()));
        }
        let is_short = place.len() < most;
        match decode_uninit(block.data, place, self.dictionary) {
            Ok(content) => Ok(Decoded::InPlace(content.len())),
            Err(BlockError::OutputOverrun) if is_short => {
                let copied = |memory: &mut [u8]| memory::copied(self.content(block, memory)?);
                Ok(Decoded::Own(self.scratch.with(most, copied)??))
            }
            Err(source) => Err(self.corrupt(block, source)),
        }
    }

    /// Returns the error of an independent block.
    fn corrupt(self, block: &FrameBlock<'_>, source: BlockError) -> Error {
        let history = self.dictionary.map_or(0, Dictionary::n_bytes);
        fault(block.index, block.data, history as u64, source)
    }

    /// Returns the content of a block; a compressed one is decoded to `memory`, which is as long as its content can be.
    fn content<'b>(self, block: &FrameBlock<'b>, memory: &'b mut [u8]) -> Result<&'b [u8]> {
        if !block.compressed {
            return Ok(block.data);
        }
        let decoded = decode_with(block.data, memory, 0, self.dictionary);
        let length = decoded.map_err(|source| self.corrupt(block, source))?;
        Ok(&memory[..length])
    }
}
