//! Level Sequential.

use std::collections::BTreeMap;

use super::{indexed, match_length, sequence, word};

/// Hash tables of positions of the sequential parse, of the block and of its dictionary.
struct Table<'a> {
    input: &'a [u8],
    dictionary: &'a [u8],
    n_bytes: usize,
    n_bits: usize,
    /// Base of the positions; a lower position is replaced by it.
    base: usize,
    positions: BTreeMap<u64, usize>,
    in_dictionary: BTreeMap<u64, usize>,
}

impl Table<'_> {
    fn hash(bytes: &[u8], n_bits: usize) -> u64 {
        let bytes_of = |sum, &byte| sum << 8 | u128::from(byte);
        let n_product = 8 * bytes.len();
        let bytes = bytes.iter().rev().fold(0_u128, bytes_of);
        ((bytes * 0x9e_3779_b97f % (1 << n_product)) >> (n_product - n_bits)) as u64
    }

    /// Returns the offset of a match of `p`, in the block if there is one, and puts `p` into the table of the block.
    fn probe(&mut self, p: usize) -> Option<usize> {
        let bytes = &self.input[p..p + self.n_bytes];
        let before = self.positions.insert(Self::hash(bytes, self.n_bits), p);
        let q = before.unwrap_or(0).max(self.base);
        if word(self.input, q) == word(self.input, p) {
            return Some(p - q);
        }
        let &q = self.in_dictionary.get(&Self::hash(bytes, 15))?;
        let offset = p + self.dictionary.len() - q;
        (self.dictionary[q..].starts_with(bytes) && offset <= 65_535).then_some(offset)
    }

    fn find(&mut self, mut p: usize, last: usize) -> Result<(usize, usize), usize> {
        for t in 32.. {
            let next = p + t / 32;
            if p > last || next > last {
                break;
            }
            if let Some(offset) = self.probe(p) {
                return Ok((p, offset));
            }
            p = next;
        }
        Err(p)
    }

    /// Returns true if the match of `p` may begin a byte earlier.
    fn goes_back(&self, p: usize, offset: usize) -> bool {
        if offset > p {
            let q = p + self.dictionary.len() - offset;
            return q > 0 && self.dictionary[q - 1] == self.input[p - 1];
        }
        p - offset > self.base && self.input[p - 1] == self.input[p - offset - 1]
    }
}

/// Returns the block of `input`.
pub(super) fn block(input: &[u8], dictionary: &[u8], largest: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let mut anchor = 0;
    if let Some(last) = input.len().checked_sub(12) {
        let (n_bytes, n_bits) = if largest > 16_384 { (6, 13) } else { (5, 12) };
        let entry = |q| (Table::hash(&dictionary[q..q + n_bytes], 15), q);
        let mut table = Table {
            input,
            dictionary,
            n_bytes,
            n_bits,
            base: 0,
            positions: [].into(),
            in_dictionary: indexed(dictionary).map(entry).collect(),
        };
        let mut p = 1;
        loop {
            let within = last.min(table.base + 65_535);
            let ended = loop {
                let (mut start, mut offset) = match table.find(p, within) {
                    Ok(found) => found,
                    Err(ended) => break ended,
                };
                loop {
                    let end = start + match_length(input, dictionary, start, offset);
                    while start > anchor && table.goes_back(start, offset) {
                        start -= 1;
                    }
                    sequence(&mut out, &input[anchor..start], Some((offset, end - start)));
                    (anchor, p) = (end, end + 1);
                    if end > within {
                        break;
                    }
                    match table.probe(end) {
                        Some(again) => (start, offset) = (end, again),
                        None => break,
                    }
                }
                if anchor > within {
                    break anchor;
                }
            };
            if within == last {
                break;
            }
            (table.base, p) = (ended - 32_768, ended);
        }
    }
    sequence(&mut out, &input[anchor..], None);
    out
}
