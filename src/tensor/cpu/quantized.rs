//! Quantized weights; the twin of `shaders/tensor_matmul_quantized.wgsl` and `shaders/tensor_matvec_quantized.wgsl`.

use super::halves::{f16_bits, f16_value};
use super::parallel::{SHARE, for_shares};
use super::sum::short_dot;
use crate::Result;
use crate::memory::zeros;
use crate::tensor::{Quantization, check_dims, check_len};

/// Maximum number of weights of a block.
const MAX_BLOCK: usize = 256;

/// Unpacks blocks of weights.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch), in bytes for `blocks`;
/// [`InvalidArgument`](crate::Error::InvalidArgument) if `out` is not a whole number of blocks.
pub fn dequantize(quantization: Quantization, blocks: &[u8], out: &mut [f32]) -> Result<()> {
    let block_len = quantization.block_len();
    quantization.check_row(out.len() % block_len)?;
    let n_bytes = out.len() / block_len * quantization.block_bytes();
    check_len("blocks", blocks.len(), n_bytes as u64)?;
    // Shares are whole blocks.
    for_shares(out, SHARE, |start, out| {
        let blocks = &blocks[start / block_len * quantization.block_bytes()..];
        let blocks = blocks.chunks_exact(quantization.block_bytes());
        for (block, out) in blocks.zip(out.chunks_exact_mut(block_len)) {
            unpack(quantization, block, out);
        }
    });
    Ok(())
}

/// Computes `c = a wᵀ`, where `a` is `m` x `k`, row-major, and the quantized weights are `n` x `k`. `c` is `m` x `n`.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch), in bytes for weights;
/// [`InvalidArgument`](crate::Error::InvalidArgument) unless `k` is a multiple of 256 (of 32 for Q8_0, of 4 for F16) and at most
/// 131,072; [`OutOfMemory`](crate::Error::OutOfMemory), since the products are computed in a temporary buffer.
pub fn matmul_quantized(
    quantization: Quantization,
    a: &[f32],
    weights: &[u8],
    c: &mut [f32],
    [m, k, n]: [usize; 3],
) -> Result<()> {
    let n_bytes = quantization.bytes_of(n, k)?;
    check_dims("a", a.len(), &[m, k])?;
    check_len("weights", weights.len(), n_bytes)?;
    check_dims("c", c.len(), &[m, n])?;
    if c.is_empty() || k == 0 {
        c.fill(0.0);
        return Ok(());
    }
    // A share is the products of one row of weights with all rows of `a`, so that each row of weights is unpacked once.
    let block_len = quantization.block_len();
    let block_bytes = quantization.block_bytes();
    let row_bytes = k / block_len * block_bytes;
    let bytes_at_once = MAX_BLOCK / block_len * block_bytes;
    let mut columns = zeros(c.len())?;
    for_shares(&mut columns, m, |start, out| {
        let row = &weights[start / m * row_bytes..][..row_bytes];
        out.fill(0.0);
        let mut all = [0.0; MAX_BLOCK];
        for (i, blocks) in row.chunks(bytes_at_once).enumerate() {
            let values = &mut all[..blocks.len() / block_bytes * block_len];
            let places = values.chunks_exact_mut(block_len);
            for (block, values) in blocks.chunks_exact(block_bytes).zip(places) {
                unpack(quantization, block, values);
            }
            for (sum, a) in out.iter_mut().zip(a.chunks_exact(k)) {
                *sum += short_dot(&a[i * MAX_BLOCK..][..values.len()], values);
            }
        }
    });
    for (i, x) in c.iter_mut().enumerate() {
        *x = columns[i % n * m + i / n];
    }
    Ok(())
}

/// Unpacks a block. `block` and `out` must have the lengths of the format.
fn unpack(quantization: Quantization, block: &[u8], out: &mut [f32]) {
    match quantization {
        Quantization::Q4K => unpack_small(block, &[], &block[16..], out),
        Quantization::Q5K => unpack_small(block, &block[16..48], &block[48..], out),
        Quantization::Q6K => unpack_large(block, out),
        Quantization::Q8_0 => {
            let factor = half([block[0], block[1]]);
            for (out, &byte) in out.iter_mut().zip(&block[2..]) {
                *out = factor * f32::from(byte as i8);
            }
        }
        Quantization::F16 => {
            let (halves, _) = block.as_chunks::<2>();
            for (out, bytes) in out.iter_mut().zip(halves) {
                *out = half(*bytes);
            }
        }
    }
}

/// Unpacks weights of 4 bits, or of 5 if there are `fifths`, in groups of 32, each with a scale and a minimum.
fn unpack_small(block: &[u8], fifths: &[u8], fours: &[u8], out: &mut [f32]) {
    let factor = half([block[0], block[1]]);
    let of_minimum = half([block[2], block[3]]);
    let packed = &block[4..16];
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let (scale, minimum) = scale_and_minimum(packed, group);
        let (scale, minimum) = (factor * f32::from(scale), of_minimum * f32::from(minimum));
        let bytes = &fours[group / 2 * 32..][..32];
        for (i, (out, byte)) in out.iter_mut().zip(bytes).enumerate() {
            let four = byte >> (group % 2 * 4) & 15;
            let fifth = fifths.get(i).map_or(0, |bits| bits >> group & 1);
            *out = scale * f32::from(four | fifth << 4) - minimum;
        }
    }
}

/// Returns the scale and the minimum of a group: 6 bits each, packed for eight groups in 12 bytes.
fn scale_and_minimum(packed: &[u8], group: usize) -> (u8, u8) {
    if group < 4 {
        return (packed[group] & 63, packed[group + 4] & 63);
    }
    let low = packed[group + 4];
    (
        low & 15 | packed[group - 4] >> 6 << 4,
        low >> 4 | packed[group] >> 6 << 4,
    )
}

/// Unpacks weights of 6 bits in groups of 16, each with a signed scale.
fn unpack_large(block: &[u8], out: &mut [f32]) {
    let factor = half([block[208], block[209]]);
    for (i, out) in out.iter_mut().enumerate() {
        let (side, quarter, l) = (i / 128, i / 32 % 4, i % 32);
        let low = block[64 * side + 32 * (quarter % 2) + l] >> (quarter / 2 * 4) & 15;
        let high = block[128 + 32 * side + l] >> (2 * quarter) & 3;
        let scale = block[192 + 8 * side + 2 * quarter + l / 16] as i8;
        *out = factor * f32::from(scale) * (f32::from(low | high << 4) - 32.0);
    }
}

/// Rounds numbers to IEEE binary16, the format of [`Quantization::F16`]: to nearest, ties to even; magnitudes of 65,520
/// and more become infinite.
///
/// # Errors
/// [`OutOfMemory`](crate::Error::OutOfMemory).
pub fn to_f16(values: &[f32]) -> Result<Vec<u8>> {
    let mut bytes = zeros(size_of_val(values) / 2)?;
    for (half, &value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *half = f16_bits(value).to_le_bytes();
    }
    Ok(bytes)
}

/// Converts the bytes of a binary16 number.
fn half(bytes: [u8; 2]) -> f32 {
    f16_value(u16::from_le_bytes(bytes))
}
