//! Attention over thousands of rows on CUDA, without the matrix of scores ever being stored, compared with the CPU.
//!
//! `cargo run --release --features cuda --example flash_attention_cuda`

mod bench;

use std::time::Instant;

use bench::{Arguments, Outcome, numbers};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, EngineChoice};
use pagepress::tensor::layer::Attention;
use pagepress::tensor::{GpuTensor, Shape, cpu};

/// Heads of 64 elements; half as many have 128.
const HEADS: usize = 32;
const RUNS: u32 = 20;

fn main() -> Outcome {
    let device = match Arguments::new().open(EngineChoice::Cuda) {
        Ok(device) => device,
        Err(error) => {
            println!("No CUDA device: {error}");
            return Ok(());
        }
    };
    let causal = Attention {
        causal: true,
        ..Attention::default()
    };
    let sizes = [64, 128].map(|dim| [512, 2048, 8192].map(|rows| (dim, rows)));
    for (dim, rows) in sizes.into_iter().flatten() {
        let heads = HEADS * 64 / dim;
        let shape = Shape::new(&[heads, rows, dim])?;
        let n = shape.n_elements();
        let host = [1, 2, 3].map(|seed| numbers(n, seed));
        let (found, seconds) = block_on(async {
            let upload = |values| GpuTensor::from_slice_async(&device, values, shape.clone());
            let (q, k) = (upload(&host[0]).await?, upload(&host[1]).await?);
            let v = upload(&host[2]).await?;
            let found = q
                .attention_async(&k, &v, causal)
                .await?
                .to_vec_async()
                .await?;
            let start = Instant::now();
            for _ in 0..RUNS {
                q.attention_async(&k, &v, causal).await?;
            }
            device.synchronize_async().await?;
            Ok::<_, pagepress::Error>((found, start.elapsed().as_secs_f64() / f64::from(RUNS)))
        })?;
        // Each query sees half of the keys on average: two products with each.
        let operations = 2.0 * 2.0 * (n * rows) as f64 / 2.0;
        let stored = 4 * heads * rows * rows;
        println!(
            "{heads} heads of {dim}, {rows} rows: {:.3} ms, {:.2} TFLOP/s; the scores alone would take {} MiB",
            seconds * 1e3,
            operations / seconds / 1e12,
            stored >> 20
        );
        if rows <= 2048 {
            let mut exact = vec![0.0; n];
            let keys = (&host[1][..], &host[2][..], &shape);
            cpu::attention(causal, (&host[0], &shape), keys, &mut exact)?;
            let pairs = found.iter().zip(&exact);
            let off = pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
            println!("  off by {off:e} at most from the CPU");
            if off.is_nan() || off > 1e-4 {
                return Err("not what the CPU finds".into());
            }
        }
    }
    Ok(())
}
