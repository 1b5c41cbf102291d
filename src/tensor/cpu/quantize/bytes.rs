//! Blocks of Q8_0: 32 weights of 8 bits with one factor.

use super::{Format, Group, MIN_HALF, f16_bits, half_for, inverse, largest, rounded, sum};

const N: usize = 32;
/// Largest magnitude of a packed weight. -128 is not used, as in ggml.
const MAX: f32 = 127.0;
/// Number of factors that are tried, and the relative distance between them. The errors of two factors this far apart have
/// little to do with each other, and the largest makes steps 6 % wider.
const TRIES: usize = 16;
const STEP: f32 = 1.0 / 256.0;

/// The format.
pub(super) struct Bytes;

impl Format for Bytes {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let [group]: [Group<N>; 1] = Group::all(values);
        let (x, v) = (&group.values, &group.importance);
        let start = largest::<N>(|i| x[i].abs()) / MAX;
        // Factors below 2^-14 are multiples of 2^-24.
        let step = (start * STEP).max(MIN_HALF);
        let (mut best, mut least) = (0.0, f32::INFINITY);
        for i in 0..TRIES {
            let factor = half_for(start + step * i as f32);
            let weights = weights(x, factor);
            let error = sum::<N>(|i| v[i] * (factor * weights[i] - x[i]).powi(2));
            if error < least {
                (best, least) = (factor, error);
            }
        }
        block[..2].copy_from_slice(&f16_bits(best).to_le_bytes());
        for (byte, weight) in block[2..].iter_mut().zip(weights(x, best)) {
            *byte = weight as i8 as u8;
        }
    }
}

/// Returns the weights that a factor rounds numbers to.
#[inline(always)]
fn weights(x: &[f32; N], factor: f32) -> [f32; N] {
    let inverse = inverse(factor);
    rounded(|i| x[i] * inverse, -MAX, MAX)
}
