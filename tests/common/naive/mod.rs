//! The encoders and the decoder implemented directly from their definitions, one step at a time: the reference for the
//! fast ones.

mod fast;
mod high;
mod sequential;

use std::ops::Range;

use pagepress::lz4::{BlockError, Level, Parse};

fn word(input: &[u8], p: usize) -> u32 {
    u32::from_le_bytes([input[p], input[p + 1], input[p + 2], input[p + 3]])
}

fn product(input: &[u8], p: usize, parse: &Parse) -> u64 {
    let mut product = u64::from(word(input, p)) * 2_654_435_761;
    if parse.hash_bytes() == 5 {
        product %= 1 << 32;
        product += u64::from(input[p + 4]) * 2_246_822_519;
    }
    product % (1 << 32)
}

fn bucket(input: &[u8], p: usize, parse: &Parse) -> usize {
    (product(input, p, parse) >> (32 - parse.bucket_bits())) as usize
}

/// Returns the length of the match of `p` in the block, or in the dictionary before it, where it ends at the latest.
fn match_length(input: &[u8], dictionary: &[u8], p: usize, offset: usize) -> usize {
    let end = input.len() - 5;
    let pairs = match offset.checked_sub(p) {
        None | Some(0) => input[p..end].iter().zip(&input[p - offset..]),
        Some(before) => input[p..end]
            .iter()
            .zip(&dictionary[dictionary.len() - before..]),
    };
    pairs.take_while(|(a, b)| a == b).count()
}

/// Returns the positions of a dictionary that may be candidates.
fn indexed(dictionary: &[u8]) -> Range<usize> {
    0..(dictionary.len() + 1).saturating_sub(8)
}

/// Returns the block of `input`.
pub fn compress_block(input: &[u8], parse: &Parse) -> Vec<u8> {
    compress_block_with(input, parse, &[])
}

/// Returns the block of `input`, before which a dictionary of at most 65,536 bytes stands.
pub fn compress_block_with(input: &[u8], parse: &Parse, dictionary: &[u8]) -> Vec<u8> {
    match parse.level() {
        Level::Sequential => sequential::block(input, dictionary, parse.page_size()),
        Level::High => high::block(input, dictionary, parse),
        _ => fast::block(input, dictionary, parse),
    }
}

fn sequence(out: &mut Vec<u8>, literals: &[u8], found: Option<(usize, usize)>) {
    let extra = found.map_or(0, |(_, length)| length - 4);
    out.push((literals.len().min(15) << 4 | extra.min(15)) as u8);
    length(out, literals.len());
    out.extend_from_slice(literals);
    if let Some((offset, _)) = found {
        out.extend_from_slice(&(offset as u16).to_le_bytes());
        length(out, extra);
    }
}

fn length(out: &mut Vec<u8>, length: usize) {
    if length >= 15 {
        out.extend(std::iter::repeat_n(255, (length - 15) / 255));
        out.push(((length - 15) % 255) as u8);
    }
}

/// Decodes byte by byte, with the checks in the order of the contract.
pub fn decompress_block(block: &[u8], page_length: usize) -> Result<Vec<u8>, BlockError> {
    decompress_block_with(block, page_length, &[])
}

/// As [`decompress_block`], after a dictionary.
pub fn decompress_block_with(
    block: &[u8],
    page_length: usize,
    dictionary: &[u8],
) -> Result<Vec<u8>, BlockError> {
    let page_length = dictionary.len() + page_length;
    let mut out = dictionary.to_vec();
    let mut ip = 0;
    let next = |ip: &mut usize| {
        *ip += 1;
        block.get(*ip - 1).copied().ok_or(BlockError::Truncated)
    };
    let long = |half: u8, ip: &mut usize| {
        let mut length = usize::from(half);
        if half == 15 {
            loop {
                let byte = next(ip)?;
                length += usize::from(byte);
                if byte != 255 {
                    break;
                }
            }
        }
        Ok(length)
    };
    loop {
        let token = next(&mut ip)?;
        let n_literals = long(token >> 4, &mut ip)?;
        if n_literals > block.len() - ip {
            return Err(BlockError::Truncated);
        }
        if n_literals > page_length - out.len() {
            return Err(BlockError::OutputOverrun);
        }
        out.extend_from_slice(&block[ip..ip + n_literals]);
        ip += n_literals;
        if ip == block.len() {
            let full = out.len() == page_length;
            return if full {
                Ok(out.split_off(dictionary.len()))
            } else {
                Err(BlockError::OutputUnderrun)
            };
        }
        if block.len() - ip < 2 {
            return Err(BlockError::Truncated);
        }
        let offset = usize::from(next(&mut ip)?) | usize::from(next(&mut ip)?) << 8;
        if offset == 0 {
            return Err(BlockError::ZeroOffset);
        }
        if offset > out.len() {
            return Err(BlockError::OffsetTooFar);
        }
        let length = 4 + long(token & 15, &mut ip)?;
        if length > page_length - out.len() {
            return Err(BlockError::OutputOverrun);
        }
        for _ in 0..length {
            out.push(out[out.len() - offset]);
        }
    }
}
