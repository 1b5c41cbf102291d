//! Products with packed weights that may be rounded to TF32: on matrix units where the engine has them, else in f32.

use pagepress::gpu::{Backend, GpuDevice};
use pagepress::tensor::{GpuTensor, Precision, QuantizedWeights, Shape};

use crate::half_products::error_of_sums;
use crate::naive::numbers;
use crate::quantized::{ALL, blocks, weight};
use crate::subject::Subject;
use crate::tolerance::TF32_PRODUCTS;

/// Returns true if products of many rows are of unpacked weights, of up to a megabyte.
fn unpacks(device: &GpuDevice) -> bool {
    let capabilities = device.capabilities();
    capabilities.tf32_matrices && capabilities.max_binding_bytes >= 1 << 20
}

pub async fn packed_products_may_be_rounded_to_tf32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for quantization in ALL {
        for [m, k, n] in [[8, 256, 40], [9, 256, 70], [70, 512, 130], [129, 1024, 260]] {
            let n_blocks = n * k / quantization.block_len();
            let packed = blocks(quantization, n_blocks, 300 + k as u64);
            let input = numbers(m * k, 301, 1.0);
            let rows = GpuTensor::from_slice_async(device, &input, Shape::new(&[m, k]).unwrap());
            let rows = rows.await.unwrap();
            let weights = QuantizedWeights::upload_async(device, quantization, &packed, [n, k]);
            let weights = weights.await.unwrap();
            let plain = weights.matmul_async(&rows).await.unwrap();
            let plain = plain.to_vec_async().await.unwrap();
            let found = weights.matmul_with_async(&rows, Precision::Tf32);
            let found = found.await.unwrap().to_vec_async().await.unwrap();
            let what = format!("{quantization:?}, [{m}, {k}] by {n}");
            let is_rounded = unpacks(device) && m > 8;
            assert_eq!(found != plain, is_rounded, "{what}");
            if !is_rounded {
                continue;
            }
            let exact: Vec<f64> = packed
                .chunks_exact(quantization.block_bytes())
                .flat_map(|block| {
                    (0..quantization.block_len()).map(|i| weight(quantization, block, i))
                })
                .collect();
            for (at, &found) in found.iter().enumerate() {
                let (row, column) = (&input[at / n * k..][..k], &exact[at % n * k..][..k]);
                let terms = row.iter().zip(column).map(|(&x, w)| f64::from(x) * w);
                let (sum, all) = terms.fold((0.0, 0.0), |(sum, all), term| {
                    (sum + term, all + f64::abs(term))
                });
                let error = (f64::from(found) - sum).abs();
                let most = all * (TF32_PRODUCTS + error_of_sums(k));
                assert!(error <= most, "{what}: {at} is {found} instead of {sum}");
            }
        }
    }
}
