//! Packing numbers: errors beside those of ggml's own functions, bounds, and special numbers.

use pagepress::tensor::gguf::GgufFile;
use pagepress::tensor::{Quantization, cpu};

use crate::files::file;

const ALL: [Quantization; 5] = [
    Quantization::Q4K,
    Quantization::Q5K,
    Quantization::Q6K,
    Quantization::Q8_0,
    Quantization::F16,
];

/// Packs and unpacks numbers.
fn rounded(quantization: Quantization, values: &[f32]) -> Vec<f32> {
    let blocks = cpu::quantize_to_vec(quantization, values).unwrap();
    unpacked(quantization, &blocks)
}

fn unpacked(quantization: Quantization, blocks: &[u8]) -> Vec<f32> {
    let n = blocks.len() / quantization.block_bytes() * quantization.block_len();
    let mut values = vec![f32::NAN; n];
    cpu::dequantize(quantization, blocks, &mut values).unwrap();
    values
}

/// Returns the mean of squared errors.
fn error(values: &[f32], found: &[f32]) -> f64 {
    assert_eq!(values.len(), found.len());
    let pairs = values.iter().zip(found);
    let squares = pairs.map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2));
    squares.sum::<f64>() / values.len() as f64
}

/// Returns `n` numbers between -1 and 1, from a linear congruential generator.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn errors_are_at_most_those_of_ggml() {
    let bytes = file("packed");
    let file = GgufFile::from_bytes(&bytes).unwrap();
    let read = |name: &str| {
        let tensor = file.tensor(name).unwrap();
        tensor.to_f32(tensor.data(&bytes).unwrap()).unwrap()
    };
    for kind in ["normal", "outliers", "positive"] {
        let values = read(kind);
        for (quantization, name) in [
            (Quantization::Q4K, "q4_k"),
            (Quantization::Q5K, "q5_k"),
            (Quantization::Q6K, "q6_k"),
            (Quantization::Q8_0, "q8_0"),
        ] {
            let ggml = error(&values, &read(&format!("{kind}.{name}")));
            let ours = error(&values, &rounded(quantization, &values));
            println!(
                "{kind} {name}: {ours:.3e}, ggml {ggml:.3e}, {:.3}",
                ours / ggml
            );
            assert!(ours <= ggml, "{kind} {name}: {ours:e}, ggml {ggml:e}");
        }
    }
}

/// Returns a bound of the errors of numbers between `low` and `high`, which zero is between. Half a step is the least that is possible; but
/// scales are rounded, and the search may cut an extreme number off by more, for smaller errors of the others.
fn bound(quantization: Quantization, low: f32, high: f32) -> f32 {
    let largest = high.max(-low);
    match quantization {
        Quantization::Q4K => 1.5 * (high - low) / 15.0,
        Quantization::Q5K => 1.5 * (high - low) / 31.0,
        Quantization::Q6K => largest / 32.0,
        Quantization::Q8_0 => largest / 127.0,
        Quantization::F16 => largest / 2048.0,
    }
}

#[test]
fn errors_of_single_numbers_are_bounded() {
    for quantization in ALL {
        for (seed, [low, high]) in [
            [-1.0, 1.0],
            [-1000.0, 0.001],
            [0.0, 4e-4],
            [-3.0, 60_000.0],
            [-60_000.0, -59_000.0],
        ]
        .into_iter()
        .enumerate()
        {
            let unit = numbers(quantization.block_len() * 64, seed as u64);
            let values: Vec<f32> = unit
                .iter()
                .map(|x| low + (high - low) * f32::midpoint(*x, 1.0))
                .collect();
            let bound = bound(quantization, low.min(0.0), high.max(0.0));
            for (x, y) in values.iter().zip(rounded(quantization, &values)) {
                assert!((x - y).abs() <= bound, "{quantization:?} {x} {y} {bound}");
            }
        }
    }
}

#[test]
fn zeros_and_constants_stay() {
    for quantization in ALL {
        let n = quantization.block_len() * 2;
        for value in [0.0, -0.0, 1.0, -1.0, 0.3, -17.25, 1e-5, 65_504.0] {
            let found = rounded(quantization, &vec![value; n]);
            // Scales are products of a number with 11 significant bits.
            let bound = value.abs() / 1900.0 + 3.1e-8;
            for y in found {
                assert!((value - y).abs() <= bound, "{quantization:?} {value} {y}");
            }
        }
        assert!(rounded(quantization, &[]).is_empty());
        // One number beside zeros.
        for value in [1.0, -2.0] {
            let mut values = vec![0.0; n];
            values[quantization.block_len() - 1] = value;
            for (x, y) in values.iter().zip(rounded(quantization, &values)) {
                assert!((x - y).abs() < 0.002, "{quantization:?} {x} {y}");
            }
        }
    }
}

/// Numbers that a block holds exactly come back exactly, or nearly so if the search meets other scales.
#[test]
fn packing_again_changes_little() {
    for quantization in ALL {
        let values = numbers(quantization.block_len() * 40, 9);
        let once = rounded(quantization, &values);
        let again = rounded(quantization, &once);
        let (first, second) = (error(&values, &once), error(&once, &again));
        assert!(
            second < 0.05 * first + 1e-12,
            "{quantization:?} {first:e} {second:e}"
        );
    }
}

#[test]
fn tiny_numbers_are_as_exact_as_the_format() {
    for quantization in ALL {
        for scale in [1e-45, 1e-30, 1e-9, 3e-8, 1e-7, 1e-6] {
            let unit = numbers(quantization.block_len() * 4, 11);
            let values: Vec<f32> = unit.iter().map(|x| x * scale).collect();
            for (x, y) in values.iter().zip(rounded(quantization, &values)) {
                let bound = bound(quantization, -scale, scale) + 3.0e-8;
                assert!((x - y).abs() <= bound, "{quantization:?} {x:e} {y:e}");
            }
        }
    }
}

#[test]
fn numbers_beyond_the_format_are_refused_with_their_index() {
    for (quantization, limit) in [
        (Quantization::Q4K, 4_126_752.0f32),
        (Quantization::Q5K, 4_126_752.0),
        (Quantization::Q6K, 257_000_000.0),
        (Quantization::Q8_0, 8_319_008.0),
        (Quantization::F16, 65_519.996),
    ] {
        let n = quantization.block_len() * 20;
        let mut blocks = vec![7; n / quantization.block_len() * quantization.block_bytes()];
        for (at, wrong) in [
            (0, f32::NAN),
            (n - 1, f32::INFINITY),
            (n / 2, f32::NEG_INFINITY),
            (3, limit.next_up()),
            (2, -f32::MAX),
        ] {
            let mut values = numbers(n, 12);
            values[at] = wrong;
            let error = cpu::quantize(quantization, &values, &mut blocks).unwrap_err();
            assert_eq!(error.code(), "INVALID_ARGUMENT");
            let text = error.to_string();
            assert!(text.contains(&format!("{wrong} at index {at};")), "{text}");
            assert!(blocks.iter().all(|&byte| byte == 7));
        }
        for side in [-1.0, 1.0] {
            let values: Vec<f32> = numbers(n, 13)
                .iter()
                .map(|x| x.abs() * side * limit)
                .collect();
            let mut values = values;
            values[5] = side * limit;
            for (x, y) in values.iter().zip(rounded(quantization, &values)) {
                let bound = bound(quantization, -limit, limit);
                assert!((x - y).abs() <= bound, "{quantization:?} {x} {y}");
            }
        }
    }
}

#[test]
fn wrong_lengths_are_typed_errors() {
    for quantization in ALL {
        let (n, n_bytes) = (quantization.block_len(), quantization.block_bytes());
        let code = |n: usize, n_bytes: usize| {
            let made = cpu::quantize(quantization, &vec![1.0; n], &mut vec![0; n_bytes]);
            made.map_err(|error| error.code())
        };
        assert_eq!(code(n, n_bytes), Ok(()));
        assert_eq!(code(n - 1, n_bytes), Err("INVALID_ARGUMENT"));
        assert_eq!(code(n, n_bytes - 1), Err("LENGTH_MISMATCH"));
        assert_eq!(code(n, n_bytes + 1), Err("LENGTH_MISMATCH"));
        assert_eq!(code(0, 0), Ok(()));
        let odd = cpu::quantize_to_vec(quantization, &vec![1.0; n + 1]);
        assert_eq!(odd.unwrap_err().code(), "INVALID_ARGUMENT");
    }
}

/// Shares of the work are cut at blocks: a block has the same bytes wherever it is.
#[test]
fn blocks_do_not_depend_on_their_place() {
    for quantization in ALL {
        let n = quantization.block_len();
        let values = numbers(200 * n, 14);
        let all = cpu::quantize_to_vec(quantization, &values).unwrap();
        for (i, block) in all.chunks(quantization.block_bytes()).enumerate() {
            let one = cpu::quantize_to_vec(quantization, &values[i * n..][..n]).unwrap();
            assert_eq!(one, block);
        }
    }
}
