//! Matrices in the forms in which a layer takes them, with values by a formula that `llama/reference.py` has, too.

use pagepress::tensor::layer::Weights;
use pagepress::tensor::{DType, Quantization, cpu};

/// Form of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    As(DType),
    Packed(Quantization),
}

/// Values of a matrix in host memory.
pub enum Stored {
    F32(Vec<f32>),
    Bits(DType, Vec<u16>),
    Packed(Quantization, Vec<u8>),
}

impl Stored {
    /// Stores values. Packed weights do not represent them, but are random.
    pub fn new(form: Form, seed: u32, values: Vec<f32>) -> Self {
        match form {
            Form::As(DType::F32) => Self::F32(values),
            Form::As(dtype) => {
                let mut bits = vec![0; values.len()];
                cpu::to_bits(dtype, &values, &mut bits).unwrap();
                Self::Bits(dtype, bits)
            }
            Form::Packed(quantization) => {
                let n_blocks = values.len() / quantization.block_len();
                Self::Packed(quantization, blocks(quantization, seed, n_blocks))
            }
        }
    }

    pub fn weights(&self) -> Weights<'_> {
        match self {
            Self::F32(values) => Weights::F32(values),
            Self::Bits(dtype, bits) => Weights::Bits(*dtype, bits),
            Self::Packed(quantization, bytes) => Weights::Packed(*quantization, bytes),
        }
    }

    pub fn values(&self) -> Vec<f32> {
        match self {
            Self::F32(values) => values.clone(),
            Self::Bits(dtype, bits) => {
                let mut values = vec![0.0; bits.len()];
                cpu::from_bits(*dtype, bits, &mut values).unwrap();
                values
            }
            Self::Packed(quantization, bytes) => {
                let n_blocks = bytes.len() / quantization.block_bytes();
                let mut values = vec![0.0; n_blocks * quantization.block_len()];
                cpu::dequantize(*quantization, bytes, &mut values).unwrap();
                values
            }
        }
    }
}

/// Returns 32 pseudorandom bits.
pub const fn hashed(seed: u32, i: u32) -> u32 {
    let mut x = i.wrapping_mul(0x9e37_79b9) ^ seed.wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

/// Returns numbers from -`scale` to `scale`, a power of two, so that they are exact.
pub fn numbers(seed: u32, n: usize, scale: f32) -> Vec<f32> {
    let number = |i| ((hashed(seed, i) >> 8) as i32 - (1 << 23)) as f32;
    (0..n as u32)
        .map(|i| number(i) * (scale / 8_388_608.0))
        .collect()
}

/// Returns blocks of random bits with fixed exponents of their factors, for weights of up to 0.4.
fn blocks(quantization: Quantization, seed: u32, n: usize) -> Vec<u8> {
    let n_bytes = (n * quantization.block_bytes()) as u32;
    let mut bytes: Vec<u8> = (0..n_bytes)
        .map(|i| (hashed(seed, i) >> 24) as u8)
        .collect();
    for block in bytes.chunks_mut(quantization.block_bytes()) {
        let fixed: &[(usize, u8)] = match quantization {
            Quantization::Q4K => &[(1, 0x0c), (3, 0x17)],
            Quantization::Q5K => &[(1, 0x08), (3, 0x17)],
            Quantization::Q6K => &[(209, 0x04)],
            Quantization::Q8_0 => &[(1, 0x14)],
            Quantization::F16 => &[(1, 0x28), (3, 0xa8), (5, 0x28), (7, 0xa8)],
        };
        for &(at, byte) in fixed {
            block[at] = byte;
        }
    }
    bytes
}
