//! Functions that the front end computes itself: their error over dense samples, against references in double precision.
//! `PAGEPRESS_CUDA_CASE=accuracy` prints the largest errors.

use crate::case::{Case, Tolerance, kernel};

/// Samples, from -8 to 8.
const SAMPLES: usize = 1 << 16;

pub fn cases() -> Vec<Case> {
    vec![accuracy()]
}

fn erf(x: f64) -> f64 {
    if x.abs() > 3.0 {
        return x.signum() * (1.0 - tail(x.abs()));
    }
    let square = x * x;
    let sum = (1..=120).rev().fold(1.0, |sum, n| {
        1.0 + sum * 2.0 * square / f64::from(2 * n + 1)
    });
    std::f64::consts::FRAC_2_SQRT_PI * (-square).exp() * x * sum
}

/// `1 - erf(x)` for `x` of at least 2, by its continued fraction.
fn tail(x: f64) -> f64 {
    let fraction = (1..=200)
        .rev()
        .fold(x, |rest, n| x + f64::from(n) / 2.0 / rest);
    (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI / 2.0 / fraction
}

fn erfc(x: f64) -> f64 {
    if x > 2.0 { tail(x) } else { 1.0 - erf(x) }
}

/// Bounds are those of `docs/cuda-c.md` with the errors that WGSL allows for `exp` and `log`.
fn accuracy() -> Case {
    let input: Vec<f32> = (0..SAMPLES)
        .map(|i| (i as f32 + 0.5) * 16.0 / SAMPLES as f32 - 8.0)
        .collect();
    let table = |of: &dyn Fn(f64) -> f64| -> Vec<f32> {
        input.iter().map(|x| of(f64::from(*x)) as f32).collect()
    };
    let complement = Tolerance::Near {
        absolute: f64::from(f32::MIN_POSITIVE),
        relative: 2f64.powi(-14),
    };
    kernel!("accuracy")
        .over(SAMPLES, 64)
        .input(&input)
        .output_within(table(&erf), Tolerance::Ulps(8.0))
        .output_within(table(&erfc), complement)
        .output_within(table(&|x| erfc(-x / 2f64.sqrt()) / 2.0), complement)
        .output_within(table(&f64::cbrt), Tolerance::Ulps(2.0))
        .output_within(table(&f64::tanh), Tolerance::Ulps(8.0))
        .output_within(table(&|x| x.abs().ln_1p()), Tolerance::Ulps(8.0))
        .output_within(table(&f64::exp_m1), Tolerance::Ulps(24.0))
}
