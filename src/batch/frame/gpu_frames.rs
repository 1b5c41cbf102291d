//! Decodes the blocks of frames on a GPU.
//!
//! The GPU decodes pages of a known size, but a block does not store the size of its content. In nearly every file all
//! blocks of a frame, except the last, have the same size. So the first block is decoded on the CPU, and its size is
//! assumed for the others; if a block has another size, the CPU decodes it again. From the first frame with linked
//! blocks, blocks larger than 64 KiB or the legacy format on, the CPU decodes everything.

use crate::batch::codec::{Codec, Report, on_host};
use crate::lz4::formats::fault;
use crate::lz4::frame::{
    FrameBlock, FrameContent, FrameDecoder, FrameEvent, FrameHeader, FrameReader, Output, Step,
};
use crate::lz4::{MAX_PAGE_SIZE, PackedPages, PageEntry, PageKind, decode, is_page_size};
use crate::{Error, Result, memory};

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
}

#[derive(Debug)]
struct Frame {
    content: FrameContent,
    /// Size of the content of each block, known once the first one is decoded.
    block_size: Option<u32>,
}

/// Blocks that one call reads, and what follows them.
struct Group<'a> {
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
    pub(in crate::batch) fn new(limit: Option<u64>, group_bytes: usize) -> Self {
        Self {
            group_bytes,
            reader: FrameReader::new(),
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
        let group = self.read(input)?;
        self.decode(codec, &group, out, report).await?;
        match group.next {
            Next::Blocks => Ok(group.consumed),
            Next::End { content_checksum } => self.end(content_checksum).map(|()| group.consumed),
            Next::Cpu(reason) => {
                let left = self.limit.map(|limit| limit.saturating_sub(self.n_bytes));
                let decoder = FrameDecoder::new(left).with_group_bytes(self.group_bytes);
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
            blocks: Vec::new(),
            consumed: 0,
            next: Next::Blocks,
        };
        let mut content = 0;
        while content < self.group_bytes {
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
                        content: FrameContent::new(header),
                        block_size: None,
                    });
                    self.check_limit(header.content_size.unwrap_or(0))?;
                }
                FrameEvent::Block(block) => {
                    group.blocks.push(block);
                    content += MAX_PAGE_SIZE as usize;
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

    async fn decode(
        &mut self,
        codec: &mut Codec,
        group: &Group<'_>,
        out: &mut dyn Output,
        report: &mut Report,
    ) -> Result<()> {
        let start = out.len();
        let Some(frame) = self.frame.as_mut().filter(|_| !group.blocks.is_empty()) else {
            return Ok(());
        };
        let mut blocks = group.blocks.as_slice();
        if let (None, [first, rest @ ..]) = (frame.block_size, blocks) {
            let (content, timings) = on_host(|| decode_alone(first))?;
            report.add(Report {
                engine: crate::engine::CPU,
                reason: "the first block of a frame".into(),
                timings,
            });
            frame.block_size = Some(content.len() as u32);
            out.extend(&content)?;
            blocks = rest;
        }
        let block_size = frame.block_size.unwrap_or(MAX_PAGE_SIZE);
        let n_able = blocks.iter().filter(|block| may_hold(block, block_size));
        // The GPU's cost of a page does not depend on the length of its block.
        if is_page_size(block_size) && 2 * n_able.count() > blocks.len() {
            report.add(decode_pages(codec, blocks, block_size, out).await?);
        } else {
            for block in blocks {
                out.extend(&decode_alone(block)?)?;
            }
        }
        let added = (out.len() - start) as u64;
        frame.content.add(out.content(start));
        if let Err(error) = self.check_limit(added) {
            out.truncate(start);
            return Err(error);
        }
        self.n_bytes += added;
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

/// Returns true if a block is long enough for this much content: a byte expands to at most 255.
fn may_hold(block: &FrameBlock<'_>, n_bytes: u32) -> bool {
    block.data.len().saturating_mul(255) >= n_bytes as usize
}

/// Decodes a block of unknown content on the CPU.
fn decode_alone(block: &FrameBlock<'_>) -> Result<Vec<u8>> {
    if !block.compressed {
        return memory::copied(block.data);
    }
    // A byte expands to at most 255.
    let most = block.data.len().saturating_mul(255);
    let mut content = memory::zeros(most.min(MAX_PAGE_SIZE as usize))?;
    let corrupt = |source| fault(block.index, block.data, 0, source);
    let length = decode(block.data, &mut content, 0).map_err(corrupt)?;
    content.truncate(length);
    Ok(content)
}

/// Decodes blocks as pages of `block_size` bytes on the GPU, and the ones that fail on the CPU.
async fn decode_pages(
    codec: &mut Codec,
    blocks: &[FrameBlock<'_>],
    block_size: u32,
    out: &mut dyn Output,
) -> Result<Report> {
    let page_bytes = block_size as usize;
    // The last block may be short; no content follows that would overwrite what a page leaves behind it.
    let n_pages = blocks.len() - usize::from(out.is_given());
    // SAFETY: `decompress_pages_to` writes only initialised bytes.
    let room = unsafe { out.room(n_pages * page_bytes) }?;
    let n_pages = room.len() / page_bytes;
    let room = &mut room[..n_pages * page_bytes];
    let pages = pages_of(&blocks[..n_pages], block_size)?;
    let (errors, report) = codec.decompress_pages_to(&pages, room).await?;
    let n_sound = errors.iter().take_while(|error| error.is_none()).count();
    let mut behind = Vec::new();
    if let Some(pages) = room.get_mut((n_sound + 1) * page_bytes..) {
        // SAFETY: `decompress_pages_to` has initialised all of the room.
        memory::extend(&mut behind, unsafe { pages.assume_init_ref() })?;
    }
    // SAFETY: the room has `n_pages` pages, of which `n_sound` are no more than all.
    unsafe { out.add(n_sound * page_bytes) };
    let mut behind = behind.chunks(page_bytes);
    for (i, block) in blocks.iter().enumerate().skip(n_sound) {
        let page = match i > n_sound {
            true => behind.next(),
            false => None,
        };
        match page.filter(|_| errors[i].is_none()) {
            Some(page) => out.extend(page)?,
            None => out.extend(&decode_alone(block)?)?,
        }
    }
    Ok(report)
}

/// Returns blocks as pages of `block_size` bytes.
fn pages_of(blocks: &[FrameBlock<'_>], block_size: u32) -> Result<PackedPages> {
    let n_bytes = blocks.len() as u64 * u64::from(block_size);
    let mut pages = PackedPages {
        packed: Vec::new(),
        table: Vec::new(),
        page_size: block_size,
        n_bytes,
    };
    let padded = |block: &FrameBlock<'_>| block.data.len().next_multiple_of(4);
    memory::reserve_result(&mut pages.packed, blocks.iter().map(padded).sum())?;
    memory::reserve(&mut pages.table, blocks.len())?;
    for block in blocks {
        let kind = if block.compressed {
            PageKind::Lz4
        } else {
            PageKind::Stored
        };
        let entry = PageEntry {
            offset: pages.packed.len() as u64,
            length: block.data.len() as u32,
            kind,
        };
        pages.packed.extend_from_slice(block.data);
        pages
            .packed
            .resize(pages.packed.len().next_multiple_of(4), 0);
        pages.table.push(entry);
    }
    Ok(pages)
}
