//! Pages with a dictionary before each: matches that lie in it, that go on from its end into the page, and that reach before its
//! first byte.

use pagepress::internals::{Limits, limits_of};
use pagepress::kernels::ComputeUnits;
use pagepress::lz4::{BlockError, Dictionary, Level, PackedPages, PageEntry, PageKind};

use crate::common::naive;
use crate::common::pages::Random;
use crate::foreign::Block;
use crate::guarded;
use crate::pages::assert_same;
use crate::subject::{PAGE_SIZES, Subject};

/// Bytes of dictionaries: the least, one word, less and more than most pages.
const SIZES: [usize; 5] = [1, 4, 4096, 65_533, 65_536];
/// Pages of each kind of block.
const N_PAGES: usize = 8;
/// The levels that GPUs write.
pub const LEVELS: [Level; 2] = [Level::Fast, Level::High];

/// A kind of block for a page of so many bytes, behind a dictionary of so many.
type Make = fn(usize, usize, &mut Random) -> Vec<u8>;

/// Returns the largest offset at byte `at` of a page.
fn most_offset(at: usize, dictionary: usize) -> usize {
    (at + dictionary).min(65_535)
}

/// Appends random sequences, with room for a last one. The first match may begin the page.
fn sequences(block: &mut Block, n: usize, dictionary: usize, random: &mut Random) {
    let most_length = [1, 9, 40, 300][random.below(4)];
    while block.n + 60 + most_length <= n {
        let n_literals = [0, 0, 1, 5, 17, 40][random.below(6)];
        let at = block.n + n_literals;
        let most = most_offset(at, dictionary);
        // The first byte of the dictionary, its last ones and what follows, or any.
        let offset = match random.below(5) {
            0 => most,
            1 | 2 => (at + random.below(12)).clamp(1, most),
            _ => 1 + random.below(most),
        };
        block.sequence(n_literals, offset, 4 + random.below(most_length), random);
    }
}

fn sound(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    sequences(&mut block, n, dictionary, random);
    block.end(n, random)
}

/// Matches of bytes that repeat the end of the dictionary.
fn periods(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    let n_literals = random.below(4);
    let offset = n_literals + 1 + random.below(dictionary.min(9));
    block.sequence(n_literals, offset, 4 + random.below(n - 60), random);
    sequences(&mut block, n, dictionary, random);
    block.end(n, random)
}

/// Nothing but matches of four bytes: one sequence more than a page without a dictionary can have.
fn shortest_matches(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    // lavapipe ends the loops of an invocation after 65,535 iterations.
    while block.n + 4 <= n.min(16_384) {
        let offset = 1 + random.below(most_offset(block.n, dictionary));
        block.sequence(0, offset, 4, random);
    }
    block.end(n, random)
}

/// A match from before the dictionary, or one that no offset can reach from, in place of the last sequence.
fn too_far(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = Block::default();
    if random.below(3) > 0 {
        sequences(&mut block, n - 200, dictionary, random);
    }
    let offset = block.n + dictionary + 1 + random.below(3);
    block.sequence(0, offset.min(65_535), 4, random);
    block.end(n, random)
}

fn truncated(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = sound(n, dictionary, random);
    block.truncate(1 + random.below(block.len()));
    block
}

fn mutated(n: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let mut block = sound(n, dictionary, random);
    for _ in 0..1 + random.below(4) {
        let at = random.below(block.len());
        block[at] = random.byte();
    }
    block
}

/// Makes pages of one kind of block. Returns them, their content and their status.
fn pages(
    make: Make,
    page_size: usize,
    dictionary: &[u8],
    random: &mut Random,
) -> (PackedPages, Vec<u8>, Vec<Option<BlockError>>) {
    let tail = [1000, page_size][random.below(2)];
    let mut pages = PackedPages {
        page_size: page_size as u32,
        n_bytes: ((N_PAGES - 1) * page_size + tail) as u64,
        ..PackedPages::default()
    };
    let (mut content, mut status) = (Vec::new(), Vec::new());
    for i in 0..N_PAGES {
        let n = if i + 1 < N_PAGES { page_size } else { tail };
        let block = make(n, dictionary.len(), random);
        let page = naive::decompress_block_with(&block, n, dictionary);
        status.push(page.as_ref().err().copied());
        content.extend(page.unwrap_or_else(|_| vec![0; n]));
        pages.table.push(PageEntry {
            offset: pages.packed.len() as u64,
            length: block.len() as u32,
            kind: PageKind::Lz4,
        });
        pages.packed.extend(block);
        let padded = pages.packed.len().next_multiple_of(4);
        pages.packed.resize(padded, 0);
    }
    (pages, content, status)
}

pub fn matches_reach_into_a_dictionary(subject: &Subject) {
    let mut random = Random::new(17);
    let kinds: [(&str, Make); 6] = [
        ("sound", sound),
        ("periods", periods),
        ("shortest matches", shortest_matches),
        ("too far", too_far),
        ("truncated", truncated),
        ("mutated", mutated),
    ];
    // Software GPUs need longer to compile the kernels for a page size than to run them.
    let step = if subject.is_main() { 1 } else { 4 };
    for (i, page_size) in PAGE_SIZES.into_iter().enumerate().step_by(step) {
        for size in SIZES {
            let bytes: Vec<u8> = (0..size).map(|_| random.byte()).collect();
            let dictionary = Dictionary::new(&bytes);
            for (name, make) in kinds {
                let what = format!("{page_size} behind {size}, {name}");
                let (pages, content, status) = pages(make, page_size as usize, &bytes, &mut random);
                let found = guarded::decompress(&subject.device, &pages, Some(&dictionary), i);
                let twin = dictionary.decompress_pages_status(&pages).unwrap();
                assert!(twin == (content.clone(), status.clone()), "{what}: the CPU");
                assert_eq!(found.1, status, "{} {what}", subject.name);
                assert!(found.0 == content, "{} {what}", subject.name);
                let is_sound = status.iter().all(Option::is_none);
                match name {
                    "truncated" => assert!(!is_sound, "{what}"),
                    "mutated" => {}
                    "too far" if size + 4096 < 65_535 => {
                        assert!(status.contains(&Some(BlockError::OffsetTooFar)), "{what}");
                    }
                    "too far" => {}
                    _ => assert!(is_sound, "{what}"),
                }
            }
        }
    }
}

/// Returns pages of parts of the dictionary, of noise, of bytes before, and of other content.
pub fn content(page_size: usize, dictionary: &[u8], random: &mut Random) -> Vec<u8> {
    let n_bytes = 5 * page_size + [0, 5, 12, 13, 1000][random.below(5)];
    let mut bytes = Vec::with_capacity(n_bytes);
    while bytes.len() < n_bytes {
        let most = [8, 20, 100, 700][random.below(4)];
        let n = 1 + random.below(most);
        match random.below(8) {
            0 => bytes.extend((0..n).map(|_| random.byte())),
            1 => bytes.extend(std::iter::repeat_n(random.byte(), n)),
            2 if !bytes.is_empty() => {
                let from = random.below(bytes.len());
                bytes.extend_from_within(from..(from + n).min(bytes.len()));
            }
            // Some end with the dictionary.
            _ => {
                let from = random.below(dictionary.len());
                let end = if random.below(8) == 0 {
                    dictionary.len()
                } else {
                    from + n
                };
                bytes.extend(&dictionary[from..end.min(from + 700).min(dictionary.len())]);
            }
        }
    }
    bytes.truncate(n_bytes);
    bytes
}

pub fn pages_are_compressed_with_a_dictionary(subject: &Subject) {
    let mut random = Random::new(18);
    let step = if subject.is_main() { 1 } else { 4 };
    for page_size in PAGE_SIZES.into_iter().step_by(step) {
        for size in SIZES {
            let mut dictionary: Vec<u8> = (0..size).map(|_| random.byte()).collect();
            let bytes = content(page_size as usize, &dictionary, &mut random);
            if size > 5000 {
                // The latest of equal positions counts.
                dictionary.copy_within(..2000, 3000);
            }
            let dictionary = Dictionary::new(&dictionary);
            for level in LEVELS {
                let what = format!("{} {page_size} behind {size}, {level:?}", subject.name);
                let expected = dictionary.compress_pages(&bytes, page_size, level);
                let expected = expected.unwrap();
                let compress = |limits| {
                    let (device, form) = (&subject.device, (page_size, level));
                    guarded::compress(device, &bytes, form, Some(&dictionary), limits)
                };
                let limits = limits_of(&subject.device);
                assert_same(&compress(limits), &expected, &what);
                // With a copy of the page in workgroup memory, for one page size: software GPUs need long to compile it.
                if subject.is_main() && page_size == 4096 {
                    let roomy = Limits {
                        compute_units: Some(ComputeUnits {
                            n: 132,
                            workgroup_bytes: 228 << 10,
                        }),
                        ..limits
                    };
                    assert_same(&compress(roomy), &expected, &what);
                }
            }
        }
    }
}
