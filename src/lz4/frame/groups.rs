//! Content of frames, many blocks at a time: independent ones on all cores.

use rayon::prelude::*;

use super::decode::{Frame, FrameDecoder, HISTORY, corrupt};
use super::{FrameBlock, FrameEvent, Step};
use crate::Result;
use crate::lz4::BlockError;
use crate::lz4::decode::decode;

/// What became of a block.
type Piece = Result<Decoded, BlockError>;

enum Decoded {
    /// Content at the start of its slot, this many bytes.
    InSlot(usize),
    /// Content that does not fit the slot.
    Own(Vec<u8>),
}

impl FrameDecoder {
    /// What [`FrameDecoder::advance`] says.
    pub(super) fn advance_by_groups(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize> {
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

    fn is_full(&self, group: &[FrameBlock<'_>]) -> bool {
        let block_size = self
            .frame
            .as_ref()
            .map_or(1, |frame| frame.header.block_max_size as usize);
        (group.len() + 1) * block_size > self.group_bytes
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

    /// Blocks of a frame mostly have the same content size, so each gets a slot of that size in `out`.
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

fn own_piece(block: &FrameBlock<'_>, block_size: usize) -> Result<Vec<u8>, BlockError> {
    if !block.compressed {
        return Ok(block.data.to_vec());
    }
    let mut content = vec![0; block_size];
    let length = decode(block.data, &mut content, 0)?;
    content.truncate(length);
    Ok(content)
}
