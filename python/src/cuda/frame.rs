//! Frames whose blocks are chunks: independent, of at most 64 KiB of content, without a checksum of the content.

use pagepress::lz4::BlockError;
use pagepress::lz4::formats::measure_block;
use pagepress::lz4::frame::{FrameEvent, FrameHeader, FrameReader, Step};
use pagepress::{Error, Result};
use rayon::prelude::*;

/// Bytes of the size before a block, and of the mark behind the last one.
pub(super) const SIZE_BYTES: u64 = 4;

/// A block in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Its first byte in the frame, behind its size.
    pub(super) offset: u64,
    pub(super) n_bytes: u32,
    /// Bytes of its content.
    pub(super) content: u32,
    /// True if its bytes are the content itself.
    pub(super) is_stored: bool,
}

/// A frame in the memory of the host.
pub(super) struct Parsed<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) blocks: Vec<Block>,
    /// Bytes of its content.
    pub(super) n_bytes: u64,
    /// Most bytes of content of a block; 0 without one.
    pub(super) chunk_size: u32,
}

/// Finds the blocks of one frame, skippable frames around it left out. Sizes of contents come from the sequences of each block, on
/// all cores.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed<'_>> {
    let mut reader = FrameReader::new();
    let (mut at, mut start, mut end) = (0, 0, None);
    let mut found: Vec<(Block, &[u8])> = Vec::new();
    let (mut stated, mut most) = (None, 0);
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let consumed = match reader.step(rest)? {
            Step::Event { event, consumed } => {
                match event {
                    FrameEvent::Header(header) => {
                        check(&header, end.is_some())?;
                        (start, stated) = (at, header.content_size);
                        most = u64::from(header.block_max_size);
                    }
                    FrameEvent::Block(block) => {
                        let offset = at - start + SIZE_BYTES as usize;
                        found.push((described(offset, block.data, block.compressed), block.data));
                    }
                    FrameEvent::End { .. } => end = Some(at + consumed),
                    FrameEvent::Skippable { .. } => {}
                }
                consumed
            }
            Step::More { consumed: 0, .. } => break,
            Step::More { consumed, .. } => consumed,
        };
        at += consumed;
    }
    reader.finish(bytes.get(at..).unwrap_or_default())?;
    let Some(end) = end else {
        // Skippable frames only.
        return refused("without a frame of content", "one LZ4 frame");
    };
    let blocks = measured(&found, most)?;
    let n_bytes = blocks.iter().map(|block| u64::from(block.content)).sum();
    match stated {
        Some(stated) if stated != n_bytes => Err(Error::ContentSizeMismatch {
            stored: stated,
            actual: n_bytes,
        }),
        _ => Ok(Parsed {
            bytes: bytes.get(start..end).unwrap_or_default(),
            chunk_size: blocks.iter().map(|block| block.content).max().unwrap_or(0),
            blocks,
            n_bytes,
        }),
    }
}

/// Refuses frames whose blocks a GPU cannot decode each for itself.
fn check(header: &FrameHeader, is_second: bool) -> Result<()> {
    const REMEDY: &str = "one frame of independent blocks of at most 64 KiB of content, as `lz4 -B4` writes it; pagepress.decompress reads every frame";
    if header.legacy {
        return refused("a legacy one", REMEDY);
    }
    if header.linked {
        return refused("of linked blocks", REMEDY);
    }
    if is_second {
        return refused("several", REMEDY);
    }
    Ok(())
}

fn refused<T>(value: &str, expected: &'static str) -> Result<T> {
    Err(Error::InvalidArgument {
        name: "frame",
        value: value.into(),
        expected,
    })
}

fn described(offset: usize, data: &[u8], is_compressed: bool) -> Block {
    Block {
        offset: offset as u64,
        // The reader accepts at most 4 MiB.
        n_bytes: data.len() as u32,
        content: data.len() as u32,
        is_stored: !is_compressed,
    }
}

/// Most bytes of content of a block, which are those of a chunk.
const MAX_CONTENT: u64 = 65_536;

/// Adds the bytes of their contents to blocks of a frame whose header allows `most`.
fn measured(found: &[(Block, &[u8])], most: u64) -> Result<Vec<Block>> {
    let content_of = |(page, (block, data)): (usize, &(Block, &[u8]))| {
        let content = if block.is_stored {
            u64::from(block.n_bytes)
        } else {
            let measured = measure_block(data);
            measured.map_err(|source| Error::CorruptPage { page, source })?
        };
        if content > most {
            let source = BlockError::OutputOverrun;
            return Err(Error::CorruptPage { page, source });
        }
        if content > MAX_CONTENT {
            return refused(
                &format!("with {content} bytes of content in block {page}"),
                "a frame of blocks of at most 65536 bytes, as `lz4 -B4` writes it; pagepress.decompress reads every frame",
            );
        }
        Ok(Block {
            content: content as u32,
            ..*block
        })
    };
    // The first error is that of the first block that has one.
    let blocks: Vec<Result<Block>> = found.par_iter().enumerate().map(content_of).collect();
    blocks.into_iter().collect()
}
