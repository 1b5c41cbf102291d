//! Products of 16-bit tensors: through matrix units where the engine has them, else in f32.

use pagepress::gpu::{Backend, GpuDevice};
use pagepress::tensor::{DType, GpuTensor, Shape, cpu};

use crate::naive::numbers;
use crate::subject::Subject;

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// A factor: its elements, row-major, as the tensor rounds them, and the tensor.
pub struct Factor {
    pub dims: [usize; 3],
    pub values: Vec<f32>,
    pub tensor: GpuTensor,
}

/// Layout of a factor in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Rows,
    /// Columns are contiguous.
    Transposed,
    /// Rows of a larger matrix, from its second row and its ninth column on.
    Sliced,
    /// Rows of a larger matrix, from its fourth column on, which is no multiple of 16 bytes.
    Unaligned,
    /// Neither rows nor columns are contiguous.
    Strided,
}

pub const LAYOUTS: [Layout; 5] = [
    Layout::Rows,
    Layout::Transposed,
    Layout::Sliced,
    Layout::Unaligned,
    Layout::Strided,
];

/// Creates a tensor `[batch, rows, columns]` in a layout.
pub async fn factor(
    device: &GpuDevice,
    dtype: DType,
    [batch, rows, columns]: [usize; 3],
    layout: Layout,
    seed: u64,
) -> Factor {
    let whole = match layout {
        Layout::Rows => [batch, rows, columns],
        Layout::Transposed => [batch, columns, rows],
        Layout::Sliced => [batch, rows + 1, columns + 24],
        Layout::Unaligned => [batch, rows, columns + 5],
        Layout::Strided => [rows, columns, batch],
    };
    let values = numbers(whole.iter().product(), seed, 2.0);
    let shape = Shape::new(&whole).unwrap();
    let tensor = GpuTensor::from_slice_async(device, &values, shape).await;
    let tensor = tensor.unwrap().cast_async(dtype).await.unwrap();
    let slice = |tensor: &GpuTensor, axis, from, n| tensor.slice(axis, from..from + n).unwrap();
    let tensor = match layout {
        Layout::Rows => tensor,
        Layout::Transposed => tensor.transpose(1, 2).unwrap(),
        Layout::Sliced => slice(&slice(&tensor, 1, 1, rows), 2, 8, columns),
        Layout::Unaligned => slice(&tensor, 2, 3, columns),
        Layout::Strided => tensor.permute(&[2, 0, 1]).unwrap(),
    };
    let values = tensor.to_vec_async().await.unwrap();
    Factor {
        dims: [batch, rows, columns],
        values,
        tensor,
    }
}

/// Compares a product with sums of these values in double precision. An error of the units is at most a part in 2^21 of the sum of magnitudes,
/// for each term in the worst case.
pub fn check(a: &Factor, b: &Factor, product: &[f32], what: &str) {
    check_within(a, b, product, error_of_sums(a.dims[2]), what);
}

/// Returns the most that units add to a sum of `k` terms, relative to the sum of magnitudes.
pub fn error_of_sums(k: usize) -> f64 {
    (8.0 + k as f64) / f64::from(1 << 23)
}

/// Compares a product with sums of these values in double precision, within an error relative to the sum of magnitudes.
pub fn check_within(a: &Factor, b: &Factor, product: &[f32], relative: f64, what: &str) {
    let ([batch, m, k], [b_batch, _, n]) = (a.dims, b.dims);
    assert_eq!(product.len(), batch * m * n, "{what}");
    for (at, &found) in product.iter().enumerate() {
        let (matrix, row, column) = (at / (m * n), at / n % m, at % n);
        let of_b = matrix % b_batch;
        let terms = (0..k).map(|i| {
            let left = f64::from(a.values[(matrix * m + row) * k + i]);
            left * f64::from(b.values[(of_b * k + i) * n + column])
        });
        let (sum, magnitude) = terms.fold((0.0, 0.0), |(sum, all), term: f64| {
            (sum + term, all + term.abs())
        });
        let error = (f64::from(found) - sum).abs();
        assert!(
            error <= magnitude * relative,
            "{what}: {at} is {found} instead of {sum}"
        );
    }
}

async fn multiply(a: &Factor, b: &Factor, what: &str) {
    let product = a.tensor.matmul_to_async(&b.tensor, DType::F32).await;
    let product = product.unwrap();
    assert_eq!(product.dtype(), DType::F32);
    check(a, b, &product.to_vec_async().await.unwrap(), what);
}

pub async fn products_of_halves_in_every_layout(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let shapes = [[1, 8, 8], [64, 64, 64], [130, 72, 200], [72, 264, 40]];
    for (dtype, [m, n, k]) in HALVES.into_iter().flat_map(|d| shapes.map(|s| (d, s))) {
        for (left, right) in LAYOUTS.into_iter().flat_map(|l| LAYOUTS.map(|r| (l, r))) {
            let a = factor(device, dtype, [1, m, k], left, 1).await;
            let b = factor(device, dtype, [1, k, n], right, 2).await;
            let what = format!("{dtype:?} [{m}, {k}] {left:?} [{k}, {n}] {right:?}");
            multiply(&a, &b, &what).await;
        }
    }
}

pub async fn products_of_halves_of_any_size(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let lengths = [1, 7, 16, 65, 129];
    for m in lengths {
        for n in lengths {
            for k in [1, 8, 31, 100] {
                let a = factor(device, DType::F16, [1, m, k], Layout::Rows, 3).await;
                let b = factor(device, DType::F16, [1, k, n], Layout::Transposed, 4).await;
                multiply(&a, &b, &format!("[{m}, {k}] [{k}, {n}]")).await;
            }
        }
    }
}

/// Products of tiles of every size, with edges: of small whole numbers, so that sums in f32 are exact in every order.
pub async fn large_products_of_halves_are_those_of_f32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let sizes: &[[usize; 3]] = if device.capabilities().warpgroup_matrices {
        // Tiles of 64 by 64, 64 by 128, 128 by 128 and 128 by 256 on an H100; an odd number of columns; slices of k.
        &[
            [500, 520, 200],
            [1000, 1008, 136],
            [1400, 1392, 520],
            [2000, 2040, 264],
            [2001, 2043, 264],
            [130, 264, 4096],
        ]
    } else {
        &[[130, 264, 136]]
    };
    for (dtype, &[m, n, k]) in HALVES
        .into_iter()
        .flat_map(|d| sizes.iter().map(move |s| (d, s)))
    {
        for (left, right) in [Layout::Rows, Layout::Transposed]
            .into_iter()
            .flat_map(|l| [Layout::Rows, Layout::Transposed].map(|r| (l, r)))
        {
            let a = whole_numbers(device, dtype, [m, k], left, 9).await;
            let b = whole_numbers(device, dtype, [k, n], right, 10).await;
            let product = a.matmul_to_async(&b, DType::F32).await.unwrap();
            let wide =
                [a, b].map(|factor| async move { factor.cast_async(DType::F32).await.unwrap() });
            let [a, b] = wide;
            let expected = a.await.matmul_async(&b.await).await.unwrap();
            let found = product.to_vec_async().await.unwrap();
            let expected = expected.to_vec_async().await.unwrap();
            let wrong = found.iter().zip(&expected).position(|(x, y)| x != y);
            assert_eq!(
                wrong, None,
                "{dtype:?} [{m}, {k}] {left:?} [{k}, {n}] {right:?}"
            );
        }
    }
}

/// Creates a matrix of whole numbers from -4 to 4.
async fn whole_numbers(
    device: &GpuDevice,
    dtype: DType,
    [rows, columns]: [usize; 2],
    layout: Layout,
    seed: u64,
) -> GpuTensor {
    let values = numbers(rows * columns, seed, 4.0);
    let values: Vec<f32> = values.iter().map(|x| x.round()).collect();
    let mut bits = vec![0; values.len()];
    cpu::to_bits(dtype, &values, &mut bits).unwrap();
    let is_transposed = layout == Layout::Transposed;
    let dims = if is_transposed {
        [columns, rows]
    } else {
        [rows, columns]
    };
    let shape = Shape::new(&dims).unwrap();
    let tensor = GpuTensor::from_bits_async(device, &bits, dtype, shape);
    let tensor = tensor.await.unwrap();
    if is_transposed {
        return tensor.transpose(0, 1).unwrap();
    }
    tensor
}

pub async fn batches_of_products_of_halves(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        for b_batch in [1, 3] {
            let a = factor(device, dtype, [3, 70, 48], Layout::Rows, 5).await;
            let b = factor(device, dtype, [b_batch, 48, 136], Layout::Transposed, 6).await;
            multiply(&a, &b, &format!("{dtype:?}, 3 by {b_batch}")).await;
        }
    }
}

/// A product of the inputs' type is that of f32, rounded once. Infinities and NaN arrive.
pub async fn products_of_halves_are_rounded_once(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        let mut a = factor(device, dtype, [1, 16, 64], Layout::Rows, 7).await;
        let b = factor(device, dtype, [1, 64, 24], Layout::Rows, 8).await;
        a.values[3 * 64] = f32::INFINITY;
        a.values[5 * 64 + 9] = f32::NAN;
        let mut bits = vec![0; a.values.len()];
        cpu::to_bits(dtype, &a.values, &mut bits).unwrap();
        let shape = Shape::new(&[16, 64]).unwrap();
        let a = GpuTensor::from_bits_async(device, &bits, dtype, shape);
        let a = a.await.unwrap();
        let b = b.tensor.reshape(Shape::new(&[64, 24]).unwrap()).unwrap();
        let wide = a.matmul_to_async(&b, DType::F32).await.unwrap();
        let wide = wide.to_vec_async().await.unwrap();
        let product = a.matmul_async(&b).await.unwrap();
        assert_eq!(product.dtype(), dtype);
        let mut rounded = vec![0; wide.len()];
        cpu::to_bits(dtype, &wide, &mut rounded).unwrap();
        assert_eq!(product.to_bits_async().await.unwrap(), rounded, "{dtype:?}");
        let rows: Vec<&[f32]> = wide.chunks(24).collect();
        assert!(rows[3].iter().all(|x| !x.is_finite()));
        assert!(rows[5].iter().all(|x| x.is_nan()));
        assert!(rows[4].iter().all(|x| x.is_finite()));
    }
}
