//! Byte shuffle and bit shuffle, which make arrays of numbers more compressible.
//!
//! Byte shuffle stores the first bytes of all elements, then their second bytes, and so on. Bit shuffle also splits each
//! of these planes into eight rows: the lowest bits of its bytes, eight in a byte with the first element lowest, then the
//! next bits.
//!
//! The definitions are those of [C-Blosc](https://github.com/Blosc/c-blosc/blob/main/blosc/shuffle-generic.h) and of
//! [bitshuffle](https://github.com/kiyo-masui/bitshuffle/blob/master/src/bitshuffle_core.c).

use crate::memory::zeros;
use crate::{Error, Result};

/// Elements whose bits share a byte.
pub(super) const GROUP: usize = 8;

/// Shuffles the bytes of elements of `element_size` bytes. The bytes of an incomplete element at the end are copied.
///
/// # Errors
/// [`Error::InvalidArgument`] for an element size of 0; [`Error::OutOfMemory`].
pub fn shuffle(bytes: &[u8], element_size: usize) -> Result<Vec<u8>> {
    converted(bytes, element_size, shuffle_to)
}

/// Undoes [`shuffle`].
///
/// # Errors
/// Those of [`shuffle`].
pub fn unshuffle(bytes: &[u8], element_size: usize) -> Result<Vec<u8>> {
    converted(bytes, element_size, unshuffle_to)
}

/// Shuffles the bits of elements of `element_size` bytes. Bytes after the last eight whole elements are copied.
///
/// # Errors
/// [`Error::InvalidArgument`] for an element size of 0; [`Error::OutOfMemory`].
pub fn bit_shuffle(bytes: &[u8], element_size: usize) -> Result<Vec<u8>> {
    let mut planes = zeros(bytes.len())?;
    converted(bytes, element_size, |from, size, to| {
        bit_shuffle_to(from, size, &mut planes, to);
    })
}

/// Undoes [`bit_shuffle`].
///
/// # Errors
/// Those of [`bit_shuffle`].
pub fn bit_unshuffle(bytes: &[u8], element_size: usize) -> Result<Vec<u8>> {
    let mut planes = zeros(bytes.len())?;
    converted(bytes, element_size, |from, size, to| {
        bit_unshuffle_to(from, size, &mut planes, to);
    })
}

fn converted(
    bytes: &[u8],
    element_size: usize,
    convert: impl FnOnce(&[u8], usize, &mut [u8]),
) -> Result<Vec<u8>> {
    if element_size == 0 {
        return Err(Error::invalid("element size", 0, "give at least 1 byte"));
    }
    let mut to = zeros(bytes.len())?;
    convert(bytes, element_size, &mut to);
    Ok(to)
}

/// As [`shuffle`], to memory of the same length. `size` is at least 1.
pub(super) fn shuffle_to(from: &[u8], size: usize, to: &mut [u8]) {
    let n = from.len() / size;
    let (from, rest) = from.split_at(n * size);
    let (planes, end) = to.split_at_mut(n * size);
    end.copy_from_slice(rest);
    match size {
        1 => planes.copy_from_slice(from),
        2 => split::<2>(from, planes),
        4 => split::<4>(from, planes),
        _ => split_by_eight(from, size, planes),
    }
}

/// As [`unshuffle`], to memory of the same length. `size` is at least 1.
pub(super) fn unshuffle_to(from: &[u8], size: usize, to: &mut [u8]) {
    let n = from.len() / size;
    let (planes, rest) = from.split_at(n * size);
    let (to, end) = to.split_at_mut(n * size);
    end.copy_from_slice(rest);
    match size {
        1 => to.copy_from_slice(planes),
        2 => join::<2>(planes, to),
        4 => join::<4>(planes, to),
        8 => join_by_eight(planes, 8, to),
        _ => join_by_eight(planes, size, to),
    }
}

/// As [`bit_shuffle`], to memory of the same length, with `planes` of that length for the step between.
pub(super) fn bit_shuffle_to(from: &[u8], size: usize, planes: &mut [u8], to: &mut [u8]) {
    let n = from.len() / size / GROUP * GROUP;
    let (from, rest) = from.split_at(n * size);
    let (to, end) = to.split_at_mut(n * size);
    end.copy_from_slice(rest);
    let planes = &mut planes[..n * size];
    shuffle_to(from, size, planes);
    for (plane, rows) in planes
        .chunks_exact(n.max(1))
        .zip(to.chunks_exact_mut(n.max(1)))
    {
        to_rows(plane, rows);
    }
}

/// As [`bit_unshuffle`], to memory of the same length, with `planes` of that length for the step between.
pub(super) fn bit_unshuffle_to(from: &[u8], size: usize, planes: &mut [u8], to: &mut [u8]) {
    let n = from.len() / size / GROUP * GROUP;
    let (from, rest) = from.split_at(n * size);
    let (to, end) = to.split_at_mut(n * size);
    end.copy_from_slice(rest);
    let planes = &mut planes[..n * size];
    for (rows, plane) in from
        .chunks_exact(n.max(1))
        .zip(planes.chunks_exact_mut(n.max(1)))
    {
        to_plane(rows, plane);
    }
    unshuffle_to(planes, size, to);
}

/// Splits elements of `N` bytes into planes. Compilers make vector code of it for `N` of 2 and 4.
fn split<const N: usize>(from: &[u8], planes: &mut [u8]) {
    let (elements, _) = from.as_chunks::<N>();
    for (k, plane) in planes.chunks_exact_mut(elements.len().max(1)).enumerate() {
        for (byte, element) in plane.iter_mut().zip(elements) {
            *byte = element[k];
        }
    }
}

/// Undoes [`split`].
fn join<const N: usize>(planes: &[u8], to: &mut [u8]) {
    let (elements, _) = to.as_chunks_mut::<N>();
    let n = elements.len();
    let planes: [&[u8]; N] = std::array::from_fn(|k| &planes[k * n..][..n]);
    for (i, element) in elements.iter_mut().enumerate() {
        for (byte, plane) in element.iter_mut().zip(planes) {
            *byte = plane[i];
        }
    }
}

/// Splits elements of any size into planes: eight bytes of eight elements at a time, and the others one by one.
fn split_by_eight(from: &[u8], size: usize, planes: &mut [u8]) {
    let n = from.len() / size;
    for first in (0..size - size % 8).step_by(8) {
        for (i, elements) in from.chunks_exact(8 * size).enumerate() {
            let mut tile = std::array::from_fn(|j| word(&elements[j * size + first..]));
            transpose_bytes(&mut tile);
            put_tile(&tile, &mut planes[first * n + 8 * i..], n);
        }
    }
    for (k, i) in remaining(n, size) {
        planes[k * n + i] = from[i * size + k];
    }
}

/// Undoes [`split_by_eight`].
#[inline(always)]
fn join_by_eight(planes: &[u8], size: usize, to: &mut [u8]) {
    let n = to.len() / size;
    for first in (0..size - size % 8).step_by(8) {
        let tiles = eight(&planes[first * n..], n);
        for (i, elements) in to.chunks_exact_mut(8 * size).enumerate() {
            let mut tile = tiles.map(|plane| u64::from_le_bytes(plane[i]));
            transpose_bytes(&mut tile);
            for (j, word) in tile.into_iter().enumerate() {
                elements[j * size + first..][..8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
    for (k, i) in remaining(n, size) {
        to[i * size + k] = planes[k * n + i];
    }
}

/// Returns plane and element of the bytes outside the tiles of eight planes and eight elements.
fn remaining(n: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).flat_map(move |k| {
        let is_tiled = k < size - size % 8;
        let start = if is_tiled { n - n % 8 } else { 0 };
        (start..n).map(move |i| (k, i))
    })
}

/// Returns the whole words of the first eight parts of `n` bytes. With the `n` of a loop's bound, compilers see that no index is
/// out of bounds.
#[inline(always)]
fn eight(bytes: &[u8], n: usize) -> [&[[u8; 8]]; 8] {
    std::array::from_fn(|k| bytes[k * n..][..n].as_chunks().0)
}

/// Writes the words of a tile, each `n` bytes behind the one before.
fn put_tile(tile: &[u64; 8], to: &mut [u8], n: usize) {
    for (k, word) in tile.iter().enumerate() {
        to[k * n..][..8].copy_from_slice(&word.to_le_bytes());
    }
}

/// Returns the first eight bytes, of at least as many.
fn word(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |word| u64::from_le_bytes(*word))
}

/// Splits a plane, whose length is a multiple of eight, into its eight rows.
fn to_rows(plane: &[u8], rows: &mut [u8]) {
    let n = plane.len() / GROUP;
    for (i, part) in plane.as_chunks::<64>().0.iter().enumerate() {
        let mut tile = std::array::from_fn(|j| word(&part[j * 8..]));
        transpose_bytes(&mut tile);
        transpose_bits(&mut tile);
        put_tile(&tile, &mut rows[8 * i..], n);
    }
    for i in n - n % 8..n {
        for k in 0..8 {
            let bits = plane[i * 8..][..8].iter().rev();
            rows[k * n + i] = bits.fold(0, |row, byte| row << 1 | byte >> k & 1);
        }
    }
}

/// Undoes [`to_rows`].
fn to_plane(rows: &[u8], plane: &mut [u8]) {
    let n = plane.len() / GROUP;
    let tiles = eight(rows, n);
    let (parts, _) = plane.as_chunks_mut::<64>();
    for (i, part) in parts.iter_mut().enumerate() {
        let mut tile = tiles.map(|row| u64::from_le_bytes(row[i]));
        transpose_bits(&mut tile);
        transpose_bytes(&mut tile);
        for (to, word) in part.as_chunks_mut::<8>().0.iter_mut().zip(tile) {
            *to = word.to_le_bytes();
        }
    }
    for i in n - n % 8..n {
        for j in 0..8 {
            let bits = (0..8).rev().map(|k| rows[k * n + i] >> j & 1);
            plane[i * 8 + j] = bits.fold(0, |byte, bit| byte << 1 | bit);
        }
    }
}

/// Exchanges rows and columns of the square of bytes whose rows are the words. Its own inverse.
#[inline(always)]
fn transpose_bytes(words: &mut [u64; 8]) {
    exchange(words, 4, 32, 0x0000_0000_ffff_ffff);
    exchange(words, 2, 16, 0x0000_ffff_0000_ffff);
    exchange(words, 1, 8, 0x00ff_00ff_00ff_00ff);
}

/// Exchanges, in each of the eight columns of bytes, the number of a bit with the number of its word. Its own inverse.
#[inline(always)]
fn transpose_bits(words: &mut [u64; 8]) {
    exchange(words, 4, 4, 0x0f0f_0f0f_0f0f_0f0f);
    exchange(words, 2, 2, 0x3333_3333_3333_3333);
    exchange(words, 1, 1, 0x5555_5555_5555_5555);
}

/// Exchanges, for words `i` and `i + step`, the bits `mask << shift` of the first with the bits `mask` of the second.
#[inline(always)]
fn exchange(words: &mut [u64; 8], step: usize, shift: u32, mask: u64) {
    for i in (0..8).filter(|i| i & step == 0) {
        let bits = (words[i] >> shift ^ words[i + step]) & mask;
        words[i + step] ^= bits;
        words[i] ^= bits << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(n: usize) -> Vec<u8> {
        (0..n).map(|i| (i * 37 % 251) as u8).collect()
    }

    /// Bit `i` of the result by the definition: rows of all elements' bit `bit`.
    fn by_definition(bytes: &[u8], size: usize) -> Vec<u8> {
        let n = bytes.len() / size / 8 * 8;
        let mut to = vec![0; n * size];
        for bit in 0..n * size * 8 {
            let (row, i) = (bit / n, bit % n);
            let value = bytes[i * size + row / 8] >> (row % 8) & 1;
            to[bit / 8] |= value << (bit % 8);
        }
        to.extend_from_slice(&bytes[n * size..]);
        to
    }

    #[test]
    fn sizes_and_lengths_agree_with_the_definition() -> Result<()> {
        for size in [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 24, 31, 255] {
            for n in [0, 1, 7, 8, 9, 15, 16, 63, 64, 65, 128, 200, 515] {
                for rest in [0, size - 1] {
                    let bytes = painted(n * size + rest);
                    let whole = n * size;
                    let shuffled = shuffle(&bytes, size)?;
                    let expected = (0..whole).map(|at| bytes[at % n * size + at / n]);
                    assert!(expected.eq(shuffled[..whole].iter().copied()), "{size} {n}");
                    assert_eq!(shuffled[whole..], bytes[whole..]);
                    assert!(unshuffle(&shuffled, size)? == bytes, "{size} {n}");
                    let bits = bit_shuffle(&bytes, size)?;
                    assert!(bits == by_definition(&bytes, size), "{size} {n}");
                    assert!(bit_unshuffle(&bits, size)? == bytes, "{size} {n}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn an_element_has_bytes() {
        for convert in [shuffle, unshuffle, bit_shuffle, bit_unshuffle] {
            let refused = convert(&[1, 2], 0);
            assert!(matches!(refused, Err(Error::InvalidArgument { .. })));
        }
    }
}
