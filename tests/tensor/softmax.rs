//! Softmax.

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::{LOG_SOFTMAX, SOFTMAX, assert_near};

pub async fn rows_of_any_length_work(subject: &Subject) {
    for (rows, cols) in [
        (1, 1),
        (3, 2),
        (5, 7),
        (1000, 10),
        (17, 64),
        (9, 100),
        (4, 1000),
        (3, 8192),
        (2, 8193),
        (3, 40_000),
        (0, 5),
    ] {
        for size in [1.0, 50.0, 1e4] {
            let values = numbers(rows * cols, 12, size);
            let tensor = Tensor::new(values.clone(), &[rows, cols]);
            for (log, tolerance) in [(false, SOFTMAX), (true, LOG_SOFTMAX)] {
                let (found, dims) = subject.softmax(log, &tensor).await.unwrap();
                assert_eq!(dims, [rows, cols]);
                let exact: Vec<f64> = values
                    .chunks(cols)
                    .flat_map(|row| naive::softmax(row, log))
                    .collect();
                assert_near(
                    &format!("{rows} x {cols}, up to {size}"),
                    &found,
                    &exact,
                    tolerance,
                );
            }
        }
    }
}

pub async fn special_rows_are_as_documented(subject: &Subject) {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    for cols in [5, 300, 9000] {
        let row = |value: f32| {
            let mut row = numbers(cols, 13, 1.0);
            row[cols / 2] = value;
            row
        };
        let lowest = vec![-3.4e38; cols];
        let rows = [row(nan), row(inf), vec![-inf; cols], row(-inf), lowest].concat();
        let special = Tensor::new(rows, &[5, cols]);
        let (found, _) = subject.softmax(false, &special).await.unwrap();
        let rows: Vec<&[f32]> = found.chunks(cols).collect();
        for row in &rows[..3] {
            assert!(row.iter().all(|x| x.is_nan()), "{row:?}");
        }
        let (logarithms, _) = subject.softmax(true, &special).await.unwrap();
        assert!(logarithms[..3 * cols].iter().all(|x| x.is_nan()));
        assert_eq!(rows[3][cols / 2], 0.0);
        let sum: f32 = rows[3].iter().sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        assert!(rows[4].iter().all(|x| (x * cols as f32 - 1.0).abs() < 1e-4));
    }
}
