//! Blocks: the encoder and the decoder against naive ones and against liblz4.

use crate::common::naive;
use crate::common::pages::{self, GENERATORS, Random, edge_lengths};
use pagepress::lz4::{Encoder, Level, Parse, decompress_block};

const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];
const PAGE_SIZES: [u32; 5] = [4096, 8192, 16_384, 32_768, 65_536];

fn parse(page_size: u32, level: Level) -> Parse {
    Parse::new(page_size, level).expect("the size is in range")
}

/// Encodes with `encoder`, compares with the naive encoder, and decodes with all three decoders.
fn check(encoder: &mut Encoder, input: &[u8], what: &str) {
    let mut block = Vec::new();
    encoder
        .compress_block(input, &mut block)
        .expect("the input fits");
    let expected = naive::compress_block(input, encoder.parse());
    assert!(
        block == expected,
        "{what}: differs from the naive encoder, {:?}",
        encoder.parse()
    );
    let mut page = vec![0xff; input.len()];
    assert_eq!(decompress_block(&block, &mut page), Ok(()), "{what}");
    assert!(page == input, "{what}: does not come back");
    assert!(
        naive::decompress_block(&block, input.len()).as_deref() == Ok(input),
        "{what}"
    );
    page.fill(0xff);
    let length = lzzzz::lz4::decompress(&block, &mut page).expect("liblz4 accepts the block");
    assert!(
        length == input.len() && page == input,
        "{what}: liblz4 disagrees"
    );
}

#[test]
fn every_generator_at_every_edge_length() {
    for level in LEVELS {
        let mut encoder = Encoder::new(&parse(4096, level));
        for (name, generator) in GENERATORS {
            for length in edge_lengths(4096) {
                check(
                    &mut encoder,
                    &generator(length, length as u64),
                    &format!("{name} {length}"),
                );
            }
        }
    }
}

#[test]
fn many_pages_of_every_size() {
    let mut random = Random::new(1);
    for page_size in PAGE_SIZES {
        for level in LEVELS {
            let mut encoder = Encoder::new(&parse(page_size, level));
            for i in 0..2_000_000 / u64::from(page_size) {
                let (name, generator) = GENERATORS[i as usize % GENERATORS.len()];
                let size = page_size as usize;
                let length = if i.is_multiple_of(3) {
                    1 + random.below(size)
                } else {
                    size
                };
                check(
                    &mut encoder,
                    &generator(length, i),
                    &format!("{name} {length} seed {i}"),
                );
            }
        }
    }
}

#[test]
fn sizes_between_powers_of_two_and_large_blocks() {
    for page_size in [
        4097,
        5000,
        60_000,
        65_537,
        100_000,
        1 << 18,
        1_000_003,
        4 << 20,
    ] {
        for level in LEVELS {
            let mut encoder = Encoder::new(&parse(page_size, level));
            // The naive encoder needs seconds for a MiB.
            let all = [GENERATORS[3], GENERATORS[4], GENERATORS[13]];
            let n_kinds = if page_size > 1 << 18 { 1 } else { all.len() };
            for (name, generator) in all.into_iter().take(n_kinds) {
                let length = page_size as usize;
                check(
                    &mut encoder,
                    &generator(length, 7),
                    &format!("{name} {length}"),
                );
            }
        }
    }
}

/// The positions overflow 16 bits, so the sequential parse moves its base.
#[test]
fn sequential_blocks_of_more_than_64_kib() {
    let mut encoder = Encoder::new(&parse(1 << 20, Level::Sequential));
    for (name, generator) in GENERATORS {
        for length in (65_530..65_560).chain([98_304, 131_083, 500_000]) {
            let what = format!("{name} {length}");
            check(&mut encoder, &generator(length, 7), &what);
        }
    }
    let noise = GENERATORS[2].1;
    let far = [
        noise(70_000, 1),
        vec![7; 200_000],
        noise(70_000, 1),
        noise(30_000, 2),
        noise(40_000, 1),
        noise(30_000, 2),
    ];
    check(&mut encoder, &far.concat(), "runs and repeats");
}

#[test]
fn every_small_period() {
    for level in [Level::Fast, Level::High] {
        let mut encoder = Encoder::new(&parse(4096, level));
        for period in 0..300 {
            let what = format!("period {period}");
            check(&mut encoder, &pages::periodic(4096, period), &what);
        }
    }
}

/// The candidates of a position agree for less than the length at which a comparison stops, so that all are compared.
#[test]
fn high_on_repeats_that_end_before_a_comparison_stops() {
    let mut encoder = Encoder::new(&parse(1 << 20, Level::High));
    for length in [8, 16, 64, 120, 127, 128, 129, 300] {
        let mut input = Vec::new();
        for i in 0..20_000_usize / length {
            input.extend((0..length - 4).map(|k| (k % 251) as u8));
            input.extend((i as u32 ^ 0x5555_5555).to_le_bytes());
        }
        check(&mut encoder, &input, &format!("repeats of {length}"));
    }
}

/// A part without a match, whose literals do not fit 16 bits; one in a single match, whose length does not; and candidates in the part
/// before, in and out of reach.
#[test]
fn high_on_whole_parts_of_one_kind() {
    const PART: usize = 65_536;
    let mut encoder = Encoder::new(&parse(1 << 20, Level::High));
    let noise = GENERATORS[2].1;
    // No four bytes occur twice at an offset.
    let distinct = (0..16_415_u32).flat_map(|i| {
        let [low, high] = [i & 0x7f, i >> 7 & 0x7f].map(|seven| seven as u8);
        [0x80 | low, high, low, high]
    });
    let parts = [
        // The run's match begins where it would have 65,536 bytes up to the end of the part, and the 128 of a comparison there.
        distinct.take(PART + 123).collect(),
        [7, 9, 11, 13].repeat(50_000),
        noise(70_000, 1),
        noise(30_000, 2),
        noise(40_000, 1),
        noise(30_000, 2),
    ];
    check(&mut encoder, &parts.concat(), "whole parts");
}

/// Of the positions in a run only the first is sorted, so a part and what it reaches can have few slots although they are long.
#[test]
fn high_on_a_run_between_equal_words_out_of_reach() {
    let mut encoder = Encoder::new(&parse(1 << 20, Level::High));
    for run in [65_000, 65_519, 65_520, 70_000, 131_000] {
        let noise = pages::random(300, 5);
        let input = [&noise[..], &vec![0; run], &noise].concat();
        check(&mut encoder, &input, &format!("a run of {run}"));
    }
}

/// If position 63 shares its bucket with a lower position, it is not inserted, but an empty entry finds it.
#[test]
fn an_empty_entry_stands_for_position_63() {
    for page_size in PAGE_SIZES {
        let mut encoder = Encoder::new(&parse(page_size, Level::Fast));
        for seed in 0..3000 {
            let mut input = pages::random(200, seed);
            input.copy_within(63..75, 80);
            check(&mut encoder, &input, &format!("{page_size} seed {seed}"));
        }
    }
}

/// Two words that agree in all hash bits that an entry may keep: the newer one shadows the older, which equals the
/// current word.
#[test]
fn a_newer_entry_with_equal_hash_bits_shadows_the_older() {
    // This is the inverse of 2_654_435_761 modulo 2^32.
    const INVERSE: u32 = 244_002_641;
    for page_size in PAGE_SIZES {
        let mut encoder = Encoder::new(&parse(page_size, Level::Fast));
        for seed in 0..100 {
            let mut input = pages::random(400, seed);
            let product = u32::from_le_bytes([input[0], input[1], input[2], input[3]]);
            let product = product.wrapping_mul(2_654_435_761);
            let other = (product ^ 1).wrapping_mul(INVERSE).to_le_bytes();
            input[130..134].copy_from_slice(&other);
            input.copy_within(0..20, 300);
            check(&mut encoder, &input, &format!("{page_size} seed {seed}"));
        }
    }
}

#[test]
fn blocks_of_liblz4_decode() {
    let mut random = Random::new(2);
    for i in 0..2000 {
        let (name, generator) = GENERATORS[i % GENERATORS.len()];
        let input = generator(1 + random.below(70_000), i as u64);
        let mut block = Vec::new();
        lzzzz::lz4::compress_to_vec(&input, &mut block, 1).expect("liblz4 compresses");
        let mut page = vec![0xff; input.len()];
        assert_eq!(decompress_block(&block, &mut page), Ok(()), "{name} {i}");
        assert!(page == input, "{name} {i}");
    }
}

#[test]
fn input_longer_than_the_page_size_is_rejected() {
    let mut out = Vec::new();
    let error = Encoder::new(&parse(4096, Level::Fast)).compress_block(&[0; 4097], &mut out);
    assert_eq!(error.map_err(|error| error.code()), Err("INVALID_ARGUMENT"));
    assert!(out.is_empty());
}

#[test]
fn page_sizes_out_of_range_are_rejected() {
    for page_size in [0, 1, 4095, (4 << 20) + 1, u32::MAX] {
        assert!(Parse::new(page_size, Level::Fast).is_err(), "{page_size}");
    }
}
