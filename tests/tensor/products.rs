//! Matrix products and convolutions.

use pagepress::tensor::Shape;

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::PRODUCTS;

fn assert_products(what: &str, found: &[f32], exact: &[(f64, f64)]) {
    assert_eq!(found.len(), exact.len(), "{what}: elements");
    for (i, (&found, &(exact, magnitude))) in found.iter().zip(exact).enumerate() {
        let off = (f64::from(found) - exact).abs();
        assert!(
            off <= PRODUCTS * magnitude,
            "{what}: element {i} is {found}, exactly {exact}"
        );
    }
}

fn matrix(rows: usize, cols: usize, seed: u64, transposed: bool) -> Tensor {
    let values = numbers(rows * cols, seed, 1.0);
    match transposed {
        false => Tensor::new(values, &[rows, cols]),
        true => {
            let tensor = Tensor::new(values, &[cols, rows]);
            tensor.with_view(tensor.view.transpose(0, 1).unwrap())
        }
    }
}

pub async fn matrices_of_any_size_work(subject: &Subject) {
    let sizes = [
        [1, 1, 1],
        [1, 5, 1],
        [4, 4, 4],
        [3, 17, 5],
        [32, 16, 32],
        [33, 31, 35],
        [64, 64, 64],
        [130, 36, 140],
        [1, 300, 100],
        [100, 300, 1],
        [20, 5000, 24],
        [7, 0, 3],
        [0, 4, 3],
        [300, 8, 2600],
        [2048, 20, 2048],
        [1000, 36, 1001],
    ];
    for size @ [m, k, n] in sizes {
        for (a_transposed, b_transposed) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            if m * n > 1 << 20 && (a_transposed || b_transposed) {
                continue;
            }
            let a = matrix(m, k, 14, a_transposed);
            let b = matrix(k, n, 15, b_transposed);
            let Some(found) = subject.matmul(&a, &b).await else {
                return;
            };
            let (found, dims) = found.unwrap();
            assert_eq!(dims, [m, n]);
            let exact = naive::matmul(&a.values(), &b.values(), size);
            let what = format!("{size:?} transposed: {a_transposed} {b_transposed}");
            assert_products(&what, &found, &exact);
        }
    }
}

/// Small matrices in a large buffer: rows and columns of a larger matrix, at offsets that are not aligned.
pub async fn matrices_of_large_buffers_work(subject: &Subject) {
    let whole = Tensor::new(numbers(400 * 301, 25, 1.0), &[400, 301]);
    let turned = whole.with_view(whole.view.transpose(0, 1).unwrap());
    let inner = |tensor: &Tensor, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| {
        let view = tensor.view.slice(0, rows).unwrap();
        tensor.with_view(view.slice(1, cols).unwrap())
    };
    for (a, b) in [
        (
            inner(&whole, 3..390, 7..200),
            inner(&turned, 100..293, 1..399),
        ),
        (
            inner(&turned, 0..300, 0..50),
            inner(&whole, 350..400, 3..300),
        ),
        (
            inner(&whole, 399..400, 0..301),
            inner(&turned, 0..301, 5..6),
        ),
    ] {
        let Some(found) = subject.matmul(&a, &b).await else {
            return;
        };
        let size = [a.dims()[0], a.dims()[1], b.dims()[1]];
        let exact = naive::matmul(&a.values(), &b.values(), size);
        assert_products(&format!("{size:?}"), &found.unwrap().0, &exact);
    }
}

pub async fn batches_extend_to_each_other(subject: &Subject) {
    let cases: [(&[usize], &[usize], &[usize]); 8] = [
        (&[3, 4, 5], &[3, 5, 6], &[3, 4, 6]),
        (&[3, 4, 5], &[5, 6], &[3, 4, 6]),
        (&[2, 1, 4, 5], &[3, 5, 6], &[2, 3, 4, 6]),
        (&[1, 4, 5], &[7, 5, 1], &[7, 4, 1]),
        (&[5], &[5, 6], &[6]),
        (&[4, 5], &[5], &[4]),
        (&[5], &[5], &[]),
        (&[2, 33, 70], &[2, 70, 65], &[2, 33, 65]),
    ];
    for (a_dims, b_dims, dims) in cases {
        let tensor =
            |dims: &[usize], seed| Tensor::new(numbers(dims.iter().product(), seed, 1.0), dims);
        let (a, b) = (tensor(a_dims, 16), tensor(b_dims, 17));
        let Some(found) = subject.matmul(&a, &b).await else {
            continue;
        };
        let (found, found_dims) = found.unwrap();
        assert_eq!(found_dims, dims);
        let as_matrix = |dims: &[usize], is_first: bool| match (dims.len(), is_first) {
            (1, true) => vec![1, dims[0]],
            (1, false) => vec![dims[0], 1],
            _ => dims.to_vec(),
        };
        let (a_dims, b_dims) = (as_matrix(a_dims, true), as_matrix(b_dims, false));
        let (a_batch, a_matrix) = a_dims.split_at(a_dims.len() - 2);
        let (b_batch, b_matrix) = b_dims.split_at(b_dims.len() - 2);
        let shape = |dims: &[usize]| Shape::new(dims).unwrap();
        let batch = shape(a_batch).broadcast(&shape(b_batch), "test").unwrap();
        let size = [a_matrix[0], a_matrix[1], b_matrix[1]];
        let extended = |tensor: &Tensor, dims: &[usize], matrix: &[usize]| {
            let tensor = Tensor::new(tensor.elements.clone(), dims);
            tensor.values_as(&shape(&[batch.dims(), matrix].concat()))
        };
        let (a, b) = (
            extended(&a, &a_dims, a_matrix),
            extended(&b, &b_dims, b_matrix),
        );
        let exact: Vec<(f64, f64)> = a
            .chunks(size[0] * size[1])
            .zip(b.chunks(size[1] * size[2]))
            .flat_map(|(a, b)| naive::matmul(a, b, size))
            .collect();
        assert_products(&format!("{a_dims:?} {b_dims:?}"), &found, &exact);
    }
}

pub async fn pictures_and_kernels_of_any_size_work(subject: &Subject) {
    let cases = [
        ([1, 1], [1, 1]),
        ([3, 3], [3, 3]),
        ([10, 9], [2, 5]),
        ([33, 65], [1, 1]),
        ([40, 70], [3, 3]),
        ([100, 150], [5, 5]),
        ([70, 140], [11, 11]),
        ([64, 100], [16, 17]),
        ([90, 80], [33, 20]),
        ([50, 300], [1, 290]),
        ([300, 20], [270, 13]),
    ];
    for (size, kernel_size) in cases {
        let input = matrix(size[0], size[1], 18, false);
        let kernel = matrix(kernel_size[0], kernel_size[1], 19, false);
        let (found, dims) = subject.convolve2d(&input, &kernel).await.unwrap();
        assert_eq!(
            dims,
            [size[0] - kernel_size[0] + 1, size[1] - kernel_size[1] + 1]
        );
        let exact = naive::convolve2d(&input.values(), &kernel.values(), size, kernel_size);
        assert_products(&format!("{size:?} {kernel_size:?}"), &found, &exact);
    }
}

pub async fn nan_beside_a_kernel_stays_outside(subject: &Subject) {
    let mut values = numbers(20 * 30, 20, 1.0);
    values[10 * 30 + 15] = f32::NAN;
    let input = Tensor::new(values, &[20, 30]);
    for kernel_size in [[1, 1], [3, 3], [2, 5], [1, 7]] {
        let kernel = matrix(kernel_size[0], kernel_size[1], 21, false);
        let (found, dims) = subject.convolve2d(&input, &kernel).await.unwrap();
        for (i, found) in found.iter().enumerate() {
            let (row, col) = (i / dims[1], i % dims[1]);
            let touches = (row..row + kernel_size[0]).contains(&10)
                && (col..col + kernel_size[1]).contains(&15);
            assert_eq!(found.is_nan(), touches, "{kernel_size:?} at {row}, {col}");
        }
    }
}
