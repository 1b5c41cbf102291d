//! Reductions.

use pagepress::tensor::Reduction;

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::{Tolerance, is_near, of_reduction};

const REDUCTIONS: [Reduction; 4] = [
    Reduction::Sum,
    Reduction::Max,
    Reduction::Min,
    Reduction::SumOfSquares,
];

fn assert_reduced(what: &str, reduction: Reduction, found: f32, row: &[f32]) {
    let (exact, magnitude) = naive::reduce(reduction, row);
    let tolerance = Tolerance {
        relative: 0.0,
        absolute: of_reduction(reduction) * magnitude,
    };
    assert!(
        is_near(found, exact, tolerance) || f64::from(found) == exact,
        "{what} {reduction:?} of {}: {found}, exactly {exact}",
        row.len()
    );
}

pub async fn lengths_of_any_kind_reduce(subject: &Subject) {
    for n in [
        0,
        1,
        2,
        3,
        5,
        64,
        100,
        1023,
        16_384,
        16_385,
        70_001,
        1 << 20,
        (1 << 22) + 3,
    ] {
        let x = numbers(n, 7, 3.0);
        let tensor = Tensor::new(x.clone(), &[n]);
        for reduction in REDUCTIONS {
            let (found, dims) = subject.reduce(reduction, &tensor, &[0]).await.unwrap();
            assert_eq!(dims, [1]);
            assert_reduced("all", reduction, found[0], &x);
        }
        let y = numbers(n, 8, 3.0);
        let found = subject
            .dot(&tensor, &Tensor::new(y.clone(), &[n]))
            .await
            .unwrap();
        let products = x.iter().zip(&y).map(|(x, y)| f64::from(*x) * f64::from(*y));
        let exact: f64 = products.clone().sum();
        let magnitude: f64 = products.map(f64::abs).sum();
        assert!(
            (f64::from(found) - exact).abs() <= 1e-6 * magnitude,
            "dot of {n}"
        );
    }
}

pub async fn any_axes_work(subject: &Subject) {
    let shapes: [&[usize]; 9] = [
        &[1, 1],
        &[3, 5],
        &[7, 64],
        &[1000, 10],
        &[10, 1001],
        &[5, 600, 33],
        &[2, 3, 4, 5],
        &[70, 1, 9],
        &[4, 0, 3],
    ];
    for dims in shapes {
        let n: usize = dims.iter().product();
        let tensor = Tensor::new(numbers(n, 9, 5.0), dims);
        for mask in 1u32..1 << dims.len() {
            let axes: Vec<usize> = (0..dims.len())
                .filter(|axis| mask >> axis & 1 == 1)
                .collect();
            for reduction in REDUCTIONS {
                let (found, found_dims) = subject.reduce(reduction, &tensor, &axes).await.unwrap();
                let kept: Vec<usize> = (0..dims.len()).filter(|d| !axes.contains(d)).collect();
                let order = [&kept[..], &axes].concat();
                let values = tensor
                    .with_view(tensor.view.permute(&order).unwrap())
                    .values();
                let rows: usize = axes.iter().map(|&axis| dims[axis]).product();
                let n_out: usize = kept.iter().map(|&axis| dims[axis]).product();
                assert_eq!(found.len(), n_out);
                for (axis, dim) in found_dims.iter().enumerate() {
                    assert_eq!(*dim, if axes.contains(&axis) { 1 } else { dims[axis] });
                }
                for (i, &found) in found.iter().enumerate() {
                    let row = &values[i * rows..(i + 1) * rows];
                    assert_reduced(&format!("{dims:?} {axes:?} {i}"), reduction, found, row);
                }
            }
        }
    }
}

pub async fn nan_wins_wherever_it_is(subject: &Subject) {
    let n = 40_000;
    for nan in [
        f32::NAN,
        f32::from_bits(0xffc0_0000),
        f32::from_bits(0x7f80_0001),
    ] {
        for at in [0, 1, 63, 1024, 16_383, 16_384, n - 1] {
            let mut x = numbers(n, 10, 3.0);
            x[at] = nan;
            let row = Tensor::new(x.clone(), &[n]);
            let columns = Tensor::new(x, &[n / 10, 10]);
            for reduction in REDUCTIONS {
                let (found, _) = subject.reduce(reduction, &row, &[0]).await.unwrap();
                assert!(
                    found[0].is_nan(),
                    "{reduction:?} with NaN at {at}: {}",
                    found[0]
                );
                let (found, _) = subject.reduce(reduction, &columns, &[0]).await.unwrap();
                for (column, found) in found.iter().enumerate() {
                    assert_eq!(
                        found.is_nan(),
                        column == at % 10,
                        "{reduction:?} {at} {column}"
                    );
                }
            }
        }
    }
    let infinite = Tensor::new(vec![f32::NEG_INFINITY; 100], &[100]);
    assert_eq!(
        subject
            .reduce(Reduction::Max, &infinite, &[0])
            .await
            .unwrap()
            .0,
        [f32::NEG_INFINITY]
    );
    let zeros = Tensor::new(vec![-0.0, 0.0, -0.0], &[3]);
    assert_eq!(
        subject
            .reduce(Reduction::Max, &zeros, &[0])
            .await
            .unwrap()
            .0,
        [0.0]
    );
}

pub async fn sums_are_the_same_each_time(subject: &Subject) {
    let n = (1 << 20) + 5;
    let tensor = Tensor::new(numbers(n, 11, 100.0), &[n]);
    let sum = async || {
        let (found, _) = subject.reduce(Reduction::Sum, &tensor, &[0]).await.unwrap();
        found[0].to_bits()
    };
    let first = sum().await;
    for _ in 0..5 {
        assert_eq!(sum().await, first);
    }
}
