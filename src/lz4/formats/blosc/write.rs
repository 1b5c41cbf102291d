//! The writer of Blosc chunks.

use super::{
    BIT_SHUFFLE, BYTE_SHUFFLE, BloscOptions, COMPRESSOR_SHIFT, HEADER_BYTES, LEAST_PART,
    LENGTH_BYTES, LZ4, LZ4_VERSION, MOST_PARTS, NOT_SPLIT, STORED, Shuffle, VERSION, n_parts,
};
use crate::lz4::formats::parts::{encode_part, encoder_of};
use crate::lz4::formats::shuffle;
use crate::lz4::{Encoder, Level};
use crate::memory::{extend, reserve, zeros};
use crate::{Error, Result};

/// Most bytes of content of a chunk.
const MOST_CONTENT: usize = i32::MAX as usize - HEADER_BYTES;
/// Content of a part in bytes, if the caller does not say: an LZ4 match reaches as far back.
const PART_BYTES: usize = 64 << 10;

/// Compresses `content` to one chunk, which C-Blosc 1 and 2 read.
///
/// Blocks are split if they are shuffled, so that incompressible bytes of elements cost nothing. Content that does not
/// become shorter is stored.
///
/// # Errors
/// [`Error::InvalidArgument`] for an element size of 0, for 2 GiB of content or more, and for parts of more than 4 MiB at a
/// level other than [`Level::Sequential`]; [`Error::OutOfMemory`].
pub fn compress(content: &[u8], options: &BloscOptions) -> Result<Vec<u8>> {
    let element_size = match options.element_size {
        0 => return Err(Error::invalid("element size", 0, "give at least 1 byte")),
        256.. => 1,
        size => size,
    };
    if content.len() > MOST_CONTENT {
        let expected = "give a chunk less than 2 GiB";
        return Err(Error::invalid(
            "content length",
            content.len() as u64,
            expected,
        ));
    }
    let layout = Layout::new(content.len(), element_size, options);
    let mut out = Vec::new();
    if let Some(level) = options.level.filter(|_| content.len() >= LEAST_PART) {
        layout.compress(content, level, &mut out)?;
        if out.len() < content.len() + HEADER_BYTES {
            return Ok(out);
        }
    }
    out.clear();
    layout.put_header(
        layout.flags | STORED,
        HEADER_BYTES + content.len(),
        &mut out,
    )?;
    extend(&mut out, content)?;
    Ok(out)
}

/// The header of a chunk, but for its length.
struct Layout {
    flags: u8,
    element_size: usize,
    n_bytes: usize,
    block_bytes: usize,
    shuffle: Shuffle,
}

impl Layout {
    fn new(n_bytes: usize, element_size: usize, options: &BloscOptions) -> Self {
        let shuffle = options.shuffle;
        let is_split = shuffle != Shuffle::None && element_size <= MOST_PARTS;
        let suitable = PART_BYTES * if is_split { element_size } else { 4 };
        let block_bytes = match options.block_size {
            0 => suitable,
            given => given,
        };
        // Bit shuffle takes groups of elements.
        let unit = element_size
            * if shuffle == Shuffle::Bit {
                shuffle::GROUP
            } else {
                1
            };
        let shuffle_flag = match shuffle {
            Shuffle::None => 0,
            Shuffle::Byte => BYTE_SHUFFLE,
            Shuffle::Bit => BIT_SHUFFLE,
        };
        let split_flag = if is_split { 0 } else { NOT_SPLIT };
        Self {
            flags: LZ4 << COMPRESSOR_SHIFT | shuffle_flag | split_flag,
            element_size,
            n_bytes,
            block_bytes: whole_units(block_bytes.max(unit).min(n_bytes), unit),
            shuffle,
        }
    }

    fn put_header(&self, flags: u8, n_bytes: usize, out: &mut Vec<u8>) -> Result<()> {
        extend(out, &[VERSION, LZ4_VERSION, flags, self.element_size as u8])?;
        for number in [self.n_bytes, self.block_bytes, n_bytes] {
            extend(out, &(number as u32).to_le_bytes())?;
        }
        Ok(())
    }

    /// Appends the chunk to `out`; stops where it becomes longer than stored content.
    fn compress(&self, content: &[u8], level: Level, out: &mut Vec<u8>) -> Result<()> {
        let n_blocks = self.n_bytes.div_ceil(self.block_bytes);
        reserve(out, content.len() / 2)?;
        self.put_header(self.flags, 0, out)?;
        extend(out, &zeros::<u8>(n_blocks * LENGTH_BYTES)?)?;
        let part_bytes = self.block_bytes / self.n_parts(self.block_bytes);
        // The last block may be short, and is not split then.
        let longest = part_bytes.max(self.n_bytes % self.block_bytes);
        let mut encoder = encoder_of(longest, level)?;
        let (mut shuffled, mut planes) = (zeros(self.block_bytes)?, Vec::new());
        if self.shuffle == Shuffle::Bit {
            planes = zeros(self.block_bytes)?;
        }
        for (number, block) in content.chunks(self.block_bytes).enumerate() {
            let start = out.len();
            put(out, HEADER_BYTES + number * LENGTH_BYTES, start);
            let to = &mut shuffled[..block.len()];
            let block = match self.shuffle.of_block(self.element_size, block.len()) {
                Shuffle::None => block,
                Shuffle::Byte => {
                    shuffle::shuffle_to(block, self.element_size, to);
                    to
                }
                Shuffle::Bit => {
                    shuffle::bit_shuffle_to(block, self.element_size, &mut planes, to);
                    to
                }
            };
            self.put_parts(block, &mut encoder, out)?;
            if out.len() >= content.len() + HEADER_BYTES {
                return Ok(());
            }
        }
        let n_bytes = out.len();
        put(out, HEADER_BYTES - LENGTH_BYTES, n_bytes);
        Ok(())
    }

    fn n_parts(&self, block_bytes: usize) -> usize {
        n_parts(
            self.flags,
            self.element_size,
            block_bytes,
            block_bytes < self.block_bytes,
        )
    }

    fn put_parts(&self, block: &[u8], encoder: &mut Encoder, out: &mut Vec<u8>) -> Result<()> {
        for part in block.chunks_exact(block.len() / self.n_parts(block.len())) {
            let at = out.len();
            extend(out, &[0; LENGTH_BYTES])?;
            encode_part(part, encoder, out)?;
            let n_bytes = out.len() - at - LENGTH_BYTES;
            put(out, at, n_bytes);
        }
        Ok(())
    }
}

/// Rounds a number of bytes down to whole units; at least 1.
fn whole_units(n_bytes: usize, unit: usize) -> usize {
    match n_bytes / unit * unit {
        0 => n_bytes.max(1),
        whole => whole,
    }
}

/// Writes a number at `at`.
fn put(out: &mut [u8], at: usize, number: usize) {
    out[at..at + LENGTH_BYTES].copy_from_slice(&(number as u32).to_le_bytes());
}
