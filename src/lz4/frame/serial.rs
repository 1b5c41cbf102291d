//! Serial decoding to a window that is reused, for wasm, which has one core.

use super::decode::FrameDecoder;
use super::{FrameEvent, Step};
use crate::{Error, Result};

/// Bytes of input and of content of a call up to the end of its last frame.
#[derive(Default)]
struct Ended {
    consumed: usize,
    content: usize,
}

impl FrameDecoder {
    /// As [`FrameDecoder::advance`]; the content stays in the decoder until the next call.
    pub(crate) fn advance_serial(&mut self, input: &[u8]) -> Result<(usize, &[u8])> {
        self.refuse_if_failed()?;
        let is_linked = self.frame.as_ref().is_some_and(|frame| frame.header.linked);
        self.window.begin(is_linked);
        let mut ended = Ended::default();
        let consumed = match self.serial_blocks(input, &mut ended) {
            Ok(consumed) => consumed,
            Err(error) => {
                self.failed = Some(error.clone());
                if ended.content == 0 {
                    return Err(error);
                }
                self.window.truncate(ended.content);
                ended.consumed
            }
        };
        Ok((consumed, self.window.content()))
    }

    fn serial_blocks(&mut self, input: &[u8], ended: &mut Ended) -> Result<usize> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            let given = self.window.content().len();
            if given > 0 && given + self.reader.next_max_content(rest) > self.group_bytes {
                break;
            }
            let Some((length, event)) = self.reader.step(rest)?.progress() else {
                break;
            };
            consumed += length;
            match event {
                Some(FrameEvent::Header(header)) => self.start(header)?,
                Some(FrameEvent::Block(block)) => {
                    let Some(frame) = &mut self.frame else {
                        continue;
                    };
                    let (header, sum) = (frame.header, frame.content.sum());
                    let dictionary = header.dictionary(self.reader.dictionary());
                    if let Err(error) = self.window.push(&block, &header, dictionary, sum) {
                        return Err(self.fault_behind(&input[consumed..]).unwrap_or(error));
                    }
                }
                Some(FrameEvent::End { content_checksum }) => {
                    self.count_content(ended.content)?;
                    self.end(content_checksum)?;
                    let content = self.window.content().len();
                    *ended = Ended { consumed, content };
                }
                Some(FrameEvent::Skippable { .. }) | None => {}
            }
        }
        self.count_content(ended.content)?;
        Ok(consumed)
    }

    /// Returns an error in the structure of the following blocks: it describes a damaged file better than the error of
    /// one block.
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

    /// Counts the content of this call from byte `from` on, and hashes what the window has not.
    fn count_content(&mut self, from: usize) -> Result<()> {
        let added = &self.window.content()[from..];
        self.check_limit(added.len() as u64)?;
        self.n_bytes += added.len() as u64;
        if let Some(frame) = &mut self.frame {
            let n_summed = self.window.n_summed() - from;
            frame.content.add_rest(added, n_summed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::*;
    use crate::lz4::Dictionary;
    use crate::lz4::frame::{FrameOptions, FrameWriter};

    /// Returns the content of `file`, supplied `step` bytes at a time, and the error that ended it.
    fn read(
        file: &[u8],
        step: usize,
        group_bytes: usize,
        dictionary: Option<&Dictionary>,
        mut advance: impl FnMut(&mut FrameDecoder, &[u8], &mut Vec<u8>) -> Result<usize>,
    ) -> (Vec<u8>, Result<()>) {
        let mut decoder = FrameDecoder::new(None)
            .with_group_bytes(group_bytes)
            .with_dictionary(dictionary.cloned());
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

    fn serial(decoder: &mut FrameDecoder, input: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        let (consumed, content) = decoder.advance_serial(input)?;
        out.extend_from_slice(content);
        Ok(consumed)
    }

    fn assert_same(file: &[u8], expected: &[u8], dictionary: Option<&Dictionary>) {
        for step in [file.len(), 70_000, 1000] {
            let (content, result) = read(file, step, 100_000, dictionary, serial);
            result.expect("is sound");
            assert!(content == expected, "content differs, {step} bytes at once");
            let (content, result) = read(file, step, 100_000, dictionary, FrameDecoder::advance);
            result.expect("is sound");
            assert!(content == expected, "content of groups differs");
        }
    }

    fn noise(length: usize, mask: u8) -> Vec<u8> {
        let hash = |i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8;
        (0..length as u32).map(|i| hash(i) & mask).collect()
    }

    /// Blocks of unusual lengths, some of them stored, in several frames with a skippable frame between them.
    #[test]
    fn serial_and_parallel_decoding_give_the_same_content() {
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
        assert_same(&file, &expected, None);
    }

    /// Matches reach into earlier blocks, also of earlier calls, but not into an earlier frame.
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
            // No literals, 4 + 15 + 90 bytes from `offset` back; then the five literals that end a block.
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
        assert_same(&file, &expected, None);
        // The first match reaches one byte before the frame.
        let offset = at + 7 + 4 + 60_000 + 4 + 1;
        file[offset..offset + 2].copy_from_slice(&60_001_u16.to_le_bytes());
        let (_, found) = read(&file, file.len(), 100_000, None, serial);
        let (_, expected) = read(&file, file.len(), 100_000, None, FrameDecoder::advance);
        assert!(
            found.is_err() && found == expected,
            "{found:?}, not {expected:?}"
        );
    }

    /// A dictionary stands before each independent block, and before the first of linked ones, whose content pushes it out of reach.
    #[test]
    fn frames_with_a_dictionary() {
        let bytes = noise(50_000, 0xff);
        let dictionary = Dictionary::new(&bytes);
        let options = FrameOptions {
            block_size: 5000,
            dictionary: Some(dictionary.clone()),
            ..FrameOptions::default()
        };
        let mut expected = [&bytes[..], &bytes[..], &noise(30_000, 3)].concat();
        let mut file = crate::lz4::frame::compress(&expected, &options).expect("in range");
        assert!(file.len() < expected.len() / 4);
        // Linked blocks with a content checksum: each a match from before the content, and the five literals that end a block.
        let mut frame = vec![0x04, 0x22, 0x4d, 0x18, 0x44, 0x40];
        frame.push((super::super::checksum(&frame[4..]) >> 8) as u8);
        let mut linked = bytes.clone();
        for offset in [50_000_u16, 49_000, 100, 65_535] {
            frame.extend(138_u32.to_le_bytes());
            let [low, high] = offset.to_le_bytes();
            frame.extend([0x0f, low, high]);
            frame.extend([255; 128]);
            frame.extend([1, 0x50, 1, 2, 3, 4, 5]);
            for _ in 0..4 + 15 + 255 * 128 + 1 {
                linked.push(linked[linked.len() - usize::from(offset)]);
            }
            linked.extend([1, 2, 3, 4, 5]);
        }
        let linked = &linked[bytes.len()..];
        frame.extend([0; 4]);
        frame.extend(super::super::checksum(linked).to_le_bytes());
        file.extend(frame);
        expected.extend(linked);
        assert_same(&file, &expected, Some(&dictionary));
    }

    /// A wrong block size causes two errors; both decoders report the same one.
    #[test]
    fn serial_and_parallel_decoding_report_the_same_error() {
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
                let (_, found) = read(&file, file.len(), 1 << 20, None, serial);
                let (_, expected) = read(&file, file.len(), 1 << 20, None, FrameDecoder::advance);
                assert_eq!(found, expected, "byte {at} changed by {flip}");
            }
        }
    }

    /// A block of little content takes little memory, whatever size the header allows; memory of an earlier decoder has
    /// arbitrary content.
    #[test]
    fn the_window_is_as_large_as_the_content() {
        let content = noise(1000, 3);
        let options = FrameOptions {
            block_size: 4 << 20,
            content_size: Some(1000),
            ..FrameOptions::default()
        };
        let file = crate::lz4::frame::compress(&content, &options).expect("in range");
        let mut decoder = FrameDecoder::new(None);
        let (consumed, found) = decoder.advance_serial(&file).expect("is sound");
        assert!(consumed == file.len() && found == content);
        assert_eq!(decoder.window.n_bytes(), 1000);

        let mut decoder = FrameDecoder::in_memory(vec![0xff; 10_000], None);
        let (_, found) = decoder.advance_serial(&file).expect("is sound");
        assert!(found == content);
        assert_eq!(decoder.window.n_bytes(), 10_000);
    }
}
