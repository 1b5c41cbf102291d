//! Element-wise operations.

use pagepress::tensor::Step;

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::{assert_near, of_step};

pub const STEPS: [Step; 23] = [
    Step::Relu,
    Step::LeakyRelu(0.1),
    Step::Elu(1.5),
    Step::Sigmoid,
    Step::Tanh,
    Step::Swish,
    Step::Gelu,
    Step::GeluTanh,
    Step::Clip(-1.0, 1.5),
    Step::Scale(-2.5),
    Step::Offset(0.75),
    Step::Exp,
    Step::Log,
    Step::Log1p,
    Step::Sqrt,
    Step::Abs,
    Step::Reciprocal,
    Step::Add,
    Step::Sub,
    Step::Mul,
    Step::Div,
    Step::Max,
    Step::Min,
];

fn vector(values: Vec<f32>) -> Tensor {
    let n = values.len();
    Tensor::new(values, &[n])
}

async fn check(subject: &Subject, step: Step, x: &[f32], y: &[f32]) {
    let (a, b) = (vector(x.to_vec()), vector(y.to_vec()));
    let b = step.takes_two().then_some(&b);
    let (found, _) = subject.elementwise(&[step], &a, b).await.unwrap();
    let exact: Vec<f64> = x
        .iter()
        .zip(y)
        .map(|(x, y)| naive::step(step, *x, *y))
        .collect();
    assert_near(&format!("{step:?}"), &found, &exact, of_step(step));
}

pub async fn steps_are_what_they_say(subject: &Subject) {
    for (i, step) in STEPS.into_iter().enumerate() {
        for size in [1e-3, 0.5, 4.0, 30.0, 80.0] {
            let x = numbers(2003, i as u64 + 1, size);
            let y = numbers(2003, i as u64 + 99, size);
            // Outside the domain of a function, its results depend on the driver.
            let inside = |x: f32| match step {
                Step::Sqrt | Step::Log => x.abs() + 1e-6,
                Step::Log1p => x.max(-0.9),
                _ => x,
            };
            let x: Vec<f32> = x.into_iter().map(inside).collect();
            // The error of a sum is not relative to the sum, so the operands are whole numbers, whose sums are exact.
            let is_sum = matches!(step, Step::Add | Step::Sub | Step::Offset(_));
            if is_sum {
                let whole = |x: Vec<f32>| {
                    x.into_iter()
                        .map(|x| (x * 64.0).round())
                        .collect::<Vec<_>>()
                };
                check(subject, step, &whole(x), &whole(y)).await;
            } else {
                check(subject, step, &x, &y).await;
            }
        }
    }
}

pub async fn special_values_are_as_documented(subject: &Subject) {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let negative_nan = f32::from_bits(0xffc0_0001);
    let signalling = f32::from_bits(0x7f80_0001);
    let x = [
        nan,
        negative_nan,
        signalling,
        inf,
        -inf,
        0.0,
        -0.0,
        1e30,
        -1e30,
        nan,
        1.0,
        2.0,
        3.0,
    ];
    let y = [
        1.0,
        2.0,
        3.0,
        1.0,
        1.0,
        1.0,
        2.0,
        1.0,
        1.0,
        nan,
        nan,
        negative_nan,
        signalling,
    ];
    for step in STEPS {
        if matches!(step, Step::Sqrt | Step::Log | Step::Log1p) {
            continue;
        }
        let finite = matches!(step, Step::Elu(_) | Step::Mul | Step::Scale(_));
        let n = if finite { 7 } else { x.len() };
        check(subject, step, &x[..n], &y[..n]).await;
    }
}

pub async fn logarithms_near_one_keep_their_digits(subject: &Subject) {
    let powers = (0..=23).map(|k| f32::powi(0.5, k));
    let mut x: Vec<f32> = powers
        .flat_map(|little| {
            [
                1.0 + little,
                1.0 - little,
                1.0 + 0.7 * little,
                1.0 - 0.7 * little,
            ]
        })
        .filter(|&x| x > 0.0)
        .collect();
    x.push(1.0);
    let y = vec![1.0; x.len()];
    check(subject, Step::Log, &x, &y).await;
    let beyond: Vec<f32> = x.iter().map(|x| (x - 1.0) * 0.7).collect();
    check(subject, Step::Log1p, &beyond, &y).await;
}

pub async fn any_length_works(subject: &Subject) {
    for n in [
        0, 1, 2, 3, 4, 5, 63, 64, 65, 4095, 4096, 4097, 16_383, 70_001, 300_000,
    ] {
        let (x, y) = (numbers(n, 3, 10.0), numbers(n, 4, 10.0));
        check(subject, Step::Relu, &x, &y).await;
        check(subject, Step::Mul, &x, &y).await;
    }
}

pub async fn chains_are_their_steps_in_turn(subject: &Subject) {
    let chain = [
        Step::Scale(0.5),
        Step::Add,
        Step::Relu,
        Step::Offset(-0.25),
        Step::Abs,
        Step::Mul,
        Step::Clip(0.1, 3.0),
    ];
    let (x, y) = (numbers(5001, 5, 4.0), numbers(5001, 6, 4.0));
    let (a, b) = (vector(x.clone()), vector(y.clone()));
    for n in 0..=chain.len() {
        let steps = &chain[..n];
        let b = steps.iter().any(|step| step.takes_two()).then_some(&b);
        let (found, _) = subject.elementwise(steps, &a, b).await.unwrap();
        let exact = x.iter().zip(&y).map(|(x, y)| {
            let rounded = |x: f64| x as f32;
            f64::from(
                steps
                    .iter()
                    .fold(*x, |x, step| rounded(naive::step(*step, x, *y))),
            )
        });
        let tolerance = crate::tolerance::Tolerance {
            relative: 1e-6,
            absolute: 2e-6,
        };
        assert_near(
            &format!("{steps:?}"),
            &found,
            &exact.collect::<Vec<_>>(),
            tolerance,
        );
    }
}
