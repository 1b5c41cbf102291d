//! Linear algebra: vectors, dense and sparse matrices, a Fourier transform.

use crate::case::{Case, kernel, near};
use crate::inputs::{Random, floats, ints, whole_floats};

pub fn cases() -> Vec<Case> {
    vec![
        saxpy(),
        dot_product(),
        matmul_naive(),
        matmul_tiled(),
        matmul_registers(),
        transpose_tiled(),
        gauss_step(),
        lu_block(),
        spmv_scalar(),
        spmv_vector(),
        sparse_axpy(),
        jacobi(),
        fft_stage(),
    ]
}

fn saxpy() -> Case {
    let (x, y) = (floats(130, 1000, -9.0..9.0), floats(131, 1000, -9.0..9.0));
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
    let case = kernel!("saxpy").over(1000, 256).i32(1000).f32(2.5);
    case.input(&x).in_out_within(&y, expected, near(1e-5))
}

fn dot_product() -> Case {
    let (a, b) = (
        whole_floats(132, 700, -20..20),
        whole_floats(133, 700, -20..20),
    );
    let dot = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>();
    let case = kernel!("dot_product").launch([3, 1, 1], [128, 1, 1]);
    case.input(&a)
        .input(&b)
        .in_out(&[0.0f32], vec![dot])
        .i32(700)
}

/// The product of an m by k and a k by n matrix. Whole numbers: every order of the sums has the same result.
fn product(a: &[f32], b: &[f32], [m, n, k]: [usize; 3]) -> Vec<f32> {
    let dot = |row: usize, col: usize| (0..k).map(|l| a[row * k + l] * b[l * n + col]).sum();
    (0..m * n).map(|i| dot(i / n, i % n)).collect()
}

fn matmul(case: Case, size: [usize; 3]) -> Case {
    let [m, n, k] = size;
    let (a, b) = (
        whole_floats(134, m * k, -9..9),
        whole_floats(135, k * n, -9..9),
    );
    let expected = product(&a, &b, size);
    case.input(&a)
        .input(&b)
        .output(expected)
        .i32(m)
        .i32(n)
        .i32(k)
}

fn matmul_naive() -> Case {
    let case = kernel!("matmul_naive").launch([5, 3, 1], [8, 8, 1]);
    matmul(case, [19, 37, 23])
}

fn matmul_tiled() -> Case {
    let case = kernel!("matmul_tiled")
        .entry("matmul_tiled<16>")
        .launch([3, 2, 1], [16, 16, 1]);
    matmul(case, [19, 37, 45])
}

fn matmul_registers() -> Case {
    let (a, b) = (
        whole_floats(136, 4096, -9..9),
        whole_floats(137, 4096, -9..9),
    );
    let expected = product(&a, &b, [64, 64, 64]);
    let case = kernel!("matmul_registers").launch([2, 8, 1], [8, 8, 1]);
    case.input(&a).input(&b).output(expected).i32(64)
}

fn transpose_tiled() -> Case {
    let (width, height) = (37, 21);
    let input = floats(138, width * height, -1.0..1.0);
    let of = |i: usize| input[i % height * width + i / height];
    let expected: Vec<f32> = (0..width * height).map(of).collect();
    let case = kernel!("transpose_tiled").launch([3, 2, 1], [16, 4, 1]);
    case.output(expected).input(&input).i32(width).i32(height)
}

fn gauss_step() -> Case {
    let (size, pivot) = (24, 3);
    let mut matrix = floats(139, size * size, -1.0..1.0);
    matrix[pivot * size + pivot] = 4.0;
    let right = floats(140, size, -1.0..1.0);
    let (mut after, mut right_after) = (matrix.clone(), right.clone());
    for row in pivot + 1..size {
        let factor = matrix[row * size + pivot] / matrix[pivot * size + pivot];
        for column in pivot + 1..size {
            after[row * size + column] -= factor * matrix[pivot * size + column];
        }
        right_after[row] -= factor * right[pivot];
    }
    kernel!("gauss_step")
        .launch([2, 6, 1], [8, 4, 1])
        .in_out_within(&matrix, after, near(1e-5))
        .in_out_within(&right, right_after, near(1e-5))
        .i32(size)
        .i32(pivot)
}

fn lu_block() -> Case {
    let (size, offset) = (20, 4);
    let mut matrix = floats(141, size * size, -1.0..1.0);
    (0..size).for_each(|i| matrix[i * size + i] += 20.0);
    let mut after: Vec<f64> = matrix.iter().map(|v| f64::from(*v)).collect();
    for k in offset..size {
        for row in k + 1..size {
            after[row * size + k] /= after[k * size + k];
            for column in k + 1..size {
                after[row * size + column] -= after[row * size + k] * after[k * size + column];
            }
        }
    }
    let after: Vec<f32> = after.into_iter().map(|v| v as f32).collect();
    let case = kernel!("lu_block").launch([1, 1, 1], [16, 1, 1]);
    case.in_out_within(&matrix, after, near(1e-4))
        .i32(size)
        .i32(offset)
}

/// A sparse matrix in compressed rows.
struct Sparse {
    offsets: Vec<i32>,
    columns: Vec<i32>,
    values: Vec<f32>,
}

fn sparse(n_rows: usize, n_columns: u32, longest: u32) -> Sparse {
    let mut random = Random::new(142);
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for _ in 0..n_rows {
        for _ in 0..random.below(longest) {
            columns.push(random.below(n_columns) as i32);
        }
        offsets.push(columns.len() as i32);
    }
    let values = whole_floats(143, columns.len(), -9..9);
    Sparse {
        offsets,
        columns,
        values,
    }
}

fn spmv(case: Case, n_rows: usize, longest: u32) -> Case {
    let matrix = sparse(n_rows, 80, longest);
    let x = whole_floats(144, 80, -9..9);
    let row = |ends: &[i32]| {
        let entries = ends[0] as usize..ends[1] as usize;
        let terms = entries.map(|j| matrix.values[j] * x[matrix.columns[j] as usize]);
        terms.sum::<f32>()
    };
    let expected: Vec<f32> = matrix.offsets.windows(2).map(row).collect();
    let case = case.input(&matrix.offsets).input(&matrix.columns);
    case.input(&matrix.values)
        .input(&x)
        .output(expected)
        .i32(n_rows)
}

fn spmv_scalar() -> Case {
    spmv(kernel!("spmv_scalar").over(100, 64), 100, 12)
}

fn spmv_vector() -> Case {
    spmv(kernel!("spmv_vector").over(30 * 32, 64), 30, 90)
}

fn sparse_axpy() -> Case {
    let y = whole_floats(145, 200, -9..9);
    let values = whole_floats(146, 70, -9..9);
    // Distinct, since 37 and 200 have no common divisor.
    let indices: Vec<i32> = (0..70).map(|i| i * 37 % 200).collect();
    let mut expected = y.clone();
    for (i, v) in indices.iter().zip(&values) {
        expected[*i as usize] += 3.0 * v;
    }
    let case = kernel!("sparse_axpy").over(70, 32).f32(3.0).input(&indices);
    case.input(&values).in_out(&y, expected).i32(70)
}

fn jacobi() -> Case {
    let n = 40;
    let mut a = floats(147, n * n, -1.0..1.0);
    (0..n).for_each(|i| a[i * n + i] = 50.0);
    let (b, x) = (floats(148, n, -9.0..9.0), floats(149, n, -1.0..1.0));
    let value = |row: usize| {
        let others = (0..n).filter(|col| *col != row);
        let sigma: f32 = others.map(|col| a[row * n + col] * x[col]).sum();
        (b[row] - sigma) / a[row * n + row]
    };
    let next: Vec<f32> = (0..n).map(value).collect();
    let change: Vec<f32> = next.iter().zip(&x).map(|(n, x)| (n - x).abs()).collect();
    let case = kernel!("jacobi").over(n, 32).input(&a).input(&b).input(&x);
    case.output_within(next, near(1e-5))
        .output_within(change, near(1e-5))
        .i32(n)
}

fn fft_stage() -> Case {
    let (n, half) = (64, 8);
    let whole = ints(150, 2 * n, -50..50);
    let input: Vec<f32> = whole.iter().map(|v| *v as f32).collect();
    let at = |i: usize| (f64::from(input[2 * i]), f64::from(input[2 * i + 1]));
    let mut expected = vec![0.0f32; 2 * n];
    for i in 0..n / 2 {
        let k = i % half;
        let angle = -std::f64::consts::PI * k as f64 / half as f64;
        let ((ux, uy), (vx, vy)) = (at(i), at(i + n / 2));
        let (tx, ty) = (
            vx * angle.cos() - vy * angle.sin(),
            vx * angle.sin() + vy * angle.cos(),
        );
        let j = 2 * (i - k) + k;
        expected[2 * j] = (ux + tx) as f32;
        expected[2 * j + 1] = (uy + ty) as f32;
        expected[2 * (j + half)] = (ux - tx) as f32;
        expected[2 * (j + half) + 1] = (uy - ty) as f32;
    }
    let case = kernel!("fft_stage").over(n / 2, 32).input(&input);
    case.output_within(expected, near(0.05)).i32(n).i32(half)
}
