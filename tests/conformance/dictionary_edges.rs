//! Pages that match the first and the last bytes of a dictionary, and at the largest offset.

use pagepress::internals::limits_of;
use pagepress::lz4::Dictionary;

use crate::common::pages::Random;
use crate::dictionary::LEVELS;
use crate::guarded;
use crate::pages::assert_same;
use crate::subject::{PAGE_SIZES, Subject};

/// Bytes of dictionaries: those around the first that has an index, and the longest two.
const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 4099, 65_535, 65_536];

/// A kind of page.
type Make = fn(&mut Vec<u8>, usize, &[u8], &mut Random);

fn noise(page: &mut Vec<u8>, n: usize, random: &mut Random) {
    page.extend((0..n).map(|_| random.byte()));
}

/// The first bytes of the dictionary, behind others or a zero, which is before the dictionary in GPU memory.
fn begin(page: &mut Vec<u8>, n: usize, dictionary: &[u8], random: &mut Random) {
    while page.len() < n {
        match random.below(2) {
            0 => noise(page, random.below(9), random),
            _ => page.push(0),
        }
        let most = [12, 200, 5000][random.below(3)];
        let length = dictionary.len().min(1 + random.below(most));
        page.extend(&dictionary[..length]);
    }
}

/// The last bytes of the dictionary, and what follows them: other bytes, the first bytes of the page or of the dictionary, or zeros.
fn end(page: &mut Vec<u8>, n: usize, dictionary: &[u8], random: &mut Random) {
    noise(page, 40, random);
    while page.len() < n {
        let most = [20, 140, 300, 5000][random.below(4)];
        let length = dictionary.len().min(1 + random.below(most));
        page.extend(&dictionary[dictionary.len() - length..]);
        match random.below(4) {
            0 => noise(page, 1 + random.below(9), random),
            1 => page.extend_from_within(..1 + random.below(40)),
            2 => page.extend(&dictionary[..dictionary.len().min(20)]),
            _ => page.extend([0; 9]),
        }
    }
}

/// All of the dictionary, from its first byte on, or its end.
fn equal(page: &mut Vec<u8>, n: usize, dictionary: &[u8], random: &mut Random) {
    let from = match random.below(2) {
        0 => 0,
        _ => dictionary.len().saturating_sub(n),
    };
    page.extend(dictionary[from..].iter().take(n));
    noise(page, n - page.len(), random);
}

/// Bytes whose offsets are the largest, and some around that.
fn far(page: &mut Vec<u8>, n: usize, dictionary: &[u8], random: &mut Random) {
    while page.len() < n {
        noise(page, random.below(3), random);
        let length = [5, 30, 150][random.below(3)];
        let from = (page.len() + dictionary.len() + random.below(4)).saturating_sub(65_537);
        page.extend(dictionary.iter().skip(from).take(length));
        noise(page, 1, random);
    }
}

/// The bytes that the dictionary repeats, with those that follow the first of them.
fn repeated(page: &mut Vec<u8>, n: usize, dictionary: &[u8], random: &mut Random) {
    while page.len() < n {
        let at = random.below(dictionary.len());
        let from = [at, at / 64 * 64][random.below(2)];
        page.extend(dictionary[from..].iter().take(4 + random.below(30)));
        noise(page, random.below(3), random);
    }
}

/// Returns pages of all kinds, of which the last is short.
fn content(page_size: usize, dictionary: &[u8], random: &mut Random) -> Vec<u8> {
    let kinds: [Make; 6] = [begin, end, equal, equal, far, repeated];
    let mut bytes = Vec::new();
    for (i, kind) in kinds.into_iter().enumerate() {
        let mut page = Vec::with_capacity(page_size);
        let n = match i {
            5 => [13, 20, 200, page_size - 1][random.below(4)],
            _ => page_size,
        };
        kind(&mut page, n, dictionary, random);
        bytes.extend(&page[..n]);
    }
    bytes
}

/// Returns a dictionary whose second half has the same eight bytes at every 64th, and more of those after them at the first ones.
fn with_repetitions(size: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..size).map(|_| random.byte()).collect();
    for (i, piece) in bytes[size / 2..].chunks_exact_mut(64).enumerate() {
        let n = 8 + 20_usize.saturating_sub(i % 24);
        let repeated: Vec<u8> = (0..n).map(|j| (37 * j) as u8).collect();
        piece[..n].copy_from_slice(&repeated);
    }
    bytes
}

pub fn pages_at_the_edges_of_a_dictionary(subject: &Subject) {
    let mut random = Random::new(20);
    // Software GPUs need longer to compile the kernels for a page size than to run them.
    let step = if subject.is_main() { 1 } else { 4 };
    for page_size in PAGE_SIZES.into_iter().step_by(step) {
        for size in SIZES {
            let bytes = with_repetitions(size, &mut random);
            let pages = content(page_size as usize, &bytes, &mut random);
            let dictionary = Dictionary::new(&bytes);
            for level in LEVELS {
                let expected = dictionary.compress_pages(&pages, page_size, level).unwrap();
                let found = guarded::compress(
                    &subject.device,
                    &pages,
                    (page_size, level),
                    Some(&dictionary),
                    limits_of(&subject.device),
                );
                let what = format!("{} {page_size} behind {size}, {level:?}", subject.name);
                assert_same(&found, &expected, &what);
            }
        }
    }
}
