//! Simulations, finance, clustering and rows of networks.

use crate::case::{Case, Tolerance, kernel, near};
use crate::inputs::{floats, ints, whole_floats};

pub fn cases() -> Vec<Case> {
    vec![
        nbody(),
        black_scholes(),
        pi_xorshift(),
        kmeans_assign(),
        kmeans_update(),
        softmax_row(),
        layernorm_row(),
    ]
}

fn nbody() -> Case {
    let n = 100;
    let positions = floats(200, 4 * n, 0.1..2.0);
    let velocities = floats(201, 4 * n, -1.0..1.0);
    let body = |i: usize| [0, 1, 2, 3].map(|k| f64::from(positions[4 * i + k]));
    let mut expected = velocities.clone();
    for i in 0..n {
        let own = body(i);
        let mut acc = [0.0; 3];
        for other in (0..n).map(body) {
            let r = [0, 1, 2].map(|k| other[k] - own[k]);
            let squared = r.iter().map(|v| v * v).sum::<f64>() + 1e-2;
            (0..3).for_each(|k| acc[k] += r[k] * other[3] / squared.powf(1.5));
        }
        (0..3).for_each(|k| expected[4 * i + k] += (0.01 * acc[k]) as f32);
    }
    let case = kernel!("nbody").over(n, 64).input(&positions);
    case.in_out_within(&velocities, expected, near(1e-4))
        .f32(0.01)
        .i32(n)
}

/// The distribution function of the normal distribution, by Simpson's rule.
fn normal(d: f64) -> f64 {
    let n = 2000;
    let step = d / f64::from(n);
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let weigh = |k: i32| match k {
        0 => 1.0,
        k if k == n => 1.0,
        k if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=n)
        .map(|k| weigh(k) * density(f64::from(k) * step))
        .sum();
    0.5 + sum * step / 3.0
}

fn black_scholes() -> Case {
    let n = 120;
    let price = floats(202, n, 5.0..30.0);
    let strike = floats(203, n, 5.0..40.0);
    let years = floats(204, n, 0.25..5.0);
    let (r, v) = (0.02, 0.30);
    let of = |i: usize| {
        let [s, x, t] = [price[i], strike[i], years[i]].map(f64::from);
        let d1 = ((s / x).ln() + (r + 0.5 * v * v) * t) / (v * t.sqrt());
        let d2 = d1 - v * t.sqrt();
        let discounted = x * (-r * t).exp();
        let call = s * normal(d1) - discounted * normal(d2);
        (call as f32, (call - s + discounted) as f32)
    };
    let (call, put): (Vec<f32>, Vec<f32>) = (0..n).map(of).unzip();
    let case = kernel!("black_scholes").over(n, 64);
    let case = case
        .output_within(call, near(2e-4))
        .output_within(put, near(2e-4));
    case.input(&price)
        .input(&strike)
        .input(&years)
        .f32(0.02)
        .f32(0.30)
        .i32(n)
}

fn pi_xorshift() -> Case {
    let (seed, trials) = (12345u32, 40);
    let mut hits = 0u32;
    for thread in 0..128u32 {
        let mut state = (seed ^ thread.wrapping_mul(0x9e37_79b9)) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state >> 17
        };
        for _ in 0..trials {
            let (x, y) = (next(), next());
            hits += u32::from(x * x + y * y < 1 << 30);
        }
    }
    let case = kernel!("pi_xorshift").over(128, 64).u32(seed).i32(trials);
    case.in_out(&[0u32], vec![hits])
}

fn kmeans_assign() -> Case {
    let (n, k, dimensions) = (110, 5, 3);
    // Whole numbers: distances are exact, and ties go to the first.
    let points = whole_floats(205, n * dimensions, -20..20);
    let centroids = whole_floats(206, k * dimensions, -20..20);
    let distance = |p: usize, c: usize| {
        let difference = |f: usize| points[f * n + p] - centroids[c * dimensions + f];
        (0..dimensions)
            .map(|f| difference(f) * difference(f))
            .sum::<f32>() as i32
    };
    let nearest = |p: usize| (0..k).min_by_key(|c| distance(p, *c)).unwrap() as i32;
    let expected: Vec<i32> = (0..n).map(nearest).collect();
    let case = kernel!("kmeans_assign")
        .over(n, 32)
        .input(&points)
        .input(&centroids);
    case.output(expected).i32(n).i32(k).i32(dimensions)
}

fn kmeans_update() -> Case {
    let n = 150;
    let points = whole_floats(207, 2 * n, -50..50);
    let membership = ints(208, n, 0..4);
    let (mut sums, mut counts) = (vec![0.0f32; 8], vec![0; 4]);
    for (i, k) in membership.iter().enumerate() {
        let k = *k as usize;
        sums[2 * k] += points[2 * i];
        sums[2 * k + 1] += points[2 * i + 1];
        counts[k] += 1;
    }
    let case = kernel!("kmeans_update")
        .over(n, 64)
        .input(&points)
        .input(&membership);
    case.in_out(&[0.0f32; 8], sums)
        .in_out(&[0; 4], counts)
        .i32(n)
}

fn softmax_row() -> Case {
    let width = 150;
    let input = floats(209, 4 * width, -8.0..8.0);
    let row = |row: &[f32]| {
        let top = row.iter().fold(f32::MIN, |a, v| a.max(*v));
        let powers: Vec<f64> = row.iter().map(|v| f64::from(v - top).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers
            .iter()
            .map(|p| (p / sum) as f32)
            .collect::<Vec<f32>>()
    };
    let expected: Vec<f32> = input.chunks_exact(width).flat_map(row).collect();
    let tolerance = Tolerance::Near {
        absolute: 1e-9,
        relative: 2e-5,
    };
    let case = kernel!("softmax_row").launch([4, 1, 1], [64, 1, 1]);
    case.input(&input)
        .output_within(expected, tolerance)
        .i32(width)
}

fn layernorm_row() -> Case {
    let (rows, width) = (5, 80);
    let x = floats(210, rows * width, -3.0..3.0);
    let (gamma, beta) = (floats(211, width, 0.5..1.5), floats(212, width, -1.0..1.0));
    let row = |row: &[f32]| {
        let n = row.len() as f64;
        let mean = row.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
        let squares = row.iter().map(|v| (f64::from(*v) - mean).powi(2));
        let scale = 1.0 / (squares.sum::<f64>() / n + 1e-5).sqrt();
        let of = |(i, v): (usize, &f32)| {
            ((f64::from(*v) - mean) * scale * f64::from(gamma[i]) + f64::from(beta[i])) as f32
        };
        row.iter().enumerate().map(of).collect::<Vec<f32>>()
    };
    let expected: Vec<f32> = x.chunks_exact(width).flat_map(row).collect();
    let case = kernel!("layernorm_row").launch([3, 1, 1], [64, 1, 1]);
    let case = case.input(&x).input(&gamma).input(&beta);
    case.output_within(expected, near(1e-4))
        .i32(rows)
        .i32(width)
        .f32(1e-5)
}
