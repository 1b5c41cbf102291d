//! Dictionaries trained on samples.

use crate::common::pages::{GENERATORS, Random, random};
use crate::common::records::{KINDS, records};
use pagepress::lz4::{Dictionary, Encoder, Level, Parse, train_dictionary};

fn train(samples: &[Vec<u8>], size: usize) -> Dictionary {
    train_dictionary(&slices(samples), size).unwrap()
}

fn slices(samples: &[Vec<u8>]) -> Vec<&[u8]> {
    samples.iter().map(Vec::as_slice).collect()
}

/// Bytes of the records over the bytes of their blocks.
fn ratio(records: &[Vec<u8>], level: Level, dictionary: Option<&Dictionary>) -> f64 {
    let parse = Parse::new(4096, level).unwrap();
    let mut encoder = Encoder::with_dictionary(&parse, dictionary.cloned());
    let mut blocks = Vec::new();
    for record in records {
        encoder.compress_page(record, &mut blocks).unwrap();
    }
    records.concat().len() as f64 / blocks.len() as f64
}

#[test]
fn records_that_were_not_samples_become_shorter_by_half() {
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        let (samples, others) = (records(kind, 1000, 1), records(kind, 300, 2));
        let dictionary = train(&samples, 65_536);
        for level in [Level::Fast, Level::Sequential, Level::High] {
            let (with, without) = (
                ratio(&others, level, Some(&dictionary)),
                ratio(&others, level, None),
            );
            assert!(
                with > 1.5 * without,
                "{name} {level:?}: {with:.3} {without:.3}"
            );
        }
    }
}

/// Tests records that are all alike: parts of segments that other records do not use give way.
#[test]
fn a_trained_dictionary_is_no_worse_than_the_beginning_of_records_of_one_kind() {
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        let (samples, others) = (records(kind, 4000, 1), records(kind, 300, 2));
        let trained = train(&samples, 65_536);
        let first = Dictionary::new(&samples.concat()[..65_536]);
        for level in [Level::Fast, Level::Sequential, Level::High] {
            let (trained, first) = (
                ratio(&others, level, Some(&trained)),
                ratio(&others, level, Some(&first)),
            );
            println!("{name} {level:?}: trained {trained:.3}, first bytes {first:.3}");
            assert!(trained > first, "{name} {level:?}: {trained:.3} {first:.3}");
        }
    }
}

/// A trained dictionary compresses records better than as many bytes of the samples.
#[test]
fn a_trained_dictionary_beats_the_beginning_of_the_samples() {
    // Records of one kind after those of another, as files of a folder are.
    let of_all = |n, seed| (0..KINDS.len()).flat_map(move |kind| records(kind, n, seed));
    let (samples, others): (Vec<_>, Vec<_>) = (of_all(700, 1).collect(), of_all(200, 2).collect());
    let joined = samples.concat();
    for (size, gain) in [(4096, 1.3), (16_384, 1.3), (65_536, 1.4)] {
        let trained = train(&samples, size);
        let first = Dictionary::new(&joined[..size]);
        for level in [Level::Fast, Level::High] {
            let (trained, first) = (
                ratio(&others, level, Some(&trained)),
                ratio(&others, level, Some(&first)),
            );
            println!("{size} {level:?}: trained {trained:.3}, first bytes {first:.3}");
            assert!(
                trained > gain * first,
                "{size} {level:?}: {trained:.3} {first:.3}"
            );
        }
    }
    // Every kind of record in each of many places: still no worse.
    let spread = |n: usize| {
        let step = joined.len() / n;
        let parts = (0..n).map(|part| &joined[part * step..][..4096 / n]);
        Dictionary::new(&parts.collect::<Vec<_>>().concat())
    };
    let trained = ratio(&others, Level::High, Some(&train(&samples, 4096)));
    for n in [1, 4, 16, 64] {
        let spread = ratio(&others, Level::High, Some(&spread(n)));
        assert!(
            trained > 1.05 * spread,
            "{n} parts: {trained:.3} {spread:.3}"
        );
    }
}

#[test]
fn one_input_has_one_dictionary() {
    let samples = records(2, 500, 3);
    let dictionary = train(&samples, 20_000);
    for n_threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let again = pool.build().unwrap().install(|| train(&samples, 20_000));
        assert_eq!(again.as_bytes(), dictionary.as_bytes());
    }
    // The id is the xxHash32 of the bytes. `tests/lz4_wasm.rs` expects the same.
    assert_eq!(dictionary.id(), 1_820_355_411);
}

#[test]
fn the_size_is_exact_or_all_there_is() {
    let lengths = [0, 1, 7, 8, 9, 63, 64, 100, 3000, 65_536, 65_537];
    let mut choice = Random::new(5);
    for (name, generate) in GENERATORS {
        for n_samples in [1, 16, 40] {
            let sample = |at: u64| generate(lengths[choice.below(lengths.len())], at);
            let samples: Vec<_> = (0..n_samples).map(sample).collect();
            let joined = samples.concat();
            if joined.is_empty() {
                continue;
            }
            for size in [1, 7, 500, 65_536] {
                let dictionary = train(&samples, size);
                let bytes = dictionary.as_bytes();
                assert_eq!(bytes.len(), size.min(joined.len()), "{name} {n_samples}");
                if joined.len() <= size {
                    assert_eq!(bytes, joined);
                }
            }
        }
    }
}

#[test]
fn unusual_samples() {
    // One sample, of which no part repeats.
    assert_eq!(train(&[random(3_000_000, 1)], 1000).as_bytes().len(), 1000);
    // Random samples that share 300 bytes.
    let mut samples: Vec<_> = (0..200).map(|seed| random(1000, seed)).collect();
    let shared = random(300, 1000);
    for (sample, at) in samples.iter_mut().zip(0..) {
        sample[at..at + 300].copy_from_slice(&shared);
    }
    let dictionary = train(&samples, 600);
    assert!(
        dictionary
            .as_bytes()
            .windows(300)
            .any(|part| part == shared)
    );
    // Equal samples, and empty ones among them.
    let mut equal = vec![random(5000, 1); 100];
    equal.push(Vec::new());
    let dictionary = train(&equal, 5000);
    assert!(
        ratio(
            &[random(5000, 1)[..4096].to_vec()],
            Level::Fast,
            Some(&dictionary)
        ) > 30.0
    );
    assert_eq!(train(&vec![vec![0; 4096]; 500], 2000).as_bytes(), [0; 2000]);
    // Samples shorter than anything that is counted.
    assert_eq!(
        train(&vec![vec![1, 2, 3]; 500], 9).as_bytes(),
        [1, 2, 3, 1, 2, 3, 1, 2, 3]
    );
}

#[test]
fn arguments_out_of_range_are_errors() {
    let sample: &[u8] = &[1; 100];
    for (samples, size, text) in [
        (
            &[sample][..],
            0,
            "invalid dictionary size: 0; give 1 to 65536 bytes",
        ),
        (
            &[sample],
            65_537,
            "invalid dictionary size: 65537; give 1 to 65536 bytes",
        ),
        (
            &[],
            100,
            "invalid bytes of samples: 0; give samples of 1 to 4294967296 bytes in all",
        ),
        (
            &[&[], &[]],
            100,
            "invalid bytes of samples: 0; give samples of 1 to 4294967296 bytes in all",
        ),
    ] {
        let error = train_dictionary(samples, size).unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            ("INVALID_ARGUMENT", text)
        );
    }
    // The same megabyte very often: refused before anything is read.
    let megabyte = vec![7; 1 << 20];
    let samples = vec![&megabyte[..]; 4097];
    let error = train_dictionary(&samples, 100).unwrap_err();
    assert!(error.to_string().contains("4296015872"), "{error}");
}
