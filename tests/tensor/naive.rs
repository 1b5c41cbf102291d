//! The operations as plain loops in double precision, and pseudorandom inputs.

use pagepress::tensor::layer::Norm;
use pagepress::tensor::{Reduction, Step};

/// Returns pseudorandom numbers from -`size` to `size`; equal seeds return equal numbers.
pub fn numbers(n: usize, seed: u64, size: f32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 40) as f32 / (1 << 23) as f32 - 1.0) * size
        })
        .collect()
}

fn erfc(x: f64) -> f64 {
    // A continued fraction for large x, a series for small x.
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.5 {
        let (mut sum, mut term) = (x, x);
        for n in 1..80 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let mut fraction = x;
    for n in (1..=80).rev() {
        fraction = x + f64::from(n) / 2.0 / fraction;
    }
    (-x * x).exp() / fraction / std::f64::consts::PI.sqrt()
}

pub fn step(step: Step, x: f32, y: f32) -> f64 {
    let (x, y) = (f64::from(x), f64::from(y));
    if x.is_nan() {
        return x;
    }
    let below = |value: f64| if x == f64::NEG_INFINITY { 0.0 } else { value };
    match step {
        Step::Relu => x.max(0.0),
        Step::LeakyRelu(a) => {
            if x < 0.0 {
                f64::from(a) * x
            } else {
                x
            }
        }
        Step::Elu(a) => {
            if x < 0.0 {
                f64::from(a) * x.exp_m1()
            } else {
                x
            }
        }
        Step::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Step::Tanh => x.tanh(),
        Step::Swish => below(x / (1.0 + (-x).exp())),
        Step::Gelu => below(x * 0.5 * erfc(-x / std::f64::consts::SQRT_2)),
        Step::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            // 1 + tanh u, without cancellation.
            below(x / (1.0 + (-2.0 * inner).exp()))
        }
        Step::Clip(low, high) => x.max(f64::from(low)).min(f64::from(high)),
        Step::Scale(a) => x * f64::from(a),
        Step::Offset(a) => x + f64::from(a),
        Step::Exp => x.exp(),
        Step::Log => x.ln(),
        Step::Log1p => x.ln_1p(),
        Step::Sqrt => x.sqrt(),
        Step::Abs => x.abs(),
        Step::Reciprocal => 1.0 / x,
        Step::Add => x + y,
        Step::Sub => x - y,
        Step::Mul => x * y,
        Step::Div => x / y,
        Step::Max => {
            if y.is_nan() {
                y
            } else {
                x.max(y)
            }
        }
        Step::Min => {
            if y.is_nan() {
                y
            } else {
                x.min(y)
            }
        }
        _ => panic!("no plain form of {step:?}"),
    }
}

/// Returns the result, and for sums the sum of the magnitudes of the terms.
pub fn reduce(reduction: Reduction, a: &[f32]) -> (f64, f64) {
    let wide = a.iter().map(|&x| f64::from(x));
    if a.iter().any(|x| x.is_nan()) {
        return (f64::NAN, 0.0);
    }
    match reduction {
        Reduction::Sum => (wide.clone().sum(), wide.map(f64::abs).sum()),
        Reduction::Max => (wide.fold(f64::NEG_INFINITY, f64::max), 0.0),
        Reduction::Min => (wide.fold(f64::INFINITY, f64::min), 0.0),
        _ => {
            let squares: f64 = wide.map(|x| x * x).sum();
            (squares, squares)
        }
    }
}

pub fn softmax(row: &[f32], log: bool) -> Vec<f64> {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let below = row.iter().map(|&x| f64::from(x) - f64::from(largest));
    let sum: f64 = below.clone().map(f64::exp).sum();
    below
        .map(|x| if log { x - sum.ln() } else { x.exp() / sum })
        .collect()
}

/// Returns the elements of the product of `[m, k]` and `[k, n]`, each with the sum of the magnitudes of its terms.
pub fn matmul(a: &[f32], b: &[f32], [m, k, n]: [usize; 3]) -> Vec<(f64, f64)> {
    let mut out = vec![(0.0, 0.0); m * n];
    for i in 0..m {
        for l in 0..k {
            let x = f64::from(a[i * k + l]);
            for j in 0..n {
                let product = x * f64::from(b[l * n + j]);
                let (sum, magnitude) = &mut out[i * n + j];
                *sum += product;
                *magnitude += product.abs();
            }
        }
    }
    out
}

pub fn convolve2d(
    input: &[f32],
    kernel: &[f32],
    size: [usize; 2],
    kernel_size: [usize; 2],
) -> Vec<(f64, f64)> {
    let [out_rows, out_cols] = [size[0] - kernel_size[0] + 1, size[1] - kernel_size[1] + 1];
    let mut out = Vec::with_capacity(out_rows * out_cols);
    for y in 0..out_rows {
        for x in 0..out_cols {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for r in 0..kernel_size[0] {
                for s in 0..kernel_size[1] {
                    let product = f64::from(input[(y + r) * size[1] + x + s])
                        * f64::from(kernel[r * kernel_size[1] + s]);
                    sum += product;
                    magnitude += product.abs();
                }
            }
            out.push((sum, magnitude));
        }
    }
    out
}

/// Returns the normalised row.
pub fn norm(norm: Norm, row: &[f64]) -> Vec<f64> {
    let n = row.len() as f64;
    let mean = match norm {
        Norm::Rms { .. } => 0.0,
        Norm::Layer { .. } => row.iter().sum::<f64>() / n,
    };
    let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let root = (variance + f64::from(norm.epsilon())).sqrt();
    row.iter().map(|x| (x - mean) / root).collect()
}

/// Returns rows of heads, rotated by the angles of their positions, each element with the sum of the magnitudes of its
/// terms.
pub fn rotary(
    rows: &[f32],
    [heads, elements]: [usize; 2],
    turns: &[f32],
    first: usize,
) -> Vec<(f64, f64)> {
    let half = elements / 2;
    let rotated = |at: usize| {
        let (head, i) = (at / elements, at % elements);
        let turn = (first + head / heads) * elements + 2 * (i % half);
        let (cos, sin) = (f64::from(turns[turn]), f64::from(turns[turn + 1]));
        let [own, other] = [i, (i + half) % elements].map(|i| f64::from(rows[head * elements + i]));
        let sin = if i < half { -sin } else { sin };
        (
            own * cos + other * sin,
            (own * cos).abs() + (other * sin).abs(),
        )
    };
    (0..rows.len()).map(rotated).collect()
}

/// Returns the attention of one query over rows of keys and values, each element with the weighted mean of magnitudes.
pub fn attention(query: &[f64], keys: &[&[f64]], values: &[&[f64]], scale: f64) -> Vec<(f64, f64)> {
    let product = |key: &&[f64]| query.iter().zip(*key).map(|(x, y)| x * y).sum::<f64>();
    let scores: Vec<f64> = keys.iter().map(|key| scale * product(key)).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let total: f64 = powers.iter().sum();
    let mean = |term: &dyn Fn(f64) -> f64, column: usize| {
        let terms = powers.iter().zip(values);
        terms
            .map(|(power, value)| power * term(value[column]))
            .sum::<f64>()
            / total
    };
    (0..query.len())
        .map(|column| (mean(&|x| x, column), mean(&f64::abs, column)))
        .collect()
}
