//! Normalisation of rows.

use pagepress::Error;
use pagepress::tensor::layer::Norm;

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::{NORM, assert_near};

const NORMS: [Norm; 2] = [Norm::Rms { epsilon: 1e-5 }, Norm::Layer { epsilon: 1e-3 }];

pub async fn rows_of_any_length_are_normalised(subject: &Subject) {
    let sizes = [
        (1, 1),
        (3, 2),
        (5, 7),
        (300, 10),
        (17, 64),
        (9, 1000),
        (4, 1025),
        (3, 5000),
        (2, 40_000),
        (0, 5),
    ];
    for (rows, cols) in sizes {
        let values = numbers(rows * cols, 70, 3.0);
        let (weight, bias) = (numbers(cols, 71, 1.0), numbers(cols, 72, 1.0));
        let tensor = Tensor::new(values.clone(), &[rows, cols]);
        let columns = [&weight, &bias].map(|columns| Tensor::new(columns.clone(), &[cols]));
        for norm in NORMS {
            for (has_weight, has_bias) in
                [(false, false), (true, false), (false, true), (true, true)]
            {
                let given = [
                    has_weight.then_some(&columns[0]),
                    has_bias.then_some(&columns[1]),
                ];
                let (found, dims) = subject.norm(norm, &tensor, given).await.unwrap();
                assert_eq!(dims, [rows, cols]);
                let exact = values.chunks(cols).flat_map(|row| {
                    let row: Vec<f64> = row.iter().map(|&x| x.into()).collect();
                    let scaled = naive::norm(norm, &row)
                        .into_iter()
                        .zip(weight.iter().zip(&bias));
                    scaled
                        .map(|(x, (&weight, &bias))| {
                            let weight = if has_weight { weight.into() } else { 1.0 };
                            x * weight + if has_bias { bias.into() } else { 0.0 }
                        })
                        .collect::<Vec<f64>>()
                });
                let what = format!("{rows} x {cols} {norm:?} {has_weight} {has_bias}");
                assert_near(&what, &found, &exact.collect::<Vec<_>>(), NORM);
            }
        }
    }
    let row = Tensor::new(vec![1.0; 6], &[2, 3]);
    let error = subject
        .norm(
            NORMS[0],
            &row,
            [Some(&Tensor::new(vec![1.0; 2], &[2])), None],
        )
        .await;
    let error = error.unwrap_err();
    match subject {
        Subject::Cpu => assert_eq!(error.code(), "LENGTH_MISMATCH"),
        Subject::Gpu(_) => assert!(
            matches!(&error, Error::ShapeMismatch { left, right, .. } if left.dims() == [2, 3] && right.dims() == [2])
        ),
    }
}

pub async fn special_rows_are_normalised(subject: &Subject) {
    for cols in [5, 300, 5000] {
        let mut rows = numbers(3 * cols, 73, 1.0);
        rows[cols / 2] = f32::NAN;
        // A mean far from 0 must not cost the variance its precision.
        rows[cols..2 * cols].iter_mut().for_each(|x| *x = 3.0);
        rows[2 * cols..]
            .iter_mut()
            .for_each(|x| *x = (*x * 64.0).round() / 64.0 + 1000.0);
        for norm in NORMS {
            let tensor = Tensor::new(rows.clone(), &[3, cols]);
            let (found, _) = subject.norm(norm, &tensor, [None, None]).await.unwrap();
            assert!(found[..cols].iter().all(|x| x.is_nan()));
            let constant = if matches!(norm, Norm::Rms { .. }) {
                1.0
            } else {
                0.0
            };
            assert!(
                found[cols..2 * cols]
                    .iter()
                    .all(|x| (x - constant).abs() < 1e-4)
            );
            let row: Vec<f64> = rows[2 * cols..].iter().map(|&x| x.into()).collect();
            let exact = naive::norm(norm, &row);
            for (found, exact) in found[2 * cols..].iter().zip(exact) {
                assert!((f64::from(*found) - exact).abs() < 2e-3, "{found} {exact}");
            }
        }
    }
}
