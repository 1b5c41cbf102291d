//! The reader of Blosc chunks.

use super::{
    BIT_SHUFFLE, BYTE_SHUFFLE, COMPRESSOR_SHIFT, COMPRESSORS, HEADER_BYTES, LENGTH_BYTES, LZ4,
    LZ4_VERSION, RESERVED, STORED, Shuffle, VERSION, n_parts,
};
use crate::lz4::formats::Container;
use crate::lz4::formats::input::Input;
use crate::lz4::formats::parts::{check_plausible, decode_part};
use crate::lz4::formats::shuffle;
use crate::memory::{extend, zeros};
use crate::{Error, Result};

/// Decompresses a chunk to at most `limit` bytes. Bytes after the chunk are ignored, as by C-Blosc.
///
/// # Errors
/// [`Error::OtherCompressor`] for a chunk that another compressor than LZ4 has written; [`Error::InvalidContainer`] for a
/// header or an offset that breaks the format; [`Error::TruncatedFrame`]; [`Error::CorruptPage`] with the number of the
/// block; [`Error::OutputLimit`]; [`Error::OutOfMemory`].
pub fn decompress(bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
    let chunk = Chunk::read(bytes)?;
    let limit = limit.unwrap_or(u64::MAX);
    if chunk.n_bytes as u64 > limit {
        return Err(Error::OutputLimit { limit });
    }
    if chunk.flags & STORED == 0 {
        return chunk.decompress();
    }
    let mut content = Vec::new();
    let stored = Input::new(chunk.bytes, HEADER_BYTES).take(chunk.n_bytes)?;
    extend(&mut content, stored)?;
    Ok(content)
}

/// A chunk whose header has been checked.
struct Chunk<'a> {
    /// The chunk without what follows it.
    bytes: &'a [u8],
    flags: u8,
    element_size: usize,
    n_bytes: usize,
    /// Bytes of content of a block; at least 1, but for a chunk without content.
    block_bytes: usize,
}

impl<'a> Chunk<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut input = Input::new(bytes, 0);
        let &[version, lz4_version, flags, element_size] = input.take(4)? else {
            return Err(invalid("header", 0, 0));
        };
        let (n_bytes, block_bytes, chunk_bytes) =
            (input.little()?, input.little()?, input.little()?);
        if version != VERSION {
            return Err(invalid("version", version.into(), 0));
        }
        if flags & RESERVED != 0 {
            return Err(invalid("reserved flag", flags.into(), 2));
        }
        check_compressor(flags, lz4_version)?;
        if element_size == 0 {
            return Err(invalid("element size", 0, 3));
        }
        if n_bytes > i32::MAX as u32 {
            return Err(invalid("content size", n_bytes.into(), 4));
        }
        if n_bytes > 0 && !(1..=n_bytes).contains(&block_bytes) {
            return Err(invalid("block size", block_bytes.into(), 8));
        }
        if (chunk_bytes as usize) < HEADER_BYTES {
            return Err(invalid("chunk size", chunk_bytes.into(), 12));
        }
        Ok(Self {
            bytes: Input::new(bytes, 0).take(chunk_bytes as usize)?,
            flags,
            element_size: element_size.into(),
            n_bytes: n_bytes as usize,
            block_bytes: block_bytes as usize,
        })
    }

    fn decompress(&self) -> Result<Vec<u8>> {
        if self.n_bytes == 0 {
            return Ok(Vec::new());
        }
        let n_blocks = self.n_bytes.div_ceil(self.block_bytes);
        let mut starts = Input::new(self.bytes, HEADER_BYTES);
        // Before memory is allocated: each block needs an offset, and its content some bytes.
        Input::new(self.bytes, HEADER_BYTES).take(n_blocks.saturating_mul(LENGTH_BYTES))?;
        check_plausible(Container::Blosc, self.n_bytes as u64, self.bytes.len(), 4)?;
        let mut content = zeros(self.n_bytes)?;
        let spare = if self.shuffle() == Shuffle::None {
            0
        } else {
            self.block_bytes
        };
        let (mut shuffled, mut planes) = (zeros(spare)?, Vec::new());
        if self.shuffle() == Shuffle::Bit {
            planes = zeros(spare)?;
        }
        for (number, to) in content.chunks_mut(self.block_bytes).enumerate() {
            let mut input = Input::new(self.bytes, starts.little()? as usize);
            let n = to.len();
            match self.shuffle().of_block(self.element_size, n) {
                Shuffle::None => self.block(number, &mut input, to)?,
                Shuffle::Byte => {
                    self.block(number, &mut input, &mut shuffled[..n])?;
                    shuffle::unshuffle_to(&shuffled[..n], self.element_size, to);
                }
                Shuffle::Bit => {
                    self.block(number, &mut input, &mut shuffled[..n])?;
                    shuffle::bit_unshuffle_to(&shuffled[..n], self.element_size, &mut planes, to);
                }
            }
        }
        Ok(content)
    }

    const fn shuffle(&self) -> Shuffle {
        match self.flags & (BYTE_SHUFFLE | BIT_SHUFFLE) {
            0 => Shuffle::None,
            BIT_SHUFFLE => Shuffle::Bit,
            _ => Shuffle::Byte,
        }
    }

    /// Decodes the parts of a block to `to`.
    fn block(&self, number: usize, input: &mut Input<'_>, to: &mut [u8]) -> Result<()> {
        let is_short = to.len() < self.block_bytes;
        let n_parts = n_parts(self.flags, self.element_size, to.len(), is_short);
        let part_bytes = to.len() / n_parts;
        if !to.len().is_multiple_of(n_parts) {
            return Err(invalid("block size", to.len() as u64, 8));
        }
        for to in to.chunks_exact_mut(part_bytes) {
            let n = input.little()? as usize;
            decode_part(number, input.take(n)?, to)?;
        }
        Ok(())
    }
}

fn check_compressor(flags: u8, lz4_version: u8) -> Result<()> {
    let number = flags >> COMPRESSOR_SHIFT;
    if flags & STORED != 0 {
        // Nothing is compressed.
        return Ok(());
    }
    if number != LZ4 {
        let name = COMPRESSORS.get(usize::from(number)).copied();
        return Err(Error::OtherCompressor {
            format: Container::Blosc,
            name: name.unwrap_or("an unknown compressor"),
        });
    }
    if lz4_version != LZ4_VERSION {
        return Err(invalid("version of LZ4", lz4_version.into(), 1));
    }
    Ok(())
}

const fn invalid(what: &'static str, value: u64, at: u64) -> Error {
    Error::InvalidContainer {
        format: Container::Blosc,
        what,
        value,
        at,
    }
}
