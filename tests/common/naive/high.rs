//! Level High.

use std::collections::BTreeMap;
use std::ops::Range;

use pagepress::lz4::Parse;

use super::{bucket, indexed, match_length, sequence, word};

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
        if p > 0 && word(input, p - 1) == word(input, p) {
            if p >= part.start {
                found[p - part.start] = (4, 1);
            }
            continue;
        }
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

/// Returns the block of `input`.
pub(super) fn block(input: &[u8], dictionary: &[u8], parse: &Parse) -> Vec<u8> {
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
                super::length(&mut extension, length - 4);
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
