//! `half` and `half2`, on devices with 16-bit floats. References round the results in double precision.

use crate::case::{Case, kernel, near};
use crate::inputs::{ints, naturals};

pub fn cases() -> Vec<Case> {
    vec![half_scalar(), half_pairs(), half_words()]
}

/// Rounds to the nearest normal `half`, ties to even.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let unit = 2f64.powi(value.abs().log2().floor() as i32 - 10);
    (value / unit).round_ties_even() * unit
}

/// Returns the bits of a normal `half`.
fn bits(value: f64) -> u16 {
    let value = rounded(value);
    let sign = u16::from(value.is_sign_negative()) << 15;
    if value == 0.0 {
        return sign;
    }
    let exponent = value.abs().log2().floor() as i32;
    let fraction = (value.abs() / 2f64.powi(exponent) - 1.0) * 1024.0;
    sign | ((exponent + 15) as u16) << 10 | fraction as u16
}

/// Multiples of 1/16, which are halves.
fn halves(seed: u64, n: usize) -> Vec<f64> {
    let values = ints(seed, n, -160..160);
    values.into_iter().map(|v| f64::from(v) / 16.0).collect()
}

fn all_bits(values: &[f64]) -> Vec<u16> {
    values.iter().map(|value| bits(*value)).collect()
}

fn half_scalar() -> Case {
    let (a, mut b) = (halves(500, 70), halves(501, 70));
    b[3] = a[3];
    let scale = 2.5;
    let mut flags = Vec::new();
    let mut out = Vec::new();
    for (i, (&x, &y)) in a.iter().zip(&b).enumerate() {
        let product = rounded(rounded(x * y) + scale);
        let fused = rounded(x * y + [0.5, 2.0, -4.0][i % 3]);
        let first = if product > fused { -product } else { product };
        out.extend([first, fused, rounded((x - y) / 3.0), x.abs().sqrt()]);
        flags.push(i32::from(x < y) + 2 + 4 * i32::from(x == y) + 16);
        flags.push(x.trunc() as i32 * 100_000 + i32::from(bits(x)));
    }
    // A product may be fused with its sum, and a division may be off by an ulp.
    kernel!("half_scalar")
        .over(70, 32)
        .input(&all_bits(&a))
        .input(&all_bits(&b))
        .output_within(HalfBits(all_bits(&out)), near(2e-3))
        .output(flags)
        .f32(scale as f32)
        .i32(70)
}

fn half_pairs() -> Case {
    let (a, b) = (halves(502, 256), halves(503, 256));
    let pair = |values: &[f64], i: usize| [values[2 * i], values[2 * i + 1]];
    let mut out = Vec::new();
    let mut sums = Vec::new();
    let tile: Vec<[f64; 2]> = (0..128)
        .map(|i| {
            let (x, y) = (pair(&a, i), pair(&b, i));
            [0, 1].map(|k| rounded(x[k] * y[k] + 0.25))
        })
        .collect();
    let mirrored = |i: usize| tile[i / 64 * 64 + 63 - i % 64];
    for i in 0..128 {
        let (x, y, z) = (pair(&a, i), pair(&b, i), mirrored(i));
        let result = [0, 1].map(|k| rounded(rounded(z[k] + x[k]) * y[k]));
        out.extend([result[0].max(y[0]), result[1]]);
        let down = if i % 32 == 31 { z } else { mirrored(i + 1) };
        sums.push((z[0] + z[1] + down[1] + mirrored(i ^ 2)[1]) as f32);
    }
    kernel!("half_pairs")
        .over(128, 64)
        .input(&all_bits(&a))
        .input(&all_bits(&b))
        .output_within(HalfBits(all_bits(&out)), near(2e-3))
        .output(sums)
}

fn half_words() -> Case {
    let n = 64;
    let a = halves(504, n);
    let tags = naturals(505, n, 60_000);
    let mut out = Vec::new();
    let mut pixels = Vec::new();
    let mut changed = Vec::new();
    for i in 0..n {
        let at = i % (n / 2);
        out.extend([a[i], a[2 * at + 1], a[i / 2 * 2]]);
        pixels.extend([bits(a[n - 1 - i]), tags[i] as u16]);
        changed.extend([bits(a[n - 1 - i] + a[i]), tags[i] as u16 + 1]);
    }
    for i in 0..n {
        let at = i % (n / 2);
        out.extend([-a[2 * at], -a[2 * at + 1]]);
    }
    // Zero may have either sign after a detour.
    kernel!("half_words")
        .input(&all_bits(&a))
        .output_within(HalfBits(all_bits(&out)), near(0.0))
        .in_out_within(&pixels, changed, crate::case::Tolerance::Exact)
        .i32(n)
}

/// The bits of halves, compared by their values.
struct HalfBits(Vec<u16>);

impl From<HalfBits> for crate::case::Data {
    fn from(bits: HalfBits) -> Self {
        Self::F16(bits.0.into_iter().map(crate::case::Half).collect())
    }
}
