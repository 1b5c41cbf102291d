//! Decodes the blocks of frames on a GPU.
//!
//! The GPU decodes pages of a known size, but a block does not store the size of its content. In nearly every file all
//! blocks of a frame, except the last, have the same size. So the first block is decoded on the CPU, and its size is
//! assumed for the others; if a block has another size, the CPU decodes it again. From the first frame with linked
//! blocks, blocks larger than 64 KiB or the legacy format on, the CPU decodes everything.
//!
//! Calls that may block hash the content of one part while the GPU decodes the next one.

use super::gpu_parts::{Part, decode_alone, may_hold, offset_in};
use crate::batch::codec::gpu_codec::JOB_BYTES;
use crate::batch::codec::{Codec, Report, on_host};
use crate::batch::timing::Timings;
use crate::lz4::frame::{
    FrameBlock, FrameContent, FrameDecoder, FrameEvent, FrameHeader, FrameReader, Output, Step,
};
use crate::lz4::{Dictionary, MAX_PAGE_SIZE, MIN_PAGE_SIZE, is_page_size};
use crate::{Error, Result, memory};

/// Bytes in front of a block in a frame: its size.
const SIZE_BYTES: usize = crate::lz4::frame::SIZE_BYTES as usize;

/// Decodes frames piece by piece; see [`FrameDecoder`] for the contract.
#[derive(Debug)]
pub(in crate::batch) struct GpuFrameDecoder {
    reader: FrameReader,
    frame: Option<Frame>,
    limit: Option<u64>,
    /// Content of all frames so far, in bytes.
    n_bytes: u64,
    /// Content that one call returns before it stops reading blocks, in bytes.
    group_bytes: usize,
    /// The CPU decoder and the reason, after the first frame that the GPU does not support.
    cpu: Option<(FrameDecoder, &'static str)>,
    /// Stands before each block.
    dictionary: Option<Dictionary>,
}

#[derive(Debug)]
struct Frame {
    header: FrameHeader,
    content: FrameContent,
    /// Size of the content of each block, known once the first one is decoded.
    block_size: Option<u32>,
    /// Content of the first block, until it is added to the output, and the time to decode it.
    first: Option<(Vec<u8>, Timings)>,
}

/// Blocks that one call reads, and what follows them.
struct Group<'a> {
    input: &'a [u8],
    blocks: Vec<FrameBlock<'a>>,
    consumed: usize,
    next: Next,
}

enum Next {
    /// More blocks of the frame.
    Blocks,
    /// The end of the frame.
    End { content_checksum: Option<u32> },
    /// A frame that the GPU does not support, with the reason.
    Cpu(&'static str),
}

impl GpuFrameDecoder {
    pub(in crate::batch) fn new(
        limit: Option<u64>,
        group_bytes: usize,
        dictionary: Option<Dictionary>,
    ) -> Self {
        Self {
            group_bytes,
            reader: FrameReader::new().with_dictionary(dictionary.clone()),
            dictionary,
            frame: None,
            limit,
            n_bytes: 0,
            cpu: None,
        }
    }

    pub(in crate::batch) async fn advance(
        &mut self,
        codec: &mut Codec,
        input: &[u8],
        out: &mut dyn Output,
        report: &mut Report,
    ) -> Result<usize> {
        if self.cpu.is_some() {
            return self.advance_cpu(input, out, report);
        }
        let mut group = self.read(input)?;
        let n_done = self.decode(codec, &group, out, report).await?;
        if let Some(block) = group.blocks.get(n_done).copied() {
            self.leave(&block, &mut group);
        }
        match group.next {
            Next::Blocks => Ok(group.consumed),
            Next::End { content_checksum } => self.end(content_checksum).map(|()| group.consumed),
            Next::Cpu(reason) => {
                let left = self.limit.map(|limit| limit.saturating_sub(self.n_bytes));
                let decoder = FrameDecoder::new(left)
                    .with_group_bytes(self.group_bytes)
                    .with_dictionary(self.dictionary.clone());
                self.cpu = Some((decoder, reason));
                match group.consumed {
                    0 => self.advance_cpu(input, out, report),
                    consumed => Ok(consumed),
                }
            }
        }
    }

    pub(in crate::batch) fn finish(&mut self, rest: &[u8]) -> Result<()> {
        if let Some((decoder, _)) = &mut self.cpu {
            return decoder
                .finish(rest)
                .map_err(|error| limit_of(error, self.limit));
        }
        match self.reader.finish(rest)? {
            Some(FrameEvent::End { content_checksum }) => self.end(content_checksum),
            _ => Ok(()),
        }
    }

    fn advance_cpu(
        &mut self,
        input: &[u8],
        out: &mut dyn Output,
        report: &mut Report,
    ) -> Result<usize> {
        let Some((decoder, reason)) = &mut self.cpu else {
            return Ok(0);
        };
        let done =
            on_host(|| decoder.advance_to(input, out)).map_err(|error| limit_of(error, self.limit));
        let (consumed, timings) = done?;
        report.add(Report {
            engine: crate::engine::CPU,
            reason: (*reason).to_owned(),
            timings,
        });
        Ok(consumed)
    }

    /// Reads blocks until the group is full, the frame ends or `input` ends.
    fn read<'a>(&mut self, input: &'a [u8]) -> Result<Group<'a>> {
        let mut group = Group {
            input,
            blocks: Vec::new(),
            consumed: 0,
            next: Next::Blocks,
        };
        let mut content = 0;
        let left = self
            .limit
            .map_or(u64::MAX, |limit| limit.saturating_sub(self.n_bytes));
        let most = usize::try_from(left.saturating_add(1)).unwrap_or(usize::MAX);
        let most = most.min(self.group_bytes);
        while content < most {
            let (length, event) = match self.reader.step(&input[group.consumed..])? {
                Step::More { consumed: 0, .. } => break,
                Step::More { consumed, .. } => {
                    group.consumed += consumed;
                    continue;
                }
                Step::Event { consumed, event } => (consumed, event),
            };
            match event {
                FrameEvent::Header(header) => {
                    if let Some(reason) = not_for_gpu(&header) {
                        // Not consumed: the CPU decoder reads the header again.
                        group.next = Next::Cpu(reason);
                        break;
                    }
                    self.frame = Some(Frame {
                        header,
                        content: FrameContent::new(header),
                        block_size: None,
                        first: None,
                    });
                    self.check_limit(header.content_size.unwrap_or(0))?;
                }
                FrameEvent::Block(block) => {
                    memory::reserve(&mut group.blocks, 1)?;
                    group.blocks.push(block);
                    let dictionary = self.dictionary.as_ref();
                    let frame = self.frame.as_mut();
                    let size = frame.and_then(|frame| frame.size_of(&block, dictionary));
                    content += size.unwrap_or(MAX_PAGE_SIZE).max(MIN_PAGE_SIZE) as usize;
                }
                FrameEvent::End { content_checksum } => {
                    group.consumed += length;
                    group.next = Next::End { content_checksum };
                    break;
                }
                FrameEvent::Skippable { .. } => {}
            }
            group.consumed += length;
        }
        Ok(group)
    }

    /// Moves the reader back to a block of the group, which the next call reads.
    fn leave(&mut self, block: &FrameBlock<'_>, group: &mut Group<'_>) {
        let Some(frame) = &self.frame else { return };
        let at = offset_in(group.input, block) - SIZE_BYTES;
        let position = self.reader.position() - (group.consumed - at) as u64;
        self.reader.back_to(frame.header, block.index, position);
        (group.consumed, group.next) = (at, Next::Blocks);
    }

    /// Decodes the blocks of a group, and returns how many: all, unless they hold more content than was expected.
    async fn decode(
        &mut self,
        codec: &mut Codec,
        group: &Group<'_>,
        out: &mut dyn Output,
        report: &mut Report,
    ) -> Result<usize> {
        let start = out.len();
        let Some(frame) = self.frame.as_mut().filter(|_| !group.blocks.is_empty()) else {
            return Ok(0);
        };
        let dictionary = self.dictionary.as_ref();
        let mut blocks = group.blocks.as_slice();
        if let [first, rest @ ..] = blocks
            && first.index == 0
        {
            let (content, timings) = match frame.first.take() {
                Some(first) => first,
                None => on_host(|| decode_alone(first, dictionary))?,
            };
            report.add(Report {
                engine: crate::engine::CPU,
                reason: "the first block of a frame".into(),
                timings,
            });
            out.extend(&content)?;
            blocks = rest;
        }
        let block_size = frame.block_size.unwrap_or(MAX_PAGE_SIZE);
        let mut part = Part {
            input: group.input,
            block_size,
            dictionary,
            hashed: start,
            end: start.saturating_add(self.group_bytes),
        };
        let mut n_left = blocks.len();
        for blocks in blocks.chunks(frame.blocks_per_part(codec, n_left)) {
            let n_able = blocks.iter().filter(|block| may_hold(block, block_size));
            // The GPU's cost of a page does not depend on the length of its block.
            let n_done = if is_page_size(block_size) && 2 * n_able.count() > blocks.len() {
                let content = &mut frame.content;
                let (n_done, added) = part.decode(codec, blocks, content, out).await?;
                report.add(added);
                n_done
            } else {
                part.decode_on_cpu(blocks, out)?
            };
            n_left -= n_done;
            if n_done < blocks.len() {
                break;
            }
        }
        let added = (out.len() - start) as u64;
        frame.content.add(out.content(part.hashed));
        if let Err(error) = self.check_limit(added) {
            out.truncate(start);
            return Err(error);
        }
        self.n_bytes += added;
        Ok(group.blocks.len() - n_left)
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

/// Returns the reason why a frame runs on the CPU.
fn not_for_gpu(header: &FrameHeader) -> Option<&'static str> {
    if header.legacy {
        Some("legacy frames are the CPU's")
    } else if header.linked {
        Some("linked blocks are the CPU's")
    } else if header.block_max_size > MAX_PAGE_SIZE {
        Some("blocks above 64 KiB are the CPU's")
    } else {
        None
    }
}

/// Replaces the remaining limit in an error by the caller's limit.
fn limit_of(error: Error, limit: Option<u64>) -> Error {
    match (error, limit) {
        (Error::OutputLimit { .. }, Some(limit)) => Error::OutputLimit { limit },
        (error, _) => error,
    }
}

impl Frame {
    /// Returns the size of the content of `block` as expected, after decoding the first one; `None` if that fails, which is an
    /// error once the blocks are decoded.
    fn size_of(&mut self, block: &FrameBlock<'_>, dictionary: Option<&Dictionary>) -> Option<u32> {
        if block.index == 0 {
            self.first = on_host(|| decode_alone(block, dictionary)).ok();
            let first = self.first.as_ref();
            self.block_size = first.map(|(content, _)| content.len() as u32);
        }
        self.block_size
    }

    /// Returns the number of blocks that are decoded while the content before them is hashed, of `n_blocks`.
    fn blocks_per_part(&self, codec: &Codec, n_blocks: usize) -> usize {
        if let (true, Some(block_size @ 1..)) = (codec.may_block(), self.block_size)
            && self.header.content_checksum
        {
            // At least two parts, so that hash and GPU overlap.
            let most = (JOB_BYTES / u64::from(block_size)) as usize;
            return n_blocks.div_ceil(2).clamp(1, most);
        }
        n_blocks.max(1)
    }
}
