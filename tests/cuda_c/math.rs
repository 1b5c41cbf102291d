//! Floats: functions, conversions, bits. References compute in double precision.

use crate::case::{Case, Tolerance, kernel, near};
use crate::inputs::floats;

pub fn cases() -> Vec<Case> {
    vec![
        float_to_int(),
        math_elementary(),
        math_trigonometric(),
        math_special(),
        math_remainder(),
        math_fast(),
        float_bits(),
        narrowed_double(),
        math_edges(),
        math_rare(),
    ]
}

/// Results of `of` for each input, as floats.
fn table<const N: usize>(input: &[f32], of: impl Fn(f64) -> [f64; N]) -> Vec<f32> {
    let rows = input.iter().flat_map(|&v| of(f64::from(v)));
    rows.map(|value| value as f32).collect()
}

fn float_to_int() -> Case {
    let mut input = floats(20, 110, -50.0..50.0);
    input[..6].copy_from_slice(&[0.5, 1.5, 2.5, -0.5, -1.5, -2.5]);
    let n = input.len();
    let ints = |&v: &f32| {
        [
            v as i32,
            v as i32,
            v.round_ties_even() as i32,
            v.floor() as i32,
            v.ceil() as i32,
            v.trunc() as i32,
            (v * 2.0) as i32 % 7,
        ]
    };
    let naturals = |&v: &f32| [v.abs() as u32, v.abs().round_ties_even() as u32];
    let reals = |(i, &v): (usize, &f32)| {
        [
            v.floor(),
            v.ceil(),
            v.trunc(),
            v.round(),
            v.round_ties_even(),
            i as f32 + 4.0,
            v.trunc() + 0.0,
            (i / 2) as f32 + 0.5,
        ]
    };
    let expected_ints: Vec<i32> = input.iter().flat_map(ints).collect();
    let expected_naturals: Vec<u32> = input.iter().flat_map(naturals).collect();
    let expected_reals: Vec<f32> = input.iter().enumerate().flat_map(reals).collect();
    kernel!("float_to_int")
        .over(n, 32)
        .input(&input)
        .output(expected_ints)
        .output(expected_naturals)
        .output(expected_reals)
        .i32(n)
}

fn math_elementary() -> Case {
    let input = floats(21, 128, 0.05..6.0);
    let expected = table(&input, |v| {
        [
            v.sqrt(),
            1.0 / v.sqrt(),
            (-v).exp(),
            v.exp2(),
            v.ln(),
            v.log2(),
            v.log10(),
            v.powf(1.75),
            v * v + 1.0,
            1.0 / v,
            v.sqrt() + (-v).exp() + (v + 1.0).ln(),
            v.sqrt(),
        ]
    });
    let buffers = kernel!("math_elementary").over(128, 64).input(&input);
    buffers.output_within(expected, near(1e-5)).i32(128)
}

/// WGSL guarantees an absolute error of 2^-11 for sin and cos.
fn math_trigonometric() -> Case {
    let input = floats(22, 100, -3.0..3.0);
    let expected = table(&input, |v| {
        [
            v.sin(),
            v.cos(),
            (v * 0.4).tan(),
            (v * 0.3).asin(),
            (v * 0.3).acos(),
            v.atan(),
            v.atan2(0.75),
            v.atan2(-0.75),
            v.sinh(),
            v.cosh(),
            v.tanh(),
            1.0,
        ]
    });
    let buffers = kernel!("math_trigonometric").over(100, 64).input(&input);
    buffers.output_within(expected, near(6e-4)).i32(100)
}

/// The error function as its series; it converges for the arguments of these tests.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..80 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn math_special() -> Case {
    let input = floats(23, 100, -2.5..2.5);
    let expected = table(&input, |v| {
        [
            erf(v),
            v.cbrt(),
            v.hypot(1.25),
            v.abs().ln_1p(),
            v.exp_m1(),
            1.0 - erf(v),
        ]
    });
    let buffers = kernel!("math_special").over(100, 64).input(&input);
    buffers.output_within(expected, near(5e-6)).i32(100)
}

fn math_remainder() -> Case {
    let a = floats(24, 99, -20.0..20.0);
    let mut b = floats(25, 99, 1.0..6.0);
    for i in (0..99).step_by(4) {
        b[i] = -b[i];
    }
    let of = |(&a, &b): (&f32, &f32)| [a % b, a.copysign(b), (a - b).max(0.0), a.abs() - b.abs()];
    let expected: Vec<f32> = a.iter().zip(&b).flat_map(of).collect();
    let classes: Vec<i32> = (0..99).map(|i| [1, 2, 4][i % 3]).collect();
    kernel!("math_remainder")
        .over(99, 64)
        .input(&a)
        .input(&b)
        .output_within(expected, near(1e-5))
        .output(classes)
        .i32(99)
}

fn math_fast() -> Case {
    let input = floats(26, 96, 0.1..3.0);
    let expected = table(&input, |v| {
        [
            v.exp(),
            v.ln(),
            v.sin(),
            v.cos(),
            v.powf(2.5),
            v / 3.0,
            (v - 1.0).clamp(0.0, 1.0),
            v * 2.0 + (v + 1.0) + 1.0 / v,
            v.sqrt() + (v * 2.0 + 1.0) + v / 4.0,
        ]
    });
    let tolerance = Tolerance::Near {
        absolute: 6e-4,
        relative: 1e-5,
    };
    let buffers = kernel!("math_fast").over(96, 32).input(&input);
    buffers.output_within(expected, tolerance).i32(96)
}

fn float_bits() -> Case {
    let input = floats(27, 100, 0.01..1000.0);
    let exponents: Vec<u32> = input.iter().map(|v| v.to_bits() >> 23 & 0xff).collect();
    let order: Vec<i32> = (0..100).collect();
    let roots = table(&input, |v| {
        let y = f64::from(f32::from_bits(0x5f37_59df - ((v as f32).to_bits() >> 1)));
        [y * (1.5 - 0.5 * v * y * y)]
    });
    kernel!("float_bits")
        .over(100, 64)
        .input(&input)
        .output_within(roots, near(1e-6))
        .output(exponents)
        .output(order)
        .i32(100)
}

fn narrowed_double() -> Case {
    let input = floats(28, 70, 0.5..4.0);
    let expected = table(&input, |v| {
        let t = v * 1.5;
        [t.sqrt() + 0.5 * (-t).exp() + 1.0]
    });
    let buffers = kernel!("narrowed_double")
        .narrow_f64()
        .over(70, 64)
        .input(&input);
    buffers.output_within(expected, near(1e-5)).f32(1.5).i32(70)
}

fn math_edges() -> Case {
    let input: Vec<f32> = (0..50).map(|i| (i * 2 - 49) as f32 / 16.0).collect();
    let pi = std::f64::consts::PI;
    let expected = table(&input, |v| {
        [
            v * v,
            v * v * v,
            2.0,
            v.signum(),
            v.signum(),
            (v - 0.5).round(),
            v.signum() * pi / 2.0 + pi,
            (-v.abs() * 200.0).exp(),
            (v * 1000.0) % 7.0,
            (v * 1000.0).cbrt(),
        ]
    });
    let case = kernel!("math_edges").over(50, 64).input(&input);
    case.output_within(expected, near(2e-5)).i32(50)
}

fn math_rare() -> Case {
    let input = floats(29, 60, -2.0..2.0);
    let tens: Vec<f32> = input.iter().map(|v| (v * 10.0).round()).collect();
    let pi = std::f64::consts::PI;
    let mut expected = table(&input, |v| {
        [
            10f64.powf(v),
            (pi * v).sin(),
            (pi * v).cos(),
            0.5 + 0.5 * erf(v / std::f64::consts::SQRT_2),
            v,
            (v * 3.0).round_ties_even(),
            (v.abs() + 1.5).acosh() + v.asinh() + (v * 0.4).atanh(),
            2.0 * v.abs(),
        ]
    });
    for (i, row) in expected.chunks_exact_mut(8).enumerate() {
        row[4] *= [0.25, 0.5, 1.0, 2.0, 4.0][i % 5];
        row[7] += tens[i];
    }
    let case = kernel!("math_rare").over(60, 32).input(&input);
    case.output_within(expected, near(6e-4)).i32(60)
}
