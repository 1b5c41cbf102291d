//! Results of NumPy in float64, which `numpy/reference.py` wrote, over odd shapes, strides, NaN and infinities. Inputs follow the same formula.

use pagepress::tensor::layer::{Attention, Norm};
use pagepress::tensor::{DType, GpuTensor, Reduction, Shape, Step, cpu};

use crate::elementwise::STEPS;
use crate::naive::numbers;
use crate::subject::{Made, Subject, Tensor};
use crate::tolerance::{
    ATTENTION, LOG_SOFTMAX, NORM, PRODUCTS, ROTARY, SOFTMAX, Tolerance, assert_near, is_near,
    of_reduction, of_step,
};

const RESULTS: &str = include_str!("numpy/results.txt");
const INF: f32 = f32::INFINITY;

/// Returns the numbers of a line.
fn line(name: &str) -> Vec<f64> {
    let mut lines = RESULTS.lines().filter_map(|line| line.split_once(": "));
    let found = lines.find(|(of, _)| *of == name);
    let (_, values) = found.unwrap_or_else(|| panic!("results.txt has no {name}"));
    values.split(' ').map(|x| x.parse().unwrap()).collect()
}

fn assert_result(name: &str, (found, _): &Made, tolerance: Tolerance) {
    assert_near(name, found, &line(name), tolerance);
}

/// Checks a result whose tolerance is relative to magnitudes.
fn assert_sums(name: &str, (found, _): &Made, relative: f64) {
    let (exact, magnitudes) = (line(name), line(&format!("magnitudes of {name}")));
    assert_eq!(found.len(), exact.len(), "{name}: elements");
    for (i, (&found, (&exact, magnitude))) in
        found.iter().zip(exact.iter().zip(magnitudes)).enumerate()
    {
        let tolerance = Tolerance {
            relative: 0.0,
            absolute: relative * magnitude,
        };
        assert!(
            is_near(found, exact, tolerance),
            "{name}: element {i} is {found}, exactly {exact}"
        );
    }
}

fn vector(values: &[f32]) -> Tensor {
    Tensor::new(values.to_vec(), &[values.len()])
}

pub async fn steps_are_those_of_numpy(subject: &Subject) {
    let special = [f32::NAN, INF, -INF, 0.0, -0.0, 1e30, -1e30];
    for (i, step) in STEPS.into_iter().enumerate() {
        let (mut x, mut y) = (
            numbers(24, i as u64 + 1, 4.0),
            numbers(31, i as u64 + 50, 3.0),
        );
        match step {
            Step::Sqrt | Step::Log => x.iter_mut().for_each(|x| *x = x.abs() + 1e-6),
            Step::Log1p => x.iter_mut().for_each(|x| *x = x.max(-0.9)),
            _ => x.extend(special),
        }
        if matches!(step, Step::Add | Step::Sub | Step::Offset(_)) {
            let all = x.iter_mut().chain(&mut y);
            all.for_each(|x| *x = (*x * 64.0).floor());
        }
        let (x, y) = (vector(&x), vector(&y[..x.len()]));
        let y = step.takes_two().then_some(&y);
        let found = subject.elementwise(&[step], &x, y).await.unwrap();
        assert_result(&format!("{step:?}"), &found, of_step(step));
    }
}

pub async fn reductions_are_those_of_numpy(subject: &Subject) {
    for (nan, what) in [(None, ""), (Some(17), " with NaN")] {
        let mut x = numbers(315, 7, 3.0);
        if let Some(at) = nan {
            x[at] = f32::NAN;
        }
        let x = Tensor::new(x, &[5, 7, 9]);
        let x = x.with_view(x.view.permute(&[2, 0, 1]).unwrap());
        for axes in [&[1][..], &[0, 2], &[0, 1, 2]] {
            for reduction in [
                Reduction::Sum,
                Reduction::Max,
                Reduction::Min,
                Reduction::SumOfSquares,
            ] {
                let found = subject.reduce(reduction, &x, axes).await.unwrap();
                let name = format!("{reduction:?} of axes {axes:?}{what}");
                match reduction {
                    Reduction::Max | Reduction::Min => {
                        assert_result(&name, &found, of_step(Step::Max))
                    }
                    _ => assert_sums(&name, &found, of_reduction(reduction)),
                }
            }
        }
    }
}

pub async fn rows_are_those_of_numpy(subject: &Subject) {
    let mut x = numbers(120, 12, 5.0);
    (x[25], x[46], x[90]) = (-INF, f32::NAN, INF);
    let x = Tensor::new(x, &[6, 20]);
    let x = x.with_view(x.view.slice(1, 2..15).unwrap());
    assert_result(
        "softmax",
        &subject.softmax(false, &x).await.unwrap(),
        SOFTMAX,
    );
    let logarithm = subject.softmax(true, &x).await.unwrap();
    assert_result("logarithm of softmax", &logarithm, LOG_SOFTMAX);

    let x = Tensor::new(numbers(5 * 37, 70, 3.0), &[5, 37]);
    let [weight, bias] = [71, 72].map(|seed| vector(&numbers(37, seed, 1.0)));
    let norms = [
        ("RMS norm", Norm::Rms { epsilon: 1e-5 }),
        ("layer norm", Norm::Layer { epsilon: 1e-3 }),
    ];
    for (name, norm) in norms {
        let found = subject.norm(norm, &x, [Some(&weight), Some(&bias)]).await;
        assert_result(name, &found.unwrap(), NORM);
    }

    let x = Tensor::new(numbers(5 * 3 * 8, 75, 3.0), &[5, 3, 8]);
    let turns = Tensor::new(numbers(9 * 8, 76, 1.0), &[9, 8]);
    assert_sums(
        "rotary",
        &subject.rotary(&x, &turns, 2).await.unwrap(),
        ROTARY,
    );
}

pub async fn products_are_those_of_numpy(subject: &Subject) {
    let a = Tensor::new(numbers(17 * 33, 21, 2.0), &[17, 33]);
    let a = a.with_view(a.view.transpose(0, 1).unwrap());
    let mut b = numbers(17 * 40, 22, 2.0);
    (b[3 * 40 + 7], b[5 * 40 + 9]) = (INF, f32::NAN);
    let b = Tensor::new(b, &[17, 40]);
    let b = b.with_view(b.view.slice(1, 3..32).unwrap());
    let found = subject.matmul(&a, &b).await.unwrap().unwrap();
    assert_sums("matmul", &found, PRODUCTS);

    let x = Tensor::new(numbers(14 * 19, 23, 2.0), &[14, 19]);
    let kernel = Tensor::new(numbers(15, 24, 2.0), &[3, 5]);
    let found = subject.convolve2d(&x, &kernel).await.unwrap();
    assert_sums("convolution", &found, PRODUCTS);
}

pub async fn attention_is_that_of_numpy(subject: &Subject) {
    let q = Tensor::new(numbers(4 * 9 * 16, 80, 2.0), &[4, 9, 16]);
    let [k, v] = [81, 82].map(|seed| Tensor::new(numbers(2 * 12 * 16, seed, 2.0), &[2, 12, 16]));
    let of = |causal, window| Attention {
        causal,
        window,
        ..Attention::default()
    };
    for (name, what) in [
        ("attention", of(false, None)),
        ("causal attention", of(true, None)),
        ("attention in a window", of(true, Some(5))),
    ] {
        let found = subject.attention(what, [&q, &k, &v]).await.unwrap();
        assert_sums(name, &found, ATTENTION);
    }
}

pub async fn halves_are_rounded_as_by_numpy(subject: &Subject) {
    let mut x = [
        numbers(40, 90, 8.0),
        numbers(40, 91, 1e-6),
        numbers(20, 92, 1e5),
    ]
    .concat();
    let limits = [
        0.0,
        65_519.0,
        65_520.0,
        -65_536.0,
        5.960_464_5e-8,
        2.980_232_2e-8,
    ];
    x.extend([f32::NAN, INF, -INF].iter().chain(&limits));
    for (name, dtype) in [("F16", DType::F16), ("BF16", DType::BF16)] {
        let mut bits = vec![0; x.len()];
        match subject {
            Subject::Cpu => cpu::to_bits(dtype, &x, &mut bits).unwrap(),
            Subject::Gpu(device) => {
                let wide = GpuTensor::from_slice_async(device, &x, Shape::vector(x.len()))
                    .await
                    .unwrap();
                let narrow = wide.cast_async(dtype).await.unwrap();
                bits = narrow.to_bits_async().await.unwrap();
            }
        }
        let mut found = vec![0.0; x.len()];
        cpu::from_bits(dtype, &bits, &mut found).unwrap();
        assert_result(name, &(found, vec![x.len()]), of_step(Step::Max));
    }
}
