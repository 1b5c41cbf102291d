//! Blocks of Q4_K and Q5_K: 256 weights of 4 or 5 bits in groups of 32. A group has a scale and a minimum of 6 bits, a block a
//! factor of each.

use super::{Format, Group, each, f16_bits, half_for, inverse, largest, rounded, sum};

/// Number of weights of a group.
const N: usize = 32;
/// Number of groups of a block.
const GROUPS: usize = 8;
/// Largest packed scale or minimum.
const MAX_SCALE: f32 = 63.0;
/// Ranges below this one are zero in the format: the least factor, 2^-24, is more than twice as large.
const TINY: f32 = 2e-8;
/// Number of factors that are tried first. The largest scale of the block becomes 63, 62 and so on in steps of the factor.
const TRIES: usize = 3;
/// Number of times that the factors are solved for, from the weights that those before gave.
const ROUNDS: usize = 2;

/// The format. `MAX` is the largest packed weight, 15 or 31.
pub(super) struct Small<const MAX: u8>;

/// A scale and a minimum, both at least zero: weight q stands for `scale * q - minimum`.
#[derive(Clone, Copy, Default, PartialEq)]
struct Affine {
    scale: f32,
    minimum: f32,
}

/// A group in whole numbers.
#[derive(Clone, Copy, Default)]
struct Packed {
    of: Affine,
    weights: [f32; N],
    error: f32,
}

/// A block. Its factors are numbers of IEEE binary16.
#[derive(Clone, Copy)]
struct Block {
    factors: Affine,
    groups: [Packed; GROUPS],
    error: f32,
}

impl<const MAX: u8> Format for Small<MAX> {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let groups: [Group<N>; GROUPS] = Group::all(values);
        let mut fits = [Affine::default(); GROUPS];
        let mut most = Affine::default();
        for (fit, group) in fits.iter_mut().zip(&groups) {
            *fit = fit_group::<MAX>(group);
            most.scale = most.scale.max(fit.scale);
            most.minimum = most.minimum.max(fit.minimum);
        }
        let mut best = encode::<MAX>(&groups, &fits, first_factors(most, 0));
        for i in 1..TRIES + ROUNDS {
            let factors = if i < TRIES {
                first_factors(most, i)
            } else {
                solve(&groups, &best)
            };
            if factors == best.factors {
                continue;
            }
            let next = encode::<MAX>(&groups, &fits, factors);
            if next.error < best.error {
                best = next;
            }
        }
        write::<MAX>(&best, block);
    }
}

/// Returns the scale and minimum of the least error that is found for a group without rounding them.
#[inline(always)]
fn fit_group<const MAX: u8>(group: &Group<N>) -> Affine {
    let (x, v) = (&group.values, &group.importance);
    let low = -largest::<N>(|i| -x[i]).max(0.0);
    let high = largest::<N>(|i| x[i]);
    let range = high - low;
    let mut best = Affine {
        scale: 0.0,
        minimum: -low,
    };
    if range < TINY {
        return best;
    }
    // Differences from the lowest number: their sums lose no digits where all numbers are far from zero.
    let y: [f32; N] = each(|i| x[i] - low);
    let importance = sum::<N>(|i| v[i]);
    let y_sum = sum::<N>(|i| v[i] * y[i]);
    let (mut most, mut origin) = (f32::MIN, 0.0);
    for i in -10..=10 {
        // The grid starts at the best minimum so far, which is between two numbers where others are far away.
        let inverse = (f32::from(MAX) + 0.1 * i as f32) / (range - origin);
        let weights = rounded::<N>(|i| (y[i] - origin) * inverse, 0.0, f32::from(MAX));
        let weight_sum = sum::<N>(|i| v[i] * weights[i]);
        let squares = sum::<N>(|i| v[i] * weights[i] * weights[i]);
        let products = sum::<N>(|i| v[i] * weights[i] * y[i]);
        // Zero if all weights are equal, as for equal positive numbers; then no offset is solved for, either.
        let determinant = importance * squares - weight_sum * weight_sum;
        let mut scale = (importance * products - weight_sum * y_sum) / determinant;
        let mut offset = (squares * y_sum - weight_sum * products) / determinant;
        // The error is the sum of squares of `y`, less this.
        let mut gain = scale * products + offset * y_sum;
        if determinant < 1e-5 * importance * squares || offset > -low {
            // The minimum, `-low - offset`, is at least zero.
            offset = -low;
            let products = products - offset * weight_sum;
            scale = products / squares;
            gain = scale * products + offset * (2.0 * y_sum - offset * importance);
        }
        if gain > most {
            (most, origin) = (gain, offset);
            best = Affine {
                scale,
                minimum: -low - offset,
            };
        }
    }
    best
}

/// Returns factors with which the largest scale of a block becomes 63 less `i`, and the largest minimum 63.
#[inline(always)]
fn first_factors(most: Affine, i: usize) -> Affine {
    Affine {
        scale: half_for(most.scale / (MAX_SCALE - i as f32)),
        minimum: half_for(most.minimum / MAX_SCALE),
    }
}

/// Chooses the packed scales, minimums and weights for factors.
#[inline(always)]
fn encode<const MAX: u8>(
    groups: &[Group<N>; GROUPS],
    fits: &[Affine; GROUPS],
    factors: Affine,
) -> Block {
    let mut block = Block {
        factors,
        groups: [Packed::default(); GROUPS],
        error: 0.0,
    };
    for (g, packed) in block.groups.iter_mut().enumerate() {
        *packed = encode_group::<MAX>(&groups[g], fits[g], factors);
        block.error += packed.error;
    }
    block
}

/// Chooses the scale and minimum of a group among the whole numbers next to its fit.
#[inline(always)]
fn encode_group<const MAX: u8>(group: &Group<N>, fit: Affine, factors: Affine) -> Packed {
    let (x, v) = (&group.values, &group.importance);
    let nearest = Affine {
        scale: (fit.scale * inverse(factors.scale)).round_ties_even(),
        minimum: (fit.minimum * inverse(factors.minimum)).round_ties_even(),
    };
    let mut best = Packed {
        error: f32::INFINITY,
        ..Packed::default()
    };
    for i in 0..9u8 {
        let of = Affine {
            scale: (nearest.scale + f32::from(i / 3) - 1.0).clamp(0.0, MAX_SCALE),
            minimum: (nearest.minimum + f32::from(i % 3) - 1.0).clamp(0.0, MAX_SCALE),
        };
        let scale = factors.scale * of.scale;
        let minimum = factors.minimum * of.minimum;
        let inverse = inverse(scale);
        let weights = rounded(|i| (x[i] + minimum) * inverse, 0.0, f32::from(MAX));
        let error = sum::<N>(|i| v[i] * (scale * weights[i] - minimum - x[i]).powi(2));
        if error < best.error {
            best = Packed { of, weights, error };
        }
    }
    best
}

/// Returns the factors of the least error for the whole numbers of a block.
#[inline(always)]
fn solve(groups: &[Group<N>; GROUPS], block: &Block) -> Affine {
    // Sums over weights of products of s = scale * q, m = minimum and x.
    let [mut ss, mut sm, mut mm, mut sx, mut mx] = [0.0f64; 5];
    for (group, Packed { of, weights, .. }) in groups.iter().zip(&block.groups) {
        let (x, v) = (&group.values, &group.importance);
        let (scale, minimum) = (f64::from(of.scale), f64::from(of.minimum));
        ss += scale * scale * f64::from(sum::<N>(|i| v[i] * weights[i] * weights[i]));
        sm += scale * minimum * f64::from(sum::<N>(|i| v[i] * weights[i]));
        mm += minimum * minimum * f64::from(sum::<N>(|i| v[i]));
        sx += scale * f64::from(sum::<N>(|i| v[i] * weights[i] * x[i]));
        mx += minimum * f64::from(sum::<N>(|i| v[i] * x[i]));
    }
    let determinant = ss * mm - sm * sm;
    let scale = (sx * mm - sm * mx) / determinant;
    let minimum = (sx * sm - ss * mx) / determinant;
    if determinant > 1e-9 * ss * mm && scale > 0.0 && minimum >= 0.0 {
        return Affine {
            scale: half_for(scale as f32),
            minimum: half_for(minimum as f32),
        };
    }
    // The factor of scales alone.
    let minimum = block.factors.minimum;
    let products = sx + f64::from(minimum) * sm;
    let scale = if ss > 0.0 { products / ss } else { 0.0 };
    Affine {
        scale: half_for(scale.max(0.0) as f32),
        minimum,
    }
}

/// Writes a block: factors, scales and minimums, fifth bits where there are some, and four bits of each weight.
#[inline(always)]
fn write<const MAX: u8>(from: &Block, block: &mut [u8]) {
    block.fill(0);
    block[..2].copy_from_slice(&f16_bits(from.factors.scale).to_le_bytes());
    block[2..4].copy_from_slice(&f16_bits(from.factors.minimum).to_le_bytes());
    let fours = if MAX > 15 { 48 } else { 16 };
    for (g, Packed { of, weights, .. }) in from.groups.iter().enumerate() {
        write_scales(&mut block[4..16], g, of.scale as u8, of.minimum as u8);
        for (i, weight) in weights.iter().enumerate() {
            let weight = *weight as u8;
            block[fours + g / 2 * N + i] |= (weight & 15) << (g % 2 * 4);
            if MAX > 15 {
                block[16 + i] |= weight >> 4 << g;
            }
        }
    }
}

/// Writes the scale and the minimum of a group, 6 bits each: whole for the first four groups, and for the others in the upper
/// two bits of those bytes and in bytes of their own.
#[inline(always)]
fn write_scales(packed: &mut [u8], group: usize, scale: u8, minimum: u8) {
    if group < 4 {
        packed[group] |= scale;
        packed[group + 4] |= minimum;
        return;
    }
    packed[group + 4] |= scale & 15 | minimum << 4;
    packed[group - 4] |= scale >> 4 << 6;
    packed[group] |= minimum >> 4 << 6;
}
