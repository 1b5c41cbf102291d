//! Branch-free functions of one element, so that the compiler vectorises loops over them. The formulas are those of
//! `shaders/tensor_elementwise.wgsl`.

use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};

use crate::tensor::Step;

/// Computes eˣ within 2 ulp. The polynomial is that of Moshier's Cephes.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    /// 1.5 · 2^23: adding it rounds to an integer, which is in the lowest bits of the sum.
    const TO_WHOLE: f32 = 12_582_912.0;
    // Beyond these bounds the result is 0 or infinite. The comparisons preserve NaN.
    let x = if x < -104.0 { -104.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    let shifted = x * LOG2_E + TO_WHOLE;
    let n = (shifted.to_bits() as i32).wrapping_sub(TO_WHOLE.to_bits() as i32);
    let whole = shifted - TO_WHOLE;
    let r = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    // Two factors, since 2^n itself may overflow or underflow.
    let half = n >> 1;
    let power = |n: i32| f32::from_bits((n.wrapping_add(127) as u32) << 23);
    (p * r * r + r + 1.0) * power(half) * power(n.wrapping_sub(half))
}

/// Computes eˣ - 1 for x ≤ 0.
#[inline(always)]
fn exp_minus_1(x: f32) -> f32 {
    let series = x
        * (1.0
            + x * (0.5
                + x * (0.166_666_67
                    + x * (0.041_666_668 + x * (0.008_333_334 + x * 0.001_388_888_9)))));
    if x > -0.35 { series } else { exp(x) - 1.0 }
}

#[inline(always)]
fn tanh(x: f32) -> f32 {
    let square = x * x;
    let series = x
        * (1.0
            + square
                * (-0.333_333_34
                    + square * (0.133_333_33 + square * (-0.053_968_254 + square * 0.021_869_49))));
    let power = exp(-2.0 * x.abs());
    let magnitude = (1.0 - power) / (1.0 + power);
    if x.abs() < 0.3 {
        series
    } else {
        magnitude.copysign(x)
    }
}

#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    let power = exp(-x.abs());
    (if x < 0.0 { power } else { 1.0 }) / (1.0 + power)
}

/// Clamps x from below to a bound at which its product with a vanishing function is 0. Preserves NaN.
#[inline(always)]
fn at_least(x: f32, bound: f32) -> f32 {
    if x < bound { bound } else { x }
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs().min(15.0) * FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * z);
    let fit = t
        * (1.000_023_7
            + t * (0.374_091_96
                + t * (0.096_784_18
                    + t * (-0.186_288_06
                        + t * (0.278_868_07
                            + t * (-1.135_204
                                + t * (1.488_515_9 + t * (-0.822_152_23 + t * 0.170_872_77))))))));
    let tail = 0.5 * t * exp(fit - 1.265_512_2 - z * z);
    at_least(x, -15.0) * if x > 0.0 { 1.0 - tail } else { tail }
}

#[inline(always)]
fn gelu_tanh(x: f32) -> f32 {
    at_least(x, -15.0) * sigmoid(1.595_769_2 * x * (1.0 + 0.044_715 * x * x))
}

#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if y > x || y.is_nan() { y } else { x }
}

#[inline(always)]
fn smaller(x: f32, y: f32) -> f32 {
    if y < x || y.is_nan() { y } else { x }
}

/// Calls `each` with the function of a step, so that a separate loop is compiled for each function.
#[inline(always)]
pub(super) fn with_function(step: Step, each: impl Each) {
    match step {
        Step::Relu => each.one(|x| if x < 0.0 { 0.0 } else { x }),
        Step::LeakyRelu(slope) => each.one(|x| if x < 0.0 { slope * x } else { x }),
        Step::Elu(scale) => each.one(|x| if x < 0.0 { scale * exp_minus_1(x) } else { x }),
        Step::Sigmoid => each.one(sigmoid),
        Step::Tanh => each.one(tanh),
        Step::Swish => each.one(|x| at_least(x, -110.0) * sigmoid(x)),
        Step::Gelu => each.one(gelu),
        Step::GeluTanh => each.one(gelu_tanh),
        Step::Clip(low, high) => each.one(|x| {
            let raised = if x < low { low } else { x };
            if raised > high { high } else { raised }
        }),
        Step::Scale(factor) => each.one(|x| x * factor),
        Step::Offset(summand) => each.one(|x| x + summand),
        Step::Exp => each.one(exp),
        Step::Log => each.one(f32::ln),
        Step::Log1p => each.one(f32::ln_1p),
        Step::Sqrt => each.one(f32::sqrt),
        Step::Abs => each.one(f32::abs),
        Step::Reciprocal => each.one(f32::recip),
        Step::Add => each.two(|x, y| x + y),
        Step::Sub => each.two(|x, y| x - y),
        Step::Mul => each.two(|x, y| x * y),
        Step::Div => each.two(|x, y| x / y),
        Step::Max => each.two(larger),
        Step::Min => each.two(smaller),
    }
}

/// A loop over elements, generic over the function of a step.
pub(super) trait Each {
    /// Applies a function to each element of the first operand.
    fn one(self, function: impl Fn(f32) -> f32);
    /// Applies a function to each pair of elements of both operands.
    fn two(self, function: impl Fn(f32, f32) -> f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the largest relative error of `function` against one in double precision, over many numbers from `low`
    /// to `high`.
    fn error(function: fn(f32) -> f32, exact: fn(f64) -> f64, low: f32, high: f32) -> f64 {
        let numbers = (0..=200_000).map(|i| low + (high - low) * i as f32 / 200_000.0);
        let errors = numbers.map(|x| {
            let wanted = exact(f64::from(x));
            let tiny = f64::from(f32::MIN_POSITIVE);
            (f64::from(function(x)) - wanted).abs() / wanted.abs().max(tiny)
        });
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_precise() {
        assert!(error(exp, f64::exp, -87.0, 88.0) < 3e-7);
        assert!(error(tanh, f64::tanh, -20.0, 20.0) < 1e-6);
        assert!(error(exp_minus_1, f64::exp_m1, -50.0, 0.0) < 1e-6);
        assert!(error(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), -80.0, 80.0) < 1e-6);
    }

    #[test]
    fn functions_have_the_right_limits() {
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NAN).is_nan());
        assert_eq!(gelu(f32::NEG_INFINITY), 0.0);
        assert_eq!(gelu(f32::INFINITY), f32::INFINITY);
        assert!(gelu(f32::NAN).is_nan());
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
        // Φ(-4), from tables.
        assert!((gelu(-4.0) / (-4.0 * 3.167_124_2e-5) - 1.0).abs() < 1e-5);
    }
}
