//! Decompresses blocks of a frame in memory of the GPU.

use pagepress::batch::DecompressChunks;
use pagepress::lz4::BlockError;
use pagepress::{Error, Result};

use super::Engine;
use super::workspace::Parts;
use crate::cuda::Span;
use crate::cuda::frame::Block;

/// Bytes of an element of the arrays of a call, and of a status.
const WORD: u64 = 8;
const STATUS: u64 = 4;

/// A block with the place of its content.
struct Placed {
    index: usize,
    block: Block,
    content_at: u64,
}

impl Engine {
    /// Decompresses the blocks of a frame to `out`, one content behind the other, on a stream, and waits for it. The first block that is
    /// corrupt is the error; others are in `out` then.
    ///
    /// # Safety
    /// `frame` and `out` are in the primary context of the GPU and stay until this returns, `out` has room for all contents and does not
    /// overlap `frame`, and nothing else uses `out` or writes to `frame` meanwhile, as seen from the stream, which is 1, 2 or was not
    /// destroyed. Blocks lie inside of the frame.
    pub(in crate::cuda) unsafe fn decompress(
        &self,
        frame: Span,
        blocks: &[Block],
        out: Span,
        stream: u64,
    ) -> Result<()> {
        let mut content_at = 0;
        let placed = blocks.iter().enumerate().map(|(index, &block)| {
            let at = content_at;
            content_at += u64::from(block.content);
            Placed {
                index,
                block,
                content_at: at,
            }
        });
        let (stored, coded): (Vec<_>, Vec<_>) = placed.partition(|placed| placed.block.is_stored);
        // SAFETY: `frame` and `out` have these bytes, as the caller guarantees.
        unsafe {
            self.gpu.on(stream, |queue| {
                for Placed {
                    block, content_at, ..
                } in &stored
                {
                    let (to, from) = (out.address + content_at, frame.address + block.offset);
                    queue.copy(to, from, block.content.into())?;
                }
                Ok(())
            })?;
        }
        if coded.is_empty() {
            return Ok(());
        }
        // SAFETY: the guarantees of this function's caller.
        unsafe { self.decode(frame, &coded, out, stream) }
    }

    /// Decodes LZ4 blocks.
    ///
    /// # Safety
    /// As for `decompress`.
    unsafe fn decode(&self, frame: Span, coded: &[Placed], out: Span, stream: u64) -> Result<()> {
        let n = coded.len() as u64;
        let scratch_bytes = self.scratch(|n| self.kernels.decompress_scratch_bytes(n), n)?;
        let mut parts = Parts::default();
        let arrays = parts.add(n, 5 * WORD);
        let statuses = parts.add(n, STATUS);
        let scratch = parts.add(scratch_bytes, 1);
        let mut workspace = self.turn();
        let base = workspace.fit(&self.gpu, &parts)?;
        let column = |k: u64| base + arrays + k * n * WORD;
        let blocks = coded
            .iter()
            .map(|placed| frame.address + placed.block.offset);
        let sizes = coded.iter().map(|placed| placed.block.n_bytes.into());
        let contents = coded.iter().map(|placed| out.address + placed.content_at);
        let rooms = coded.iter().map(|placed| placed.block.content.into());
        let numbers = blocks.chain(sizes).chain(contents).chain(rooms);
        let numbers: Vec<[u8; 8]> = numbers.map(u64::to_ne_bytes).collect();
        let (mut lengths, mut codes) =
            (vec![0; (n * WORD) as usize], vec![0; (n * STATUS) as usize]);
        let call = DecompressChunks {
            n,
            blocks: column(0),
            block_bytes: column(1),
            chunks: column(2),
            capacities: column(3),
            chunk_bytes: column(4),
            statuses: base + statuses,
            scratch: base + scratch,
            scratch_bytes,
        };
        // SAFETY: the workspace has the arrays, the statuses and the scratch memory of the plan, which only this call uses. Blocks lie in
        // `frame` and contents in `out`, which the caller guarantees, as it does the stream.
        let done = unsafe {
            self.gpu.on(stream, |queue| {
                queue.upload(column(0), numbers.as_flattened())?;
                self.kernels.decompress(&call, stream)?;
                queue.download(column(4), &mut lengths)?;
                queue.download(base + statuses, &mut codes)
            })
        };
        workspace.trim();
        done.and_then(|()| check(coded, &lengths, &codes))
    }
}

/// Fails for the first block that is corrupt, or whose content is shorter than it was.
fn check(coded: &[Placed], lengths: &[u8], codes: &[u8]) -> Result<()> {
    let (lengths, codes) = (lengths.as_chunks::<8>().0, codes.as_chunks::<4>().0);
    for ((placed, length), code) in coded.iter().zip(lengths).zip(codes) {
        let source = match u32::from_ne_bytes(*code) {
            0 if u64::from_ne_bytes(*length) == u64::from(placed.block.content) => continue,
            0 => BlockError::OutputUnderrun,
            code => error_of(code),
        };
        let page = placed.index;
        return Err(Error::CorruptPage { page, source });
    }
    Ok(())
}

/// Returns the error of a status.
fn error_of(code: u32) -> BlockError {
    use BlockError::{
        BadTableEntry, OffsetTooFar, OutputOverrun, OutputUnderrun, Truncated, ZeroOffset,
    };
    let all = [
        Truncated,
        OutputOverrun,
        ZeroOffset,
        OffsetTooFar,
        OutputUnderrun,
    ];
    let found = all.into_iter().find(|&error| error as u32 == code);
    found.unwrap_or(BadTableEntry)
}
