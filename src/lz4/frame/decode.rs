//! The content of frames.

use super::content::FrameContent;
use super::{FrameBlock, FrameEvent, FrameHeader, FrameReader, Step};
use crate::lz4::BlockError;
use crate::lz4::decode::decode;
use crate::{Error, Result};

#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

/// How far back matches of linked blocks reach.
const HISTORY: usize = 64 << 10;
/// Content that one call of [`FrameDecoder::advance`] gives at most, if blocks are not larger.
const GROUP_BYTES: usize = 16 << 20;
/// What became of a block.
#[cfg(not(target_arch = "wasm32"))]
type Piece = Result<Decoded, BlockError>;

#[cfg(not(target_arch = "wasm32"))]
enum Decoded {
    /// Content at the start of its slot, this many bytes.
    InSlot(usize),
    /// Content that does not fit the slot.
    Own(Vec<u8>),
}

/// Decodes any sequence of frames, piece by piece, from slices that the caller gives; independent blocks on all
/// cores natively.
#[derive(Debug)]
pub struct FrameDecoder {
    reader: FrameReader,
    frame: Option<Frame>,
    limit: Option<u64>,
    /// Content that one call gives at most, if blocks are not larger.
    group_bytes: usize,
    /// Content of all frames so far, in bytes.
    n_bytes: u64,
}

#[derive(Debug)]
struct Frame {
    header: FrameHeader,
    content: FrameContent,
    /// Content of linked blocks: the last of what was before, then what is decoded next.
    window: Vec<u8>,
    /// Content that blocks of this frame have, once known.
    #[cfg(not(target_arch = "wasm32"))]
    slot: Option<usize>,
}

impl FrameDecoder {
    /// A decoder that fails with [`Error::OutputLimit`] rather than give more than `limit` bytes.
    #[must_use]
    pub fn new(limit: Option<u64>) -> Self {
        Self {
            reader: FrameReader::new(),
            frame: None,
            limit,
            group_bytes: GROUP_BYTES,
            n_bytes: 0,
        }
    }

    /// The same, giving at most `group_bytes` of content in one call, if blocks are not larger, in place of 16 MiB.
    #[must_use]
    pub const fn with_group_bytes(mut self, group_bytes: usize) -> Self {
        self.group_bytes = if group_bytes < GROUP_BYTES {
            group_bytes
        } else {
            GROUP_BYTES
        };
        self
    }

    /// Decodes some of `input`, which starts with the first byte not consumed yet, appends its content to `out`, and
    /// says how many bytes it consumed: 0 if the next piece is longer than `input`.
    ///
    /// One call gives 16 MiB of content at most, or one block if that is larger.
    ///
    /// # Errors
    /// What [`FrameReader::step`] finds, and [`Error::CorruptPage`] with the number of the block in its frame,
    /// [`Error::ChecksumMismatch`], [`Error::ContentSizeMismatch`], [`Error::OutputLimit`].
    pub fn advance(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        let mut consumed = 0;
        let mut group = Vec::new();
        loop {
            let step = self.reader.step(&input[consumed..])?;
            let event = match step {
                Step::More { consumed: 0, .. } => break,
                Step::More {
                    consumed: skipped, ..
                } => {
                    consumed += skipped;
                    continue;
                }
                Step::Event {
                    consumed: length,
                    event,
                } => {
                    consumed += length;
                    event
                }
            };
            match event {
                FrameEvent::Header(header) => self.start(header)?,
                FrameEvent::Block(block) => {
                    group.push(block);
                    if self.is_full(&group) {
                        break;
                    }
                }
                FrameEvent::End { content_checksum } => {
                    self.blocks(&group, out)?;
                    group.clear();
                    self.end(content_checksum)?;
                    // The end of a legacy frame is not a piece of input.
                    if consumed > 0 {
                        return Ok(consumed);
                    }
                }
                FrameEvent::Skippable { .. } => {}
            }
        }
        self.blocks(&group, out)?;
        Ok(consumed)
    }

    /// Says that nothing follows `rest`, the bytes not consumed yet, of which [`Self::advance`] consumed nothing.
    ///
    /// # Errors
    /// As [`FrameReader::finish`].
    pub fn finish(&mut self, rest: &[u8]) -> Result<()> {
        match self.reader.finish(rest)? {
            Some(FrameEvent::End { content_checksum }) => self.end(content_checksum),
            _ => Ok(()),
        }
    }

    /// Bytes of input that were decoded or skipped.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.reader.position()
    }

    fn is_full(&self, group: &[FrameBlock<'_>]) -> bool {
        let block_size = self
            .frame
            .as_ref()
            .map_or(1, |frame| frame.header.block_max_size as usize);
        (group.len() + 1) * block_size > self.group_bytes
    }

    fn start(&mut self, header: FrameHeader) -> Result<()> {
        self.check_limit(header.content_size.unwrap_or(0))?;
        self.frame = Some(Frame {
            header,
            content: FrameContent::new(header),
            window: Vec::new(),
            #[cfg(not(target_arch = "wasm32"))]
            slot: None,
        });
        Ok(())
    }

    fn blocks(&mut self, group: &[FrameBlock<'_>], out: &mut Vec<u8>) -> Result<()> {
        let Some(frame) = self.frame.as_mut().filter(|_| !group.is_empty()) else {
            return Ok(());
        };
        let start = out.len();
        if frame.header.linked {
            frame.linked(group, out)
        } else {
            frame.independent(group, out)
        }?;
        let added = (out.len() - start) as u64;
        if let Err(error) = self.check_limit(added) {
            out.truncate(start);
            return Err(error);
        }
        self.n_bytes += added;
        if let Some(frame) = &mut self.frame {
            frame.content.add(&out[start..]);
        }
        Ok(())
    }

    fn end(&mut self, content_checksum: Option<u32>) -> Result<()> {
        let frame = self.frame.take();
        frame.map_or(Ok(()), |frame| frame.content.end(content_checksum))
    }

    fn check_limit(&self, added: u64) -> Result<()> {
        match self.limit {
            Some(limit) if self.n_bytes.saturating_add(added) > limit => {
                Err(Error::OutputLimit { limit })
            }
            _ => Ok(()),
        }
    }
}

impl Frame {
    fn linked(&mut self, group: &[FrameBlock<'_>], out: &mut Vec<u8>) -> Result<()> {
        let block_size = self.header.block_max_size as usize;
        let window = &mut self.window;
        let start = window.len();
        for block in group {
            let at = window.len();
            if block.compressed {
                window.resize(at + block_size, 0);
                let end =
                    decode(block.data, window, at).map_err(|source| corrupt(block, source))?;
                window.truncate(end);
            } else {
                window.extend_from_slice(block.data);
            }
        }
        out.extend_from_slice(&window[start..]);
        window.drain(..window.len().saturating_sub(HISTORY));
        Ok(())
    }

    /// One after the other, each where the one before ends.
    #[cfg(any(target_arch = "wasm32", test))]
    fn in_turn(&mut self, group: &[FrameBlock<'_>], out: &mut Vec<u8>) -> Result<()> {
        let block_size = self.header.block_max_size as usize;
        let mut end = out.len();
        for block in group {
            if !block.compressed {
                out.truncate(end);
                out.extend_from_slice(block.data);
                end = out.len();
                continue;
            }
            let room = end + block_size;
            if out.len() < room {
                out.resize(room, 0);
            }
            let decoded = decode(block.data, &mut out[end..room], 0);
            end += decoded.map_err(|source| corrupt(block, source))?;
        }
        out.truncate(end);
        Ok(())
    }

    #[cfg(target_arch = "wasm32")]
    fn independent(&mut self, group: &[FrameBlock<'_>], out: &mut Vec<u8>) -> Result<()> {
        self.in_turn(group, out)
    }

    /// Blocks of a frame mostly have the same content size, so each gets a slot of that size in `out`.
    #[cfg(not(target_arch = "wasm32"))]
    fn independent(&mut self, group: &[FrameBlock<'_>], out: &mut Vec<u8>) -> Result<()> {
        let block_size = self.header.block_max_size as usize;
        let mut group = group;
        if let ([first, rest @ ..], None) = (group, self.slot) {
            let content = own_piece(first, block_size).map_err(|source| corrupt(first, source))?;
            out.extend_from_slice(&content);
            self.slot = Some(content.len().clamp(1, block_size));
            group = rest;
        }
        let slot = self.slot.unwrap_or(block_size);
        let start = out.len();
        out.resize(start + group.len() * slot, 0);
        let pieces: Vec<Piece> = out[start..]
            .par_chunks_mut(slot)
            .zip(group)
            .map(|(slot, block)| piece(block, slot, block_size))
            .collect();
        self.gather(group, pieces, out, start, slot)
    }

    /// Puts pieces after each other which are shorter or longer than their slots.
    #[cfg(not(target_arch = "wasm32"))]
    fn gather(
        &mut self,
        group: &[FrameBlock<'_>],
        pieces: Vec<Piece>,
        out: &mut Vec<u8>,
        start: usize,
        slot: usize,
    ) -> Result<()> {
        let mut moved: Option<Vec<u8>> = None;
        let mut end = start;
        for (i, (piece, block)) in pieces.into_iter().zip(group).enumerate() {
            let from = start + i * slot;
            match piece.map_err(|source| corrupt(block, source))? {
                Decoded::InSlot(length) => match &mut moved {
                    Some(moved) => moved.extend_from_slice(&out[from..from + length]),
                    None => {
                        out.copy_within(from..from + length, end);
                        end += length;
                    }
                },
                Decoded::Own(content) => {
                    self.slot = Some(content.len());
                    moved.get_or_insert_default().extend_from_slice(&content);
                }
            }
        }
        out.truncate(end);
        out.extend_from_slice(&moved.unwrap_or_default());
        Ok(())
    }
}

/// Decodes a block into its slot, or on its own if the slot is too short for it.
#[cfg(not(target_arch = "wasm32"))]
fn piece(block: &FrameBlock<'_>, slot: &mut [u8], block_size: usize) -> Piece {
    if !block.compressed {
        return Ok(match slot.get_mut(..block.data.len()) {
            Some(slot) => {
                slot.copy_from_slice(block.data);
                Decoded::InSlot(block.data.len())
            }
            None => Decoded::Own(block.data.to_vec()),
        });
    }
    match decode(block.data, slot, 0) {
        Ok(length) => Ok(Decoded::InSlot(length)),
        Err(_) if slot.len() < block_size => own_piece(block, block_size).map(Decoded::Own),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn own_piece(block: &FrameBlock<'_>, block_size: usize) -> Result<Vec<u8>, BlockError> {
    if !block.compressed {
        return Ok(block.data.to_vec());
    }
    let mut content = vec![0; block_size];
    let length = decode(block.data, &mut content, 0)?;
    content.truncate(length);
    Ok(content)
}

fn corrupt(block: &FrameBlock<'_>, source: BlockError) -> Error {
    Error::CorruptPage {
        page: block.index,
        source,
    }
}

/// Decompresses all frames in `bytes`, on all cores natively.
///
/// # Errors
/// As [`FrameDecoder::advance`] and [`FrameDecoder::finish`].
pub fn decompress(bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
    decompress_frames(bytes, limit).map_err(|error| error.having_seen(bytes))
}

fn decompress_frames(bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
    let mut decoder = FrameDecoder::new(limit);
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        match decoder.advance(&bytes[at..], &mut out)? {
            0 => break,
            consumed => at += consumed,
        }
    }
    decoder.finish(&bytes[at..])?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::*;
    use crate::lz4::frame::{FrameOptions, FrameWriter};

    /// What wasm does, which has one core, gives what slots give.
    #[test]
    fn blocks_in_turn_are_those_in_slots() {
        let options = FrameOptions::default();
        let mut bytes = Vec::new();
        let mut writer = FrameWriter::new(&options, &mut bytes).expect("in range");
        let mut expected = Vec::new();
        for length in [4096, 100, 65_536, 4096, 1, 70_000] {
            let noise = (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
            let content: Vec<u8> = match length {
                100 | 65_536 => noise.collect(),
                _ => noise.map(|byte| byte & 3).collect(),
            };
            writer.push(&content, &mut bytes).expect("fits");
            expected.extend(content);
        }
        writer.finish(&mut bytes).expect("has no size");
        let mut reader = FrameReader::new();
        let (mut at, mut frame, mut group) = (0, None, Vec::new());
        while let Step::Event { consumed, event } = reader.step(&bytes[at..]).expect("is sound") {
            at += consumed;
            match event {
                FrameEvent::Header(header) => {
                    frame = Some(Frame {
                        header,
                        content: FrameContent::new(header),
                        window: Vec::new(),
                        slot: None,
                    });
                }
                FrameEvent::Block(block) => group.push(block),
                _ => {}
            }
        }
        let mut frame = frame.expect("has a header");
        let (mut in_turn, mut in_slots) = (vec![7; 3], vec![7; 3]);
        frame.in_turn(&group, &mut in_turn).expect("is sound");
        frame.independent(&group, &mut in_slots).expect("is sound");
        assert!(in_turn[3..] == expected && in_turn == in_slots);
    }
}
