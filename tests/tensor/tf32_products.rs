//! Products of f32 that may be rounded to TF32: on matrix units where the engine has them, else in f32.

use pagepress::gpu::{Backend, GpuDevice};
use pagepress::tensor::{DType, GpuTensor, Precision, Shape};

use crate::half_products::{Factor, LAYOUTS, Layout, check, check_within, error_of_sums, factor};
use crate::subject::Subject;
use crate::tolerance::{PRODUCTS, TF32_PRODUCTS};

/// Returns a number rounded to TF32: to nearest, ties away from zero.
fn rounded(x: f32) -> f32 {
    if !x.is_finite() {
        return x;
    }
    f32::from_bits(x.to_bits().wrapping_add(0x1000) & !0x1fff)
}

fn has_units(device: &GpuDevice) -> bool {
    device.capabilities().tf32_matrices
}

async fn multiply(a: &Factor, b: &Factor) -> Vec<f32> {
    let product = a.tensor.matmul_with_async(&b.tensor, Precision::Tf32).await;
    let product = product.unwrap();
    assert_eq!(product.dtype(), DType::F32);
    product.to_vec_async().await.unwrap()
}

/// Compares with the product of rounded factors on devices that have matrix units for them, else with that of the factors.
fn check_rounded(device: &GpuDevice, a: Factor, b: Factor, product: &[f32], what: &str) {
    let round = |factor: Factor| Factor {
        values: match has_units(device) {
            true => factor.values.into_iter().map(rounded).collect(),
            false => factor.values,
        },
        ..factor
    };
    check(&round(a), &round(b), product, what);
}

pub async fn products_of_tf32_in_every_layout(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for [m, n, k] in [[1, 8, 8], [64, 64, 64], [130, 72, 204], [71, 260, 36]] {
        for (left, right) in LAYOUTS.into_iter().flat_map(|l| LAYOUTS.map(|r| (l, r))) {
            let a = factor(device, DType::F32, [1, m, k], left, 1).await;
            let b = factor(device, DType::F32, [1, k, n], right, 2).await;
            let what = format!("[{m}, {k}] {left:?} [{k}, {n}] {right:?}");
            let product = multiply(&a, &b).await;
            check_rounded(device, a, b, &product, &what);
        }
    }
}

/// Sizes of which some have no rows at multiples of 16 bytes. The documented tolerance is that of both kinds of products.
pub async fn products_of_tf32_of_any_size(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let lengths = [1, 7, 16, 65, 129];
    for m in lengths {
        for n in lengths {
            for k in [1, 8, 31, 100] {
                let a = factor(device, DType::F32, [1, m, k], Layout::Rows, 3).await;
                let b = factor(device, DType::F32, [1, k, n], Layout::Transposed, 4).await;
                let product = multiply(&a, &b).await;
                let relative = match has_units(device) {
                    true => TF32_PRODUCTS + error_of_sums(k),
                    false => PRODUCTS,
                };
                let what = format!("[{m}, {k}] [{k}, {n}]");
                check_within(&a, &b, &product, relative, &what);
            }
        }
    }
}

/// Batches, sums of many terms that several workgroups share, and a factor of 16 bits.
pub async fn batches_of_products_of_tf32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for b_batch in [1, 3] {
        let a = factor(device, DType::F32, [3, 70, 48], Layout::Rows, 5).await;
        let b = factor(
            device,
            DType::F32,
            [b_batch, 48, 136],
            Layout::Transposed,
            6,
        )
        .await;
        let product = multiply(&a, &b).await;
        check_rounded(device, a, b, &product, &format!("3 by {b_batch}"));
    }
    let a = factor(device, DType::F32, [1, 16, 4100], Layout::Rows, 7).await;
    let b = factor(device, DType::F32, [1, 4100, 132], Layout::Rows, 8).await;
    let product = multiply(&a, &b).await;
    check_rounded(device, a, b, &product, "many terms");
    let a = factor(device, DType::F16, [1, 33, 40], Layout::Rows, 9).await;
    let b = factor(device, DType::F32, [1, 40, 44], Layout::Rows, 10).await;
    let product = multiply(&a, &b).await;
    check_rounded(device, a, b, &product, "f16 by f32");
}

/// Tiles of each size, with edges in both directions. Only rows at the borders of tiles are compared.
pub async fn large_products_of_tf32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let sizes = [
        [200, 300, 100],
        [500, 500, 300],
        [700, 700, 100],
        [1000, 1020, 260],
        [1500, 1400, 300],
        [2000, 2040, 520],
        [1100, 1100, 4100],
    ];
    // Others have no such tiles, and software takes long.
    let n_sizes = if has_units(device) { sizes.len() } else { 1 };
    for [m, n, k] in sizes[..n_sizes].iter().copied() {
        for (left, right) in [
            (Layout::Rows, Layout::Rows),
            (Layout::Transposed, Layout::Transposed),
        ] {
            let a = factor(device, DType::F32, [1, m, k], left, 11).await;
            let b = factor(device, DType::F32, [1, k, n], right, 12).await;
            let product = multiply(&a, &b).await;
            for row in [0, 31, 32, 63, 64, 127, 128, m / 2, m - 1] {
                let part = |values: &[f32], length| values[row * length..][..length].to_vec();
                let of_row = Factor {
                    dims: [1, 1, k],
                    values: part(&a.values, k),
                    tensor: a.tensor.clone(),
                };
                let columns = Factor {
                    dims: b.dims,
                    values: b.values.clone(),
                    tensor: b.tensor.clone(),
                };
                let what = format!("row {row} of [{m}, {k}] {left:?} [{k}, {n}] {right:?}");
                check_rounded(device, of_row, columns, &part(&product, n), &what);
            }
        }
    }
}

/// Infinities and NaN of any bits stay what they are, and rounding is to nearest.
pub async fn special_numbers_as_tf32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let numbers = [
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7fff_ffff,
        0xffff_ffff,
        0x7f7f_e000,
        0x3f80_1000,
        0x3f80_0fff,
        0xbf80_1000,
        0xc040_0fff,
        0x3f80_0000,
        0,
    ]
    .map(f32::from_bits);
    check_numbers(device, &numbers, [12, 20, 16]).await;
    if subject.with_warpgroups().is_some() {
        check_numbers(device, &numbers, [1536, 1540, 1032]).await;
    }
}

/// Checks a product of which each row is one of the numbers.
async fn check_numbers(device: &GpuDevice, numbers: &[f32], [m, n, k]: [usize; 3]) {
    let mut a = vec![0.0; m * k];
    for (row, &number) in a.chunks_exact_mut(k).zip(numbers.iter().cycle()) {
        row[3] = number;
    }
    let ones = vec![1.0; k * n];
    let a = GpuTensor::from_slice_async(device, &a, Shape::new(&[m, k]).unwrap());
    let b = GpuTensor::from_slice_async(device, &ones, Shape::new(&[k, n]).unwrap());
    let (a, b) = (a.await.unwrap(), b.await.unwrap());
    let by_rows = a.matmul_with_async(&b, Precision::Tf32).await.unwrap();
    let [a, b] = [&a, &b].map(|tensor| tensor.transpose(0, 1).unwrap());
    let by_columns = b.matmul_with_async(&a, Precision::Tf32).await.unwrap();
    let by_columns = by_columns.transpose(0, 1).unwrap();
    for product in [by_rows, by_columns] {
        let product = product.to_vec_async().await.unwrap();
        for (row, &number) in product.chunks_exact(n).zip(numbers.iter().cycle()) {
            let expected = match has_units(device) {
                true => rounded(number),
                false => number,
            };
            for &found in row {
                let is_it = found == expected || (found.is_nan() && expected.is_nan());
                assert!(is_it, "{number} ({:#x}) became {found}", number.to_bits());
            }
        }
    }
}

/// Nothing is rounded by default.
pub async fn products_are_rounded_only_on_request(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let a = factor(device, DType::F32, [1, 64, 64], Layout::Rows, 13).await;
    let b = factor(device, DType::F32, [1, 64, 64], Layout::Rows, 14).await;
    let plain = a.tensor.matmul_async(&b.tensor).await.unwrap();
    let plain = plain.to_vec_async().await.unwrap();
    let same = a.tensor.matmul_with_async(&b.tensor, Precision::default());
    assert_eq!(same.await.unwrap().to_vec_async().await.unwrap(), plain);
    check(&a, &b, &plain, "f32");
    assert_eq!(multiply(&a, &b).await != plain, has_units(device));
}
