//! Products with packed weights, compared with products of weights unpacked bit by bit.

use pagepress::tensor::{Quantization, cpu};

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::PRODUCTS;

pub const ALL: [Quantization; 5] = [
    Quantization::Q4K,
    Quantization::Q5K,
    Quantization::Q6K,
    Quantization::Q8_0,
    Quantization::F16,
];

/// Returns blocks of random bits whose factors are finite and below 1.
pub fn blocks(quantization: Quantization, n: usize, seed: u64) -> Vec<u8> {
    let random = numbers(n * quantization.block_bytes(), seed, 128.0);
    let mut bytes: Vec<u8> = random.into_iter().map(|x| (x + 128.0) as u8).collect();
    for block in bytes.chunks_mut(quantization.block_bytes()) {
        let factors: &[usize] = match quantization {
            Quantization::Q6K => &[209],
            Quantization::Q8_0 => &[1],
            Quantization::F16 => &[1, 3, 5, 7],
            _ => &[1, 3],
        };
        // Limits the exponents, so that factors are neither infinite nor large.
        for &at in factors {
            block[at] = block[at] & 0x83 | (block[at] % 15) << 2;
        }
    }
    bytes
}

/// Returns `n` bits of a block from bit `from` on, the lowest first.
fn bits(block: &[u8], from: usize, n: usize) -> i32 {
    let bit = |at: usize| i32::from(block[at / 8] >> (at % 8) & 1);
    (0..n).map(|i| bit(from + i) << i).sum()
}

fn half(block: &[u8], byte: usize) -> f64 {
    let fraction = f64::from(bits(block, 8 * byte, 10)) / 1024.0;
    let exponent = bits(block, 8 * byte + 10, 5);
    let magnitude = match exponent {
        0 => fraction * 2.0f64.powi(-14),
        _ => (1.0 + fraction) * 2.0f64.powi(exponent - 15),
    };
    if bits(block, 8 * byte + 15, 1) == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// Returns weight i of a block, as the format defines it.
pub fn weight(quantization: Quantization, block: &[u8], i: usize) -> f64 {
    let group = i / 32;
    if quantization == Quantization::F16 {
        return half(block, 2 * i);
    }
    if quantization == Quantization::Q8_0 {
        let byte = 8 * (2 + i);
        let value = bits(block, byte, 7) - 128 * bits(block, byte + 7, 1);
        return half(block, 0) * f64::from(value);
    }
    if quantization == Quantization::Q6K {
        let (side, quarter, l) = (i / 128, i % 128 / 32, i % 32);
        let low = 8 * (64 * side + 32 * (quarter & 1) + l) + 4 * (quarter >> 1);
        let high = 8 * (128 + 32 * side + l) + 2 * quarter;
        let value = bits(block, low, 4) + 16 * bits(block, high, 2) - 32;
        let scale = 192 + i / 16;
        let scale = bits(block, 8 * scale, 7) - 128 * bits(block, 8 * scale + 7, 1);
        return half(block, 208) * f64::from(scale) * f64::from(value);
    }
    let (fours, fifths) = match quantization {
        Quantization::Q4K => (16, None),
        _ => (48, Some(16)),
    };
    let byte = fours + group / 2 * 32 + i % 32;
    let fifth = fifths.map_or(0, |fifths| bits(block, 8 * (fifths + i % 32) + group, 1));
    let value = bits(block, 8 * byte + group % 2 * 4, 4) + 16 * fifth;
    let (scale, minimum) = match group {
        0..4 => (
            bits(block, 8 * (4 + group), 6),
            bits(block, 8 * (8 + group), 6),
        ),
        _ => (
            bits(block, 8 * (8 + group), 4) + 16 * bits(block, 8 * group + 6, 2),
            bits(block, 8 * (8 + group) + 4, 4) + 16 * bits(block, 8 * (4 + group) + 6, 2),
        ),
    };
    half(block, 0) * f64::from(scale * value) - half(block, 2) * f64::from(minimum)
}

pub async fn packed_weights_are_unpacked_on_the_way(subject: &Subject) {
    for quantization in ALL {
        for [m, k, n] in [
            [1, 256, 1],
            [3, 512, 5],
            [33, 768, 70],
            [70, 256, 129],
            [1, 768, 37],
            [1, 2304, 19],
            [1, 4096, 64],
            [0, 256, 3],
            [2, 0, 3],
            [5, 4, 7],
            [5, 32, 7],
            [2, 96, 3],
            [9, 160, 65],
            [40, 100, 65],
        ] {
            if k % quantization.block_len() > 0 {
                continue;
            }
            let packed = blocks(
                quantization,
                n * k / quantization.block_len(),
                200 + k as u64,
            );
            let exact: Vec<f64> = packed
                .chunks(quantization.block_bytes())
                .flat_map(|block| {
                    (0..quantization.block_len()).map(|i| weight(quantization, block, i))
                })
                .collect();
            let mut unpacked = vec![f32::NAN; n * k];
            cpu::dequantize(quantization, &packed, &mut unpacked).unwrap();
            for (found, exact) in unpacked.iter().zip(&exact) {
                assert!(
                    (f64::from(*found) - exact).abs() <= 1e-6 * exact.abs().max(64.0),
                    "{found} {exact}"
                );
            }
            let rows = Tensor::new(numbers(m * k, 201, 1.0), &[m, k]);
            let (found, dims) = subject
                .matmul_quantized(quantization, &rows, &packed, [n, k])
                .await
                .unwrap();
            assert_eq!(dims, [m, n]);
            let turned: Vec<f32> = (0..n * k)
                .map(|i| unpacked[i % n.max(1) * k + i / n.max(1)])
                .collect();
            let exact = match k {
                0 => vec![(0.0, 0.0); m * n],
                _ => naive::matmul(&rows.values(), &turned, [m, k, n]),
            };
            for (found, (exact, magnitude)) in found.iter().zip(exact) {
                let off = (f64::from(*found) - exact).abs();
                assert!(
                    off <= PRODUCTS * magnitude,
                    "{quantization:?} {m} {k} {n}: {found}, exactly {exact}"
                );
            }
        }
    }
}

/// Few rows have a kernel of their own.
pub async fn few_rows_and_many_give_the_same_products(subject: &Subject) {
    for quantization in ALL {
        for [k, n] in [[256, 1], [768, 13], [4096, 35]] {
            let packed = blocks(quantization, n * k / quantization.block_len(), 210);
            let all = Tensor::new(numbers(40 * k, 211, 1.0), &[40, k]);
            let unpacked = unpacked(quantization, &packed, [n, k]);
            let exact = naive::matmul(&all.values(), &unpacked, [40, k, n]);
            for m in (1..=9).chain([40]) {
                let rows = Tensor::new(all.values()[..m * k].to_vec(), &[m, k]);
                let (found, dims) = subject
                    .matmul_quantized(quantization, &rows, &packed, [n, k])
                    .await
                    .unwrap();
                assert_eq!(dims, [m, n]);
                for (found, (exact, magnitude)) in found.iter().zip(&exact) {
                    let off = (f64::from(*found) - exact).abs();
                    assert!(
                        off <= PRODUCTS * magnitude,
                        "{quantization:?} {m} {k} {n}: {found}, exactly {exact}"
                    );
                }
            }
        }
    }
}

/// Returns unpacked weights, transposed: `[k, n]`.
fn unpacked(quantization: Quantization, packed: &[u8], [n, k]: [usize; 2]) -> Vec<f32> {
    let mut unpacked = vec![f32::NAN; n * k];
    cpu::dequantize(quantization, packed, &mut unpacked).unwrap();
    (0..n * k).map(|i| unpacked[i % n * k + i / n]).collect()
}

/// A NaN or an infinity reaches the products that it belongs to, and no others.
pub async fn numbers_that_are_not_finite_stay_in_their_rows_and_columns(subject: &Subject) {
    let [k, n] = [512, 9];
    for quantization in ALL {
        let mut packed = blocks(quantization, n * k / quantization.block_len(), 212);
        let row_bytes = k / quantization.block_len() * quantization.block_bytes();
        let factor = match quantization {
            Quantization::Q6K => 208,
            _ => 0,
        };
        // A scale of NaN in column 3.
        packed[3 * row_bytes + factor..][..2].copy_from_slice(&[1, 0x7e]);
        for m in [3, 7, 33] {
            for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut elements = numbers(m * k, 213, 1.0);
                elements[2 * k + 100] = value;
                let rows = Tensor::new(elements, &[m, k]);
                let (found, _) = subject
                    .matmul_quantized(quantization, &rows, &packed, [n, k])
                    .await
                    .unwrap();
                for (i, found) in found.iter().enumerate() {
                    let (row, col) = (i / n, i % n);
                    let is_finite = row != 2 && col != 3;
                    let what = format!("{quantization:?} {m} {value} [{row}, {col}]: {found}");
                    assert_eq!(found.is_finite(), is_finite, "{what}");
                    if col == 3 || row == 2 && value.is_nan() {
                        assert!(found.is_nan(), "{what}");
                    }
                }
            }
        }
    }
}

pub async fn weights_that_are_not_whole_are_typed_errors(subject: &Subject) {
    let rows = Tensor::new(vec![1.0; 512], &[2, 256]);
    let packed = blocks(Quantization::Q4K, 3, 1);
    let code = async |bytes: &[u8], size| {
        let made = subject
            .matmul_quantized(Quantization::Q4K, &rows, bytes, size)
            .await;
        made.unwrap_err().code()
    };
    assert_eq!(code(&packed[1..], [3, 256]).await, "LENGTH_MISMATCH");
    assert_eq!(code(&packed, [3, 255]).await, "INVALID_ARGUMENT");
    let other = code(&packed[..288], [1, 512]).await;
    assert_eq!(
        other,
        if matches!(subject, Subject::Cpu) {
            "LENGTH_MISMATCH"
        } else {
            "SHAPE_MISMATCH"
        }
    );
    let mut out = [0.0; 255];
    let error = cpu::dequantize(Quantization::Q6K, &packed, &mut out).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}
