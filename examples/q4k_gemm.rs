//! Packs a matrix into Q4_K, Q5_K and Q6_K, and multiplies rows by it on a GPU, without unpacking it first. Compared with the product of the
//! weights that the blocks stand for.
//!
//! `cargo run --release --features cuda --example q4k_gemm` (or `wgpu`); `--engine cuda` or `wgpu` chooses the engine, `--software` allows a software
//! GPU.

mod bench;

use std::time::Instant;

use bench::{Arguments, Outcome, numbers};
use pagepress::gpu::Backend;
use pagepress::gpu::runtime::block_on;
use pagepress::tensor::{GpuTensor, Quantization, QuantizedWeights, Shape, cpu};

/// Rows of the first matrix, columns of the product, and terms of each sum.
const SIZES: [[usize; 3]; 2] = [[1, 4096, 4096], [32, 4096, 4096]];
const RUNS: u32 = 20;

/// Returns the largest difference from the exact product, in units of the sum of magnitudes, of every 97th result.
fn off(found: &[f32], rows: &[f32], weights: &[f32], [n, k]: [usize; 2]) -> f64 {
    let results = found.iter().enumerate().step_by(97);
    let offs = results.map(|(i, &found)| {
        let (row, column) = (&rows[i / n * k..][..k], &weights[i % n * k..][..k]);
        let terms = row.iter().zip(column);
        let terms = terms.map(|(x, y)| f64::from(*x) * f64::from(*y));
        let magnitude: f64 = terms.clone().map(f64::abs).sum();
        (f64::from(found) - terms.sum::<f64>()).abs() / magnitude
    });
    offs.fold(0.0, f64::max)
}

fn main() -> Outcome {
    let device = Arguments::new().device()?;
    for quantization in [Quantization::Q4K, Quantization::Q5K, Quantization::Q6K] {
        for [m, n, k] in SIZES {
            let blocks = cpu::quantize_to_vec(quantization, &numbers(n * k, 1))?;
            let mut weights = vec![0.0; n * k];
            cpu::dequantize(quantization, &blocks, &mut weights)?;
            let packed = QuantizedWeights::upload(&device, quantization, &blocks, [n, k])?;
            let host = numbers(m * k, 2);
            let rows = GpuTensor::from_slice(&device, &host, Shape::new(&[m, k])?)?;
            let found = packed.matmul(&rows)?.to_vec()?;
            let start = Instant::now();
            for _ in 0..RUNS {
                packed.matmul(&rows)?;
            }
            block_on(device.synchronize_async())?;
            let seconds = start.elapsed().as_secs_f64() / f64::from(RUNS);
            let off = off(&found, &host, &weights, [n, k]);
            println!(
                "{quantization:?}, {m} x {k} x {n}: {:.1} % of the bytes of f32, {:.0} us, off by {off:.1e}",
                100.0 * blocks.len() as f64 / (4 * n * k) as f64,
                seconds * 1e6,
            );
            if off.is_nan() || off > 1e-5 {
                return Err("not the product of the packed weights".into());
            }
        }
    }
    Ok(())
}
