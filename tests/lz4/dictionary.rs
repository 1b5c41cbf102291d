//! Dictionaries of blocks and pages: the encoders against naive ones, the decoder against a naive one and liblz4.

use crate::common::naive;
use crate::common::pages::{GENERATORS, Random, edge_lengths, mixed, random, text};
use pagepress::Error;
use pagepress::lz4::{
    self, BlockError, Dictionary, Encoder, Level, PackedPages, PageKind, Parse, compress_pages,
    decompress_pages, decompress_pages_status,
};

const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];
const PAGE_SIZES: [u32; 5] = [4096, 8192, 16_384, 32_768, 65_536];
const DICTIONARY_SIZES: [usize; 12] = [0, 1, 3, 4, 7, 8, 9, 100, 4096, 65_535, 65_536, 70_000];

/// Returns bytes of which much is in the dictionary, some in themselves, and the rest is noise.
fn related(dictionary: &[u8], length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes: Vec<u8> = Vec::new();
    while bytes.len() < length {
        let count = [3, 4, 5, 6, 9, 17, 30, 200, 700][random.below(9)];
        let source = if random.below(3) > 0 {
            dictionary
        } else {
            &bytes
        };
        if source.is_empty() || random.below(4) == 0 {
            bytes.extend((0..count.min(20)).map(|_| random.byte()));
        } else {
            // Often at the very end of the dictionary.
            let from = match random.below(4) {
                0 => source.len().saturating_sub(count),
                _ => random.below(source.len()),
            };
            let copied = source[from..].iter().take(count).copied();
            bytes.extend(copied.collect::<Vec<_>>());
        }
    }
    bytes.truncate(length);
    bytes
}

/// Returns dictionaries of a length.
fn dictionaries(length: usize) -> [Vec<u8>; 4] {
    [
        mixed(length, 3),
        text(length, 4),
        vec![0; length],
        random(length, 5),
    ]
}

/// Encodes with `encoder`, compares with the naive encoder, and decodes with all decoders.
fn check(encoder: &mut Encoder, dictionary: &Dictionary, input: &[u8], what: &str) -> Vec<u8> {
    let mut block = Vec::new();
    encoder
        .compress_block(input, &mut block)
        .expect("the input fits");
    let (parse, bytes) = (*encoder.parse(), dictionary.as_bytes());
    let expected = naive::compress_block_with(input, &parse, bytes);
    assert!(
        block == expected,
        "{what}: differs from the naive encoder, {parse:?}, dictionary of {} bytes",
        bytes.len()
    );
    let mut page = vec![0xff; input.len()];
    assert_eq!(
        dictionary.decompress_block(&block, &mut page),
        Ok(()),
        "{what}"
    );
    assert!(page == input, "{what}: does not come back");
    let naive = naive::decompress_block_with(&block, input.len(), bytes);
    assert!(naive.as_deref() == Ok(input), "{what}");
    page.fill(0xff);
    let length = lzzzz::lz4::decompress_with_dict(&block, &mut page, bytes);
    let length = length.expect("liblz4 accepts the block");
    assert!(length == input.len() && page == input, "{what}: liblz4");
    block
}

#[test]
fn every_generator_at_every_edge_length() {
    for size in DICTIONARY_SIZES {
        for (i, bytes) in dictionaries(size).into_iter().enumerate() {
            let dictionary = Dictionary::new(&bytes);
            for level in LEVELS {
                let parse = Parse::new(4096, level).unwrap();
                let mut encoder = Encoder::with_dictionary(&parse, Some(dictionary.clone()));
                // The naive encoder makes an index of the dictionary for each block.
                let step = if size > 10_000 { 5 } else { 1 };
                for length in edge_lengths(4096).into_iter().step_by(step) {
                    let what = format!("related to dictionary {i} of {size}, {length}");
                    let input = related(&bytes, length, (length + i) as u64);
                    check(&mut encoder, &dictionary, &input, &what);
                }
                let (name, generator) = GENERATORS[(size + i) % GENERATORS.len()];
                let input = generator(4096, 9);
                check(&mut encoder, &dictionary, &input, name);
            }
        }
    }
}

#[test]
fn many_pages_of_every_size() {
    for page_size in PAGE_SIZES {
        for (i, size) in DICTIONARY_SIZES.into_iter().enumerate() {
            let bytes = &dictionaries(size)[i % 4];
            let dictionary = Dictionary::new(bytes);
            for level in LEVELS {
                let parse = Parse::new(page_size, level).unwrap();
                let mut encoder = Encoder::with_dictionary(&parse, Some(dictionary.clone()));
                for seed in 0..200_000 / u64::from(page_size) {
                    let mut random = Random::new(seed);
                    let size = page_size as usize;
                    let length = [size, 1 + random.below(size)][random.below(2)];
                    let what = format!("related {length} seed {seed}");
                    let input = related(bytes, length, seed);
                    check(&mut encoder, &dictionary, &input, &what);
                }
            }
        }
    }
}

/// The dictionary goes out of reach inside a block; positions of Sequential overflow, and High has more than one part.
#[test]
fn blocks_longer_than_the_reach_of_a_match() {
    for size in [8, 100, 5000, 65_536] {
        let bytes = mixed(size, 3);
        let dictionary = Dictionary::new(&bytes);
        for level in LEVELS {
            for length in [65_537, 66_000, 300_000] {
                let parse = Parse::new(1 << 20, level).unwrap();
                let mut encoder = Encoder::with_dictionary(&parse, Some(dictionary.clone()));
                let what = format!("related to {size}, {length}");
                check(
                    &mut encoder,
                    &dictionary,
                    &related(&bytes, length, 8),
                    &what,
                );
                let runs = [vec![7; 65_500], bytes.clone(), vec![7; 1000], bytes.clone()].concat();
                check(&mut encoder, &dictionary, &runs, "runs and repeats");
            }
        }
    }
}

/// The last position of the dictionary that is found, its first, and the longest offset.
#[test]
fn matches_at_the_ends_of_a_dictionary() {
    for size in [8, 9, 12, 16, 100, 65_536] {
        let bytes = random(size, 1);
        let dictionary = Dictionary::new(&bytes);
        for (level, page_size) in LEVELS
            .into_iter()
            .flat_map(|level| [(level, 4096), (level, 1 << 17)])
        {
            let parse = Parse::new(page_size, level).unwrap();
            let mut encoder = Encoder::with_dictionary(&parse, Some(dictionary.clone()));
            for from in [0, 1, size - 8] {
                let copy = &bytes[from..size.min(from + 40)];
                let longest = 65_535 - size.min(65_535);
                let step = if size > 1000 { 7 } else { 1 };
                for lead in (0..80).step_by(step).chain([longest, longest + 1]) {
                    if lead + copy.len() + 30 > page_size as usize {
                        continue;
                    }
                    let noise = random(lead, 2);
                    let input = [&noise, copy, &random(30, 3)].concat();
                    let block = check(&mut encoder, &dictionary, &input, "at an end");
                    // Sequential goes over noise in large steps.
                    let is_found = lead < 20 || level != Level::Sequential;
                    if copy.len() > 12 && lead + size - from <= 65_535 && is_found {
                        let literals = input.len() + (input.len() - 15) / 255 + 2;
                        assert!(block.len() < literals, "{level:?} {size} {from} {lead}");
                    }
                }
            }
        }
    }
}

/// All instruction sets write the same bytes; encoders are used again.
#[test]
fn an_encoder_is_reusable_on_every_instruction_set() {
    let bytes = mixed(30_000, 3);
    let dictionary = Dictionary::new(&bytes);
    for page_size in [4096, 65_536] {
        for level in [Level::Fast, Level::High] {
            let parse = Parse::new(page_size, level).unwrap();
            for mut encoder in Encoder::for_all_instructions(&parse, Some(&dictionary)) {
                for seed in 0..40 {
                    let length = [4096, 100, 13, 4000][seed as usize % 4];
                    let input = related(&bytes, length, seed);
                    check(&mut encoder, &dictionary, &input, &format!("seed {seed}"));
                }
            }
        }
    }
}

#[test]
fn blocks_of_liblz4_decode() {
    let mut random = Random::new(2);
    for i in 0..500 {
        let bytes = mixed(1 + random.below(66_000), 3);
        let dictionary = Dictionary::new(&bytes);
        let input = related(&bytes, 1 + random.below(70_000), i);
        let mut block = Vec::new();
        lzzzz::lz4::Compressor::with_dict(bytes.as_slice())
            .expect("a stream of liblz4")
            .next_to_vec(&input, &mut block, 1)
            .expect("liblz4 compresses");
        let mut page = vec![0xff; input.len()];
        assert_eq!(
            dictionary.decompress_block(&block, &mut page),
            Ok(()),
            "{i}"
        );
        assert!(page == input, "{i}");
    }
}

/// Our encoders do not write it, but a match may go on from the end of the dictionary into the block.
#[test]
fn a_match_goes_on_into_the_block() {
    let dictionary = Dictionary::new(b"abcdefgh");
    for n_literals in [0, 1, 4, 15, 40] {
        for back in 1..=8 {
            for length in [4, 5, 8, 12, 18, 19, 20, 30, 273, 274, 1000] {
                let literals: Vec<u8> = (0..n_literals as u8).collect();
                let mut block = vec![(n_literals.min(15) << 4 | (length - 4).min(15)) as u8];
                if n_literals >= 15 {
                    block.push((n_literals - 15) as u8);
                }
                block.extend_from_slice(&literals);
                block.extend([(n_literals + back) as u8, 0]);
                if length >= 19 {
                    block.extend(vec![255; (length - 19) / 255]);
                    block.push(((length - 19) % 255) as u8);
                }
                // Far from the ends of block and page, and at them.
                for behind in [5, 12, 100] {
                    let mut block = block.clone();
                    block.push((behind.min(15) << 4) as u8);
                    if behind >= 15 {
                        block.push((behind - 15) as u8);
                    }
                    block.extend(vec![9; behind]);
                    let n_bytes = n_literals + length + behind;
                    let expected = naive::decompress_block_with(&block, n_bytes, b"abcdefgh");
                    let mut page = vec![0xff; n_bytes];
                    dictionary
                        .decompress_block(&block, &mut page)
                        .expect("is sound");
                    assert!(
                        Ok(page) == expected,
                        "{n_literals} {back} {length} {behind}"
                    );
                }
            }
        }
    }
}

#[test]
fn raw_blocks() {
    let bytes = mixed(3000, 3);
    let dictionary = Dictionary::new(&bytes);
    for level in LEVELS {
        for length in [0, 1, 12, 13, 100, 5000, 70_000, 3 << 20] {
            let content = related(&bytes, length, 4);
            let block = dictionary.compress_block(&content, level).unwrap();
            let mut page = vec![0xff; length];
            assert_eq!(dictionary.decompress_block(&block, &mut page), Ok(()));
            assert!(page == content);
            let parse = Parse::new((length as u32).clamp(4096, 4 << 20), level).unwrap();
            let expected = naive::compress_block_with(&content, &parse, &bytes);
            assert!(block == expected, "{level:?} {length}");
        }
    }
    let error = dictionary.compress_block(&vec![0; (4 << 20) + 1], Level::Fast);
    assert_eq!(error.unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn ids_of_dictionaries() {
    assert_eq!(Dictionary::new(b"").id(), 0x02cc_5d05);
    assert_eq!(Dictionary::new(b"abc").id(), 0x32d1_53ff);
    // The id is that of all bytes, of which the last are kept.
    let long = random(70_000, 1);
    let dictionary = Dictionary::new(&long);
    assert_eq!(dictionary.as_bytes(), &long[70_000 - 65_536..]);
    assert_ne!(dictionary.id(), Dictionary::new(dictionary.as_bytes()).id());
    let named = Dictionary::with_id(&long, 7);
    assert_eq!((named.id(), named.as_bytes()), (7, dictionary.as_bytes()));
    assert_ne!(named, dictionary);
    assert_eq!(named, Dictionary::with_id(dictionary.as_bytes(), 7));
    assert_eq!(format!("{named:?}"), "Dictionary { id: 7, n_bytes: 65536 }");
}

/// Returns content in pages, fills and noise among them.
fn content(dictionary: &[u8], n_pages: usize) -> Vec<u8> {
    let pages = (0..n_pages).map(|i| match i % 5 {
        3 => vec![i as u8; 4096],
        4 => random(4096, i as u64),
        _ => related(dictionary, 4096, i as u64),
    });
    let mut content = pages.collect::<Vec<_>>().concat();
    content.extend(related(dictionary, 1001, 1));
    content
}

#[test]
fn pages_of_every_form() {
    let bytes = mixed(20_000, 3);
    let dictionary = Dictionary::new(&bytes);
    // One share of the thread pool, and many.
    for n_pages in [7, 200] {
        let content = content(&bytes, n_pages);
        for level in LEVELS {
            for page_size in PAGE_SIZES {
                let pages = dictionary
                    .compress_pages(&content, page_size, level)
                    .unwrap();
                assert_eq!(pages.dictionary_id, dictionary.id());
                let mut again = compress_pages(&random(10_000, 1), 4096, level).unwrap();
                dictionary
                    .compress_pages_into(&content, page_size, level, &mut again)
                    .unwrap();
                assert!(again == pages);
                assert!(dictionary.decompress_pages(&pages).unwrap() == content);
                let mut out = vec![0xff; content.len() + 9];
                dictionary.decompress_pages_into(&pages, &mut out).unwrap();
                assert!(out[..content.len()] == content && out[content.len()..] == [0xff; 9]);
                let (out, status) = dictionary.decompress_pages_status(&pages).unwrap();
                assert!(out == content && status.iter().all(Option::is_none));
                let without = compress_pages(&content, page_size, level).unwrap();
                assert!(without.packed.len() > pages.packed.len());
                assert_eq!(without.dictionary_id, 0);
                // Pages of no dictionary decode with any.
                assert!(dictionary.decompress_pages(&without).unwrap() == content);
                lz4::compress_pages_into(&content, page_size, level, &mut again).unwrap();
                assert!(again == without);
            }
        }
    }
}

#[test]
fn a_wrong_or_missing_dictionary_is_named() {
    let bytes = mixed(20_000, 3);
    let dictionary = Dictionary::new(&bytes);
    let pages = dictionary
        .compress_pages(&content(&bytes, 7), 4096, Level::Fast)
        .unwrap();
    let needed = Error::DictionaryNeeded {
        id: dictionary.id(),
    };
    let mut out = vec![0xff; 40_000];
    assert_eq!(decompress_pages(&pages), Err(needed.clone()));
    assert_eq!(decompress_pages_status(&pages), Err(needed.clone()));
    assert_eq!(
        lz4::decompress_pages_into(&pages, &mut out),
        Err(needed.clone())
    );
    assert_eq!(
        lz4::decompress_pages_status_into(&pages, &mut out),
        Err(needed)
    );
    let other = Dictionary::with_id(&bytes, 5);
    let wrong = Error::WrongDictionary {
        expected: dictionary.id(),
        actual: 5,
    };
    assert_eq!(wrong.code(), "WRONG_DICTIONARY");
    assert_eq!(other.decompress_pages(&pages), Err(wrong.clone()));
    assert_eq!(other.decompress_pages_status(&pages), Err(wrong.clone()));
    assert_eq!(
        other.decompress_pages_into(&pages, &mut out),
        Err(wrong.clone())
    );
    assert_eq!(
        other.decompress_pages_status_into(&pages, &mut out),
        Err(wrong)
    );
    assert!(out.iter().all(|&byte| byte == 0xff));
    // Without an id a missing dictionary is found by the matches only.
    let pages = Dictionary::with_id(&bytes, 0);
    let pages = pages
        .compress_pages(&content(&bytes, 7), 4096, Level::Fast)
        .unwrap();
    assert_eq!(pages.dictionary_id, 0);
    let source = BlockError::OffsetTooFar;
    assert_eq!(
        decompress_pages(&pages),
        Err(Error::CorruptPage { page: 0, source })
    );
}

/// A corrupt page has the status of the naive decoder, and is zeros; others are intact.
#[test]
fn corrupt_blocks() {
    let bytes = mixed(5000, 3);
    let dictionary = Dictionary::new(&bytes);
    let content = content(&bytes, 6);
    let mut random = Random::new(1);
    let mut seen = [0; 7];
    for level in LEVELS {
        let sound = dictionary.compress_pages(&content, 4096, level).unwrap();
        for _ in 0..4000 {
            let mut pages: PackedPages = sound.clone();
            let at = random.below(pages.packed.len());
            let value = [0, 255, 0xf0, random.byte()][random.below(4)];
            if std::mem::replace(&mut pages.packed[at], value) == value {
                continue;
            }
            let (out, status) = dictionary.decompress_pages_status(&pages).unwrap();
            for (i, page) in content.chunks(4096).enumerate() {
                let found = &out[4096 * i..][..page.len()];
                let entry = pages.table[i];
                let start = entry.offset as usize;
                let block = start..start + entry.length as usize;
                if !block.contains(&at) {
                    assert!(status[i].is_none() && found == page, "page {i} is intact");
                } else if entry.kind == PageKind::Lz4 {
                    let block = &pages.packed[block];
                    let naive = naive::decompress_block_with(block, page.len(), &bytes);
                    seen[status[i].map_or(0, |error| error as usize)] += 1;
                    assert_eq!(status[i], naive.as_ref().err().copied());
                    assert!(found == naive.unwrap_or(vec![0; page.len()]));
                }
            }
        }
    }
    assert!(seen[..6].iter().all(|&count| count > 10), "{seen:?}");
}
