//! Compresses memory of the GPU to a frame in memory of the GPU.
//!
//! Each chunk becomes a block in a slot of its own. When the sizes are known, size and block of each are copied to the frame.

use std::sync::Arc;

use pagepress::batch::{CompressChunks, CopyPieces};
use pagepress::lz4::frame::{FrameOptions, FrameWriter};
use pagepress::{Error, Result};

use super::Engine;
use super::memory::Memory;
use super::workspace::Parts;
use crate::cuda::Span;
use crate::cuda::frame::{Block, SIZE_BYTES};

/// Bit of a size that marks stored content.
const STORED: u32 = 1 << 31;
/// Bytes of an element of the arrays of a call.
const WORD: u64 = 8;

/// Places in the memory of a call.
struct Plan {
    n: u64,
    /// Arrays of `n` numbers: addresses of chunks, their bytes, addresses of blocks, their bytes. Then three, of a number for each
    /// piece of the frame; there are at most `2 * n` pieces.
    arrays: u64,
    slots: u64,
    /// Bytes of a slot: a size, and the longest block.
    slot: u64,
    scratch: u64,
    scratch_bytes: u64,
}

impl Engine {
    /// Compresses memory to a frame, on a stream, and waits for it.
    ///
    /// # Safety
    /// `content` is in the primary context of the GPU and stays until this returns, and nothing writes to it meanwhile, as seen from
    /// the stream, which is 1, 2 or was not destroyed.
    pub(in crate::cuda) unsafe fn compress(
        &self,
        content: Span,
        stream: u64,
    ) -> Result<(Arc<Memory>, Vec<Block>)> {
        let mut workspace = self.turn();
        let mut parts = Parts::default();
        let n = content
            .n_bytes
            .div_ceil(self.kernels.max_chunk_bytes().into());
        let scratch_bytes = self.scratch(|n| self.kernels.compress_scratch_bytes(n), n)?;
        let slot = (SIZE_BYTES + u64::from(self.kernels.max_block_bytes())).next_multiple_of(16);
        let mut plan = Plan {
            n,
            arrays: parts.add(n, 6 * WORD),
            slots: parts.add(n, slot),
            slot,
            scratch: parts.add(scratch_bytes, 1),
            scratch_bytes,
        };
        if n == 0 {
            // SAFETY: there are no slots; the caller guarantees the stream.
            return unsafe { self.to_frame(&plan, 0, &[], stream) };
        }
        let base = workspace.fit(&self.gpu, &parts)?;
        for offset in [&mut plan.arrays, &mut plan.slots, &mut plan.scratch] {
            *offset += base;
        }
        // SAFETY: the guarantees of this function's caller; the workspace has room for all parts of the plan, and its slots have the
        // blocks of these lengths when the kernels are done.
        let framed = unsafe {
            let lengths = self.to_slots(&plan, content, stream);
            lengths.and_then(|lengths| self.to_frame(&plan, content.n_bytes, &lengths, stream))
        };
        workspace.trim();
        framed
    }

    /// Compresses each chunk to its slot. Returns the bytes of the blocks.
    ///
    /// # Safety
    /// As for `compress`, and the plan has addresses.
    unsafe fn to_slots(&self, plan: &Plan, content: Span, stream: u64) -> Result<Vec<u64>> {
        let chunk_size = u64::from(self.kernels.max_chunk_bytes());
        let chunks = (0..plan.n).map(|i| content.address + i * chunk_size);
        let sizes = (0..plan.n).map(|i| chunk_size.min(content.n_bytes - i * chunk_size));
        let blocks = (0..plan.n).map(|i| plan.slots + i * plan.slot + SIZE_BYTES);
        let arrays: Vec<[u8; 8]> = chunks
            .chain(sizes)
            .chain(blocks)
            .map(u64::to_ne_bytes)
            .collect();
        let mut lengths = vec![0; (plan.n * WORD) as usize];
        let column = |k: u64| plan.arrays + k * plan.n * WORD;
        let call = CompressChunks {
            n: plan.n,
            chunks: column(0),
            chunk_bytes: column(1),
            blocks: column(2),
            block_bytes: column(3),
            scratch: plan.scratch,
            scratch_bytes: plan.scratch_bytes,
        };
        // SAFETY: the workspace has the arrays, the slots and the scratch memory of the plan, which only this call uses, and each slot
        // has room for the longest block. The chunks lie in `content`, which the caller guarantees, as it does the stream.
        unsafe {
            self.gpu.on(stream, |queue| {
                queue.upload(column(0), arrays.as_flattened())?;
                self.kernels.compress(&call, stream)?;
                queue.download(column(3), &mut lengths)
            })?;
        }
        let (words, _) = lengths.as_chunks::<8>();
        Ok(words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
    }

    /// Copies blocks from their slots to a new frame.
    ///
    /// # Safety
    /// The slots of the plan have blocks of these lengths, and the stream is 1, 2 or was not destroyed.
    unsafe fn to_frame(
        &self,
        plan: &Plan,
        n_bytes: u64,
        lengths: &[u64],
        stream: u64,
    ) -> Result<(Arc<Memory>, Vec<Block>)> {
        let header = header(n_bytes)?;
        let (blocks, end) = places(
            self.kernels.max_chunk_bytes(),
            n_bytes,
            header.len() as u64,
            lengths,
        )?;
        let frame = Memory::new(&self.gpu, end + SIZE_BYTES)?;
        let sizes: Vec<u8> = blocks
            .iter()
            .flat_map(|block| size_word(block).to_le_bytes())
            .collect();
        let mark = [0; SIZE_BYTES as usize];
        let start = frame.span().address;
        let pieces = pieces(plan, &blocks, lengths, start);
        let n_pieces = pieces.len() as u64 / 3;
        let column = |k: u64| plan.arrays + k * n_pieces * WORD;
        let call = CopyPieces {
            n: n_pieces,
            sources: column(0),
            piece_bytes: column(1),
            targets: column(2),
        };
        // SAFETY: the frame has room for the header, for each block behind its size, and for the mark, as `places` added them up. Each
        // slot has a size and a block of its length, whose last bytes are the content of a stored one, and nothing else uses either. The
        // arrays of the plan have room for those of the pieces, and the kernels that read others there are done.
        unsafe {
            self.gpu.on(stream, |queue| {
                queue.upload(start, &header)?;
                if !blocks.is_empty() {
                    queue.upload_words(plan.slots, plan.slot, &sizes)?;
                    queue.upload(column(0), pieces.as_flattened())?;
                    self.kernels.copy(&call, stream)?;
                }
                queue.upload(start + end, &mark)
            })?;
        }
        Ok((Arc::new(frame), blocks))
    }
}

/// Returns the sources, sizes and targets of the pieces of a frame at an address, one array behind the other. A slot is one piece, with the size
/// before the block, but a stored block is two.
fn pieces(plan: &Plan, blocks: &[Block], lengths: &[u64], start: u64) -> Vec<[u8; 8]> {
    let of = |(i, (block, length)): (usize, (&Block, &u64))| {
        let slot = plan.slots + i as u64 * plan.slot;
        let target = start + block.offset;
        let n_bytes = u64::from(block.n_bytes);
        let before = target - SIZE_BYTES;
        if block.is_stored {
            let content = slot + SIZE_BYTES + length - n_bytes;
            [
                Some([slot, SIZE_BYTES, before]),
                Some([content, n_bytes, target]),
            ]
        } else {
            [Some([slot, SIZE_BYTES + n_bytes, before]), None]
        }
    };
    let pieces: Vec<[u64; 3]> = blocks
        .iter()
        .zip(lengths)
        .enumerate()
        .flat_map(of)
        .flatten()
        .collect();
    (0..3)
        .flat_map(|k| pieces.iter().map(move |piece| piece[k].to_ne_bytes()))
        .collect()
}

/// Returns the header of a frame of independent blocks with this many bytes of content.
fn header(n_bytes: u64) -> Result<Vec<u8>> {
    let options = FrameOptions {
        content_checksum: false,
        content_size: Some(n_bytes),
        ..FrameOptions::default()
    };
    let mut header = Vec::new();
    FrameWriter::new(&options, &mut header)?;
    Ok(header)
}

/// Returns the size before a block.
const fn size_word(block: &Block) -> u32 {
    if block.is_stored {
        block.n_bytes | STORED
    } else {
        block.n_bytes
    }
}

/// Returns the places of blocks in a frame, the first behind a header, and the offset behind the last one. A block that is not shorter than
/// its chunk is one run of literals, which ends with the content: the frame stores that.
fn places(
    chunk_size: u32,
    n_bytes: u64,
    header: u64,
    lengths: &[u64],
) -> Result<(Vec<Block>, u64)> {
    let mut blocks = Vec::with_capacity(lengths.len());
    let (mut at, mut left) = (header, n_bytes);
    for &length in lengths {
        let content = left.min(chunk_size.into());
        left -= content;
        if length == 0 {
            return Err(Error::Engine {
                engine: "cuda",
                message: format!("chunk {} has no block", blocks.len()),
            });
        }
        let taken = length.min(content);
        blocks.push(Block {
            offset: at + SIZE_BYTES,
            n_bytes: taken as u32,
            content: content as u32,
            is_stored: length >= content,
        });
        at += SIZE_BYTES + taken;
    }
    Ok((blocks, at))
}
