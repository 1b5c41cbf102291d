//! The encoders and the decoder implemented directly from their definitions, one step at a time: the reference for the
//! fast ones.

use std::collections::BTreeMap;
use std::ops::Range;

use pagepress::lz4::{BlockError, LAZY_BELOW, Level, Parse};

const WINDOW: usize = 64;

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

fn tag(input: &[u8], p: usize, parse: &Parse) -> usize {
    (product(input, p, parse) >> 16) as usize % (1 << parse.tag_bits())
}

fn run(input: &[u8], p: usize) -> bool {
    p >= 1 && word(input, p - 1) == word(input, p)
}

/// Returns the offset to the position of an entry if it matches, else 0; `None` is the empty entry of large blocks.
fn offset_of(input: &[u8], entry: Option<usize>, p: usize, parse: &Parse) -> usize {
    let Some(entry) = entry else { return 0 };
    let q = (entry >> parse.tag_bits()) ^ 63;
    let reach = !parse.is_large() || p.wrapping_sub(q) <= 65_535;
    let n = parse.hash_bytes() as usize;
    if q < p && reach && input[q..q + n] == input[p..p + n] {
        p - q
    } else {
        0
    }
}

/// Returns the candidate of every searchable position, as an offset or 0.
fn candidates(input: &[u8], parse: &Parse) -> Vec<usize> {
    let n = input.len();
    let mut found = Vec::new();
    if n < 13 {
        return found;
    }
    let empty = if parse.is_large() { None } else { Some(0) };
    let mut table = vec![(empty, empty); 1 << parse.bucket_bits()];
    for start in (0..=n - 12).step_by(WINDOW) {
        let window = start..(start + WINDOW).min(n - 12 + 1);
        for p in window.clone() {
            let (a, b) = table[bucket(input, p, parse)];
            let offset = if run(input, p) {
                1
            } else if parse.tag_bits() > 0 {
                let same_tag = |entry: &Option<usize>| {
                    entry.is_some_and(|e| e % (1 << parse.tag_bits()) == tag(input, p, parse))
                };
                let tried = [a, b].into_iter().find(same_tag).flatten();
                offset_of(input, tried, p, parse)
            } else {
                match offset_of(input, a, p, parse) {
                    0 => offset_of(input, b, p, parse),
                    offset => offset,
                }
            };
            found.push(offset);
        }
        let mut largest = BTreeMap::new();
        for p in window.filter(|&p| !run(input, p)) {
            let entry = (p ^ 63) << parse.tag_bits() | tag(input, p, parse);
            let slot = largest.entry(bucket(input, p, parse)).or_insert(entry);
            *slot = entry.max(*slot);
        }
        for (bucket, entry) in largest {
            table[bucket] = (Some(entry), table[bucket].0);
        }
    }
    found
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

/// Replaces candidates in the block by those in the dictionary, where they are preferred.
fn add_dictionary(offsets: &mut [usize], input: &[u8], dictionary: &[u8]) {
    let bucket = |bytes: &[u8], p: usize| {
        let fifth = u32::from(bytes[p + 4]).wrapping_mul(2_246_822_519);
        word(bytes, p)
            .wrapping_mul(2_654_435_761)
            .wrapping_add(fifth)
            >> 17
    };
    let mut index = BTreeMap::new();
    for q in indexed(dictionary) {
        index.insert(bucket(dictionary, q), q);
    }
    for (p, own) in offsets.iter_mut().enumerate() {
        let Some(&q) = index.get(&bucket(input, p)) else {
            continue;
        };
        let n_equal = |source: &[u8]| (0..8).take_while(|&i| source[i] == input[p + i]).count();
        let n_own = if *own == 0 {
            0
        } else {
            n_equal(&input[p - *own..])
        };
        let n_there = n_equal(&dictionary[q..]);
        let offset = p + dictionary.len() - q;
        if n_there >= 5 && n_there > n_own && offset <= 65_535 {
            *own = offset;
        }
    }
}

/// Returns the block of `input`.
pub fn compress_block(input: &[u8], parse: &Parse) -> Vec<u8> {
    compress_block_with(input, parse, &[])
}

/// Returns the block of `input`, before which a dictionary of at most 65,536 bytes stands.
pub fn compress_block_with(input: &[u8], parse: &Parse, dictionary: &[u8]) -> Vec<u8> {
    match parse.level() {
        Level::Sequential => return sequential_block(input, dictionary, parse.page_size()),
        Level::High => return cheapest_block(input, dictionary, parse),
        _ => {}
    }
    let mut offsets = candidates(input, parse);
    add_dictionary(&mut offsets, input, dictionary);
    let match_length = |p, offset| match_length(input, dictionary, p, offset);
    let mut out = Vec::new();
    let (mut p, mut anchor) = (0, 0);
    while let Some(ahead) = offsets
        .get(p..)
        .and_then(|rest| rest.iter().position(|&offset| offset != 0))
    {
        let mut m = p + ahead;
        let mut length = match_length(m, offsets[m]);
        if parse.lazy() && length < LAZY_BELOW && m + 1 < offsets.len() && offsets[m + 1] != 0 {
            let next = match_length(m + 1, offsets[m + 1]);
            if next > length {
                (m, length) = (m + 1, next);
            }
        }
        let (offset, end) = (offsets[m], m + length);
        sequence(&mut out, &input[anchor..m], Some((offset, end - m)));
        p = end;
        anchor = end;
    }
    sequence(&mut out, &input[anchor..], None);
    out
}

/// Returns the match of every position of a part of level High, as length and offset; (0, 0) for none.
fn longest_matches(
    input: &[u8],
    dictionary: &[u8],
    part: Range<usize>,
    parse: &Parse,
) -> Vec<(usize, usize)> {
    let n_searchable = input.len() - 11;
    let dictionary_bucket = |bytes: &[u8], p| word(bytes, p).wrapping_mul(2_654_435_761) >> 17;
    let mut in_dictionary: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for q in indexed(dictionary) {
        let bucket = dictionary_bucket(dictionary, q);
        in_dictionary.entry(bucket).or_default().push(q);
    }
    let mut same_hash: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut found = vec![(0, 0); part.len()];
    for p in part.start.saturating_sub(65_535)..part.end.min(n_searchable) {
        let earlier = same_hash.entry(bucket(input, p, parse)).or_default();
        if p >= part.start {
            let reached = earlier.iter().rev().filter(|&&q| p - q <= 65_535);
            for &q in reached.take(64) {
                let same = (p..input.len() - 5).take_while(|&i| input[i] == input[i + q - p]);
                let length = same.take(128).count();
                if length >= 4 && length > found[p - part.start].0 {
                    found[p - part.start] = (length, p - q);
                }
                if length == 128 {
                    break;
                }
            }
            let there = in_dictionary.get(&dictionary_bucket(input, p));
            let offsets = there.into_iter().flatten().rev();
            let offsets = offsets.map(|q| p + dictionary.len() - q);
            for offset in offsets.filter(|&offset| offset <= 65_535).take(16) {
                let length = match_length(input, dictionary, p, offset).min(128);
                if length >= 4 && length > found[p - part.start].0 {
                    found[p - part.start] = (length, offset);
                }
            }
        }
        earlier.push(p);
    }
    for i in (1..found.len()).rev() {
        let (length, offset) = found[i];
        let p = part.start + i - 1;
        let longer = length >= 8 || length >= found[i - 1].0;
        let goes_on = if offset > p + 1 {
            let at = (p + dictionary.len()).checked_sub(offset);
            at.is_some_and(|at| input[p] == dictionary[at])
        } else {
            p >= offset && input[p] == input[p - offset]
        };
        if (4..65_535).contains(&length) && longer && goes_on {
            found[i - 1] = (length + 1, offset);
        }
    }
    found
}

/// Returns the block of level High.
fn cheapest_block(input: &[u8], dictionary: &[u8], parse: &Parse) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut p, mut anchor) = (0, 0);
    for start in (0..input.len()).step_by(65_536) {
        if input.len() < 13 {
            break;
        }
        let part = start..input.len().min(start + 65_536);
        let mut chosen = longest_matches(input, dictionary, part.clone(), parse);
        let mut costs = vec![0; part.len() + 1];
        for i in (0..part.len()).rev() {
            let (length, offset) = chosen[i];
            let cost_of = |length: usize| {
                let mut extension = Vec::new();
                self::length(&mut extension, length - 4);
                3 + extension.len() + costs[part.len().min(i + length)]
            };
            let mut ways = vec![(1 + costs[i + 1], 0)];
            if length >= 4 {
                ways.push((cost_of(length), length));
            }
            if length > 18 {
                ways.push((cost_of(18), 18));
            }
            // The first of the cheapest.
            let (cost, length) = ways.into_iter().min_by_key(|way| way.0).unwrap_or_default();
            costs[i] = cost;
            chosen[i] = (length, offset);
        }
        while part.contains(&p) {
            let (mut length, offset) = chosen[p - start];
            if length == 0 {
                p += 1;
                continue;
            }
            if length != 18 {
                length = match_length(input, dictionary, p, offset);
            }
            sequence(&mut out, &input[anchor..p], Some((offset, length)));
            p += length;
            anchor = p;
        }
    }
    sequence(&mut out, &input[anchor..], None);
    out
}

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

/// Returns the block of the sequential parse.
fn sequential_block(input: &[u8], dictionary: &[u8], largest: u32) -> Vec<u8> {
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
