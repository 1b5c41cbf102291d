//! Level Fast.

use std::collections::BTreeMap;

use pagepress::lz4::{LAZY_BELOW, Parse};

use super::{bucket, indexed, match_length, product, sequence, word};

const WINDOW: usize = 64;

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
pub(super) fn block(input: &[u8], dictionary: &[u8], parse: &Parse) -> Vec<u8> {
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
