//! Content of frames, one block after the other in memory that is used again: what wasm does, which has one core.

use super::decode::{Frame, FrameDecoder, HISTORY, corrupt};
use super::{FrameBlock, FrameEvent, Step};
use crate::lz4::decode::decode;
use crate::{Error, Result};

/// Where content is decoded.
#[derive(Debug, Default)]
pub(super) struct Room {
    bytes: Vec<u8>,
    /// Where the content of the last call starts; matches of linked blocks reach into what lies before it.
    start: usize,
    /// Where it ends.
    end: usize,
}

impl FrameDecoder {
    /// What [`FrameDecoder::advance`] says, with content that stays where it is until the next call.
    pub(crate) fn in_turn(&mut self, input: &[u8]) -> Result<(usize, &[u8])> {
        self.room
            .keep(self.frame.as_ref().map_or(0, Frame::history));
        let mut consumed = 0;
        while self.is_room() {
            let (length, event) = match self.reader.step(&input[consumed..])? {
                Step::More { consumed: 0, .. } => break,
                Step::More { consumed, .. } => (consumed, None),
                Step::Event { consumed, event } => (consumed, Some(event)),
            };
            consumed += length;
            match event {
                Some(FrameEvent::Header(header)) => self.start(header)?,
                Some(FrameEvent::Block(block)) => {
                    if let Err(error) = self.block(&block) {
                        return Err(self.fault_behind(&input[consumed..]).unwrap_or(error));
                    }
                }
                Some(FrameEvent::End { content_checksum }) => {
                    self.count_room()?;
                    self.end(content_checksum)?;
                    // The end of a legacy frame is not a piece of input.
                    if consumed > 0 {
                        return Ok((consumed, self.room.content()));
                    }
                }
                Some(FrameEvent::Skippable { .. }) | None => {}
            }
        }
        self.count_room()?;
        Ok((consumed, self.room.content()))
    }

    /// Whether another block may be decoded before what there is goes out; makes room for it.
    fn is_room(&mut self) -> bool {
        let Some(frame) = &self.frame else {
            return true;
        };
        let Room { bytes, start, end } = &mut self.room;
        let room = *end + frame.header.block_max_size as usize;
        let is_first = end == start;
        if !is_first && room - *start > self.group_bytes {
            return false;
        }
        if bytes.len() < room {
            bytes.resize(room, 0);
        }
        true
    }

    fn block(&mut self, block: &FrameBlock<'_>) -> Result<()> {
        let Some(frame) = &self.frame else {
            return Ok(());
        };
        let Room { bytes, end, .. } = &mut self.room;
        if !block.compressed {
            bytes[*end..*end + block.data.len()].copy_from_slice(block.data);
            *end += block.data.len();
            return Ok(());
        }
        let room = *end + frame.header.block_max_size as usize;
        let base = if frame.header.linked { 0 } else { *end };
        let decoded = decode(block.data, &mut bytes[base..room], *end - base);
        *end = base + decoded.map_err(|source| corrupt(block, source))?;
        Ok(())
    }

    /// What is wrong with how the blocks of `input` lie, which says more of a file than what one of them holds.
    fn fault_behind(&mut self, mut input: &[u8]) -> Option<Error> {
        loop {
            match self.reader.step(input) {
                Ok(Step::Event {
                    consumed,
                    event: FrameEvent::Block(_),
                }) => input = &input[consumed..],
                Ok(_) => return None,
                Err(error) => return Some(error),
            }
        }
    }

    fn count_room(&mut self) -> Result<()> {
        let added = self.room.content().len() as u64;
        self.check_limit(added)?;
        self.n_bytes += added;
        if let Some(frame) = &mut self.frame {
            frame.content.add(self.room.content());
        }
        Ok(())
    }
}

impl Frame {
    /// Bytes of its content that matches to come may reach.
    fn history(&self) -> usize {
        if self.header.linked {
            self.content.n_bytes().min(HISTORY as u64) as usize
        } else {
            0
        }
    }
}

impl Room {
    fn content(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Drops the content but for the last `history` bytes, which were before or in it.
    fn keep(&mut self, history: usize) {
        self.bytes.copy_within(self.end - history..self.end, 0);
        self.start = history;
        self.end = history;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::*;
    use crate::lz4::frame::{FrameOptions, FrameWriter};

    /// All content of `file`, of which `step` bytes more are there each time, and the error that ended it.
    fn read(
        file: &[u8],
        step: usize,
        group_bytes: usize,
        mut advance: impl FnMut(&mut FrameDecoder, &[u8], &mut Vec<u8>) -> Result<usize>,
    ) -> (Vec<u8>, Result<()>) {
        let mut decoder = FrameDecoder::new(None).with_group_bytes(group_bytes);
        let (mut out, mut at, mut end) = (Vec::new(), 0, 0);
        while end < file.len() {
            end = file.len().min(end + step);
            loop {
                match advance(&mut decoder, &file[at..end], &mut out) {
                    Ok(0) => break,
                    Ok(consumed) => at += consumed,
                    Err(error) => return (out, Err(error)),
                }
            }
        }
        let result = decoder.finish(&file[at..]);
        (out, result)
    }

    fn in_turn(decoder: &mut FrameDecoder, input: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        let (consumed, content) = decoder.in_turn(input)?;
        out.extend_from_slice(content);
        Ok(consumed)
    }

    fn assert_same(file: &[u8], expected: &[u8]) {
        for step in [file.len(), 70_000, 1000] {
            let (content, result) = read(file, step, 100_000, in_turn);
            result.expect("is sound");
            assert!(content == expected, "content differs, {step} bytes at once");
            let (content, result) = read(file, step, 100_000, FrameDecoder::advance);
            result.expect("is sound");
            assert!(content == expected, "content of groups differs");
        }
    }

    fn noise(length: usize, mask: u8) -> Vec<u8> {
        let hash = |i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8;
        (0..length as u32).map(|i| hash(i) & mask).collect()
    }

    /// Blocks of odd lengths, stored ones among them, in several frames with a skippable one between.
    #[test]
    fn blocks_in_turn_are_those_in_groups() {
        let (mut file, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let mut writer =
                FrameWriter::new(&FrameOptions::default(), &mut file).expect("in range");
            for length in [4096, 100, 65_536, 4096, 1, 70_000] {
                let is_noise = length == 100 || length == 65_536;
                let content = noise(length, if is_noise { 0xff } else { 3 });
                writer.push(&content, &mut file).expect("fits");
                expected.extend(content);
            }
            writer.finish(&mut file).expect("has no size");
            file.extend([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        }
        assert_same(&file, &expected);
    }

    /// Matches reach into blocks before, of calls before, too; not into a frame before.
    #[test]
    fn linked_blocks_reach_back() {
        let start = noise(60_000, 0xff);
        let mut file =
            crate::lz4::frame::compress(&start, &FrameOptions::default()).expect("in range");
        let mut frame = vec![0x04, 0x22, 0x4d, 0x18, 0x40, 0x40];
        frame.push((super::super::checksum(&frame[4..]) >> 8) as u8);
        frame.extend((60_000_u32 | 1 << 31).to_le_bytes());
        frame.extend(&start);
        let mut expected = [&start[..], &start[..]].concat();
        for offset in [60_000_u16, 4, 60_200] {
            // No literals, 4 + 15 + 90 bytes from so far back; then the five literals that end a block.
            frame.extend(10_u32.to_le_bytes());
            let [low, high] = offset.to_le_bytes();
            frame.extend([0x0f, low, high, 90, 0x50, 1, 2, 3, 4, 5]);
            for _ in 0..109 {
                expected.push(expected[expected.len() - usize::from(offset)]);
            }
            expected.extend([1, 2, 3, 4, 5]);
        }
        frame.extend([0; 4]);
        let at = file.len();
        file.extend(&frame);
        assert_same(&file, &expected);
        // The first match one byte further than the frame goes.
        let offset = at + 7 + 4 + 60_000 + 4 + 1;
        file[offset..offset + 2].copy_from_slice(&60_001_u16.to_le_bytes());
        let (_, found) = read(&file, file.len(), 100_000, in_turn);
        let (_, expected) = read(&file, file.len(), 100_000, FrameDecoder::advance);
        assert!(
            found.is_err() && found == expected,
            "{found:?}, not {expected:?}"
        );
    }

    /// Of two faults, which a wrong block size makes, the same one is told.
    #[test]
    fn faults_in_turn_are_those_in_groups() {
        let options = FrameOptions {
            block_size: 4096,
            content_size: Some(10_000),
            ..FrameOptions::default()
        };
        let sound = crate::lz4::frame::compress(&noise(10_000, 3), &options).expect("in range");
        for at in 0..sound.len() {
            for flip in [1, 0x10, 0xff] {
                let mut file = sound.clone();
                file[at] ^= flip;
                let (_, found) = read(&file, file.len(), 1 << 20, in_turn);
                let (_, expected) = read(&file, file.len(), 1 << 20, FrameDecoder::advance);
                assert_eq!(found, expected, "byte {at} changed by {flip}");
            }
        }
    }
}
