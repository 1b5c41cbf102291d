//! Blocks of Q6_K: 256 weights of 6 bits in groups of 16. A group has a signed scale of 8 bits, a block a factor.

use super::{Format, Group, f16_bits, half_for, inverse, largest, rounded, sum};

/// Number of weights of a group, and of groups of a block.
const N: usize = 16;
/// Limits of a packed weight and of a packed scale.
const WEIGHTS: [f32; 2] = [-32.0, 31.0];
const SCALES: [f32; 2] = [-128.0, 127.0];
/// Magnitudes below this one are zero in the format: the least factor, 2^-24, is more than twice as large.
const TINY: f32 = 2e-8;
/// Number of times that the factor is solved for, from the weights that the one before gave.
const ROUNDS: usize = 2;
/// Distances of the packed scales that are tried from the one nearest to the fit.
const OFFS: [f32; 5] = [0.0, -1.0, 1.0, -2.0, 2.0];

/// The format.
pub(super) struct Large;

/// A block. Its factor is a number of IEEE binary16.
struct Block {
    factor: f32,
    scales: [f32; N],
    weights: [[f32; N]; N],
    error: f32,
}

impl Format for Large {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let groups: [Group<N>; N] = Group::all(values);
        let mut fits = [0.0; N];
        for (fit, group) in fits.iter_mut().zip(&groups) {
            *fit = fit_group(group);
        }
        let mut best = encode(&groups, &fits, half_for(extreme(&fits) / SCALES[0]));
        for _ in 0..ROUNDS {
            let factor = half_for(solve(&groups, &best));
            if factor == best.factor {
                break;
            }
            let next = encode(&groups, &fits, factor);
            if next.error >= best.error {
                break;
            }
            best = next;
        }
        write(&best, block);
    }
}

/// Returns the number of the largest magnitude.
#[inline(always)]
fn extreme(x: &[f32; N]) -> f32 {
    let (high, low) = (largest::<N>(|i| x[i]), -largest::<N>(|i| -x[i]));
    if -low > high { low } else { high }
}

/// Returns the scale of the least error that is found for a group without rounding the scale.
#[inline(always)]
fn fit_group(group: &Group<N>) -> f32 {
    let (x, v) = (&group.values, &group.importance);
    let extreme = extreme(x);
    if extreme.abs() < TINY {
        return 0.0;
    }
    let (mut best, mut most) = (0.0, 0.0);
    // The extreme number becomes a weight near the limit of either sign; larger ones are cut off a little.
    for limit in WEIGHTS {
        for i in -9..=9 {
            let inverse = (limit + 0.1 * i as f32) / extreme;
            let weights = rounded::<N>(|i| x[i] * inverse, WEIGHTS[0], WEIGHTS[1]);
            let products = sum::<N>(|i| v[i] * weights[i] * x[i]);
            let squares = sum::<N>(|i| v[i] * weights[i] * weights[i]);
            // The error is the sum of squares of `x`, less the gain.
            let scale = products / squares;
            let gain = scale * products;
            if gain > most {
                (best, most) = (scale, gain);
            }
        }
    }
    best
}

/// Chooses packed scales near the fits, and weights.
#[inline(always)]
fn encode(groups: &[Group<N>; N], fits: &[f32; N], factor: f32) -> Block {
    let mut block = Block {
        factor,
        scales: [0.0; N],
        weights: [[0.0; N]; N],
        error: 0.0,
    };
    let of_factor = inverse(factor);
    for (g, group) in groups.iter().enumerate() {
        let (x, v) = (&group.values, &group.importance);
        let nearest = (fits[g] * of_factor).round_ties_even();
        let mut least = f32::INFINITY;
        for off in OFFS {
            let packed_scale = (nearest + off).clamp(SCALES[0], SCALES[1]);
            let scale = factor * packed_scale;
            let inverse = inverse(scale);
            let weights = rounded(|i| x[i] * inverse, WEIGHTS[0], WEIGHTS[1]);
            let error = sum::<N>(|i| v[i] * (scale * weights[i] - x[i]).powi(2));
            if error < least {
                least = error;
                (block.scales[g], block.weights[g]) = (packed_scale, weights);
            }
        }
        block.error += least;
    }
    block
}

/// Returns the factor of the least error for the scales and weights of a block.
#[inline(always)]
fn solve(groups: &[Group<N>; N], block: &Block) -> f32 {
    let (mut products, mut squares) = (0.0, 0.0);
    for (g, group) in groups.iter().enumerate() {
        let (x, v) = (&group.values, &group.importance);
        let (scale, weights) = (block.scales[g], &block.weights[g]);
        products += scale * sum::<N>(|i| v[i] * weights[i] * x[i]);
        squares += scale * scale * sum::<N>(|i| v[i] * weights[i] * weights[i]);
    }
    products * inverse(squares)
}

/// Writes a block: low halves of weights, their upper two bits, scales and factor.
#[inline(always)]
fn write(from: &Block, block: &mut [u8]) {
    block.fill(0);
    for i in 0..N * N {
        let (side, quarter, l) = (i / 128, i / 32 % 4, i % 32);
        let weight = (from.weights[i / N][i % N] - WEIGHTS[0]) as u8;
        block[64 * side + 32 * (quarter % 2) + l] |= (weight & 15) << (quarter / 2 * 4);
        block[128 + 32 * side + l] |= weight >> 4 << (2 * quarter);
    }
    for (byte, scale) in block[192..208].iter_mut().zip(from.scales) {
        *byte = scale as i8 as u8;
    }
    block[208..].copy_from_slice(&f16_bits(from.factor).to_le_bytes());
}
