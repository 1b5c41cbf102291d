//! Checks attention against the CPU, then times it on data in device memory.
//!
//! `cargo run --release --features cuda --example attention_bench -- --engine cuda` (or `wgpu`); `--small` uses few rows,
//! `--window N` lets a query see N keys, `--once` times one call without a warm-up, for a profiler,
//! `--software` allows a software GPU. Each figure is the median of five submissions of several calls, by the host's clock after a warm-up.

mod bench;

use std::time::{Duration, Instant};

use bench::{Arguments, Outcome, numbers};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuDevice};
use pagepress::tensor::layer::Attention;
use pagepress::tensor::{DType, GpuTensor, Shape, cpu};

/// Lengths of an attention.
#[derive(Debug, Clone, Copy)]
struct Size {
    heads: usize,
    key_heads: usize,
    n_q: usize,
    n_k: usize,
    dim: usize,
    /// Number of keys that a query sees at most.
    window: Option<usize>,
}

impl Size {
    fn q(self) -> Outcome<Shape> {
        Ok(Shape::new(&[self.heads, self.n_q, self.dim])?)
    }

    fn k(self) -> Outcome<Shape> {
        Ok(Shape::new(&[self.key_heads, self.n_k, self.dim])?)
    }

    fn what(self) -> Attention {
        Attention {
            causal: true,
            window: self.window,
            scale: None,
        }
    }

    /// Returns the number of keys that query `i` sees.
    fn seen(self, i: usize) -> usize {
        let end = self.n_k - self.n_q + i + 1;
        self.window.map_or(end, |n| n.min(end))
    }

    /// Number of operations, two for each element of a query, of a key that it sees, and of the value.
    fn operations(self) -> f64 {
        let seen: usize = (0..self.n_q).map(|i| self.seen(i)).sum();
        4.0 * (self.heads * self.dim * seen) as f64
    }

    /// Number of keys that any query sees.
    fn all_seen(self) -> usize {
        (self.n_q - 1 + self.seen(0)).min(self.n_k)
    }
}

fn main() -> Outcome {
    let arguments = Arguments::new();
    let device = arguments.device()?;
    let (is_small, is_once) = (
        arguments.has("--small"),
        arguments.has("--small") || arguments.has("--once"),
    );
    let window = arguments.value("--window").map(str::parse).transpose()?;
    let rows: &[usize] = if is_small { &[96] } else { &[512, 2048, 8192] };
    for dtype in [DType::F16, DType::BF16, DType::F32] {
        for dim in [64, 128] {
            let prompts = rows.iter().map(|&n| (16, 16, n, n));
            let last = rows[rows.len() - 1];
            for (heads, key_heads, n_q, n_k) in
                prompts.chain([(32, 8, 1, last), (32, 8, 1, 4 * last)])
            {
                let size = Size {
                    heads,
                    key_heads,
                    n_q,
                    n_k,
                    dim,
                    window,
                };
                block_on(run(&device, dtype, size, is_once))?;
            }
        }
    }
    Ok(())
}

async fn run(device: &GpuDevice, dtype: DType, size: Size, is_once: bool) -> Outcome {
    let upload = async |shape: Shape, seed| -> Outcome<GpuTensor> {
        let values = numbers(shape.n_elements(), seed);
        let tensor = GpuTensor::from_slice_async(device, &values, shape).await?;
        Ok(tensor.cast_async(dtype).await?)
    };
    let q = upload(size.q()?, 1).await?;
    let (k, v) = (upload(size.k()?, 2).await?, upload(size.k()?, 3).await?);
    let what = size.what();
    let found = q.attention_async(&k, &v, what).await?;
    let off = check(size, [&q, &k, &v], &found, dtype).await?;
    let n = if is_once { 1 } else { n_calls(size) };
    let mut seconds = Vec::new();
    let warm_up = Duration::from_millis(if is_once { 0 } else { 300 });
    let begin = Instant::now();
    while begin.elapsed() < warm_up {
        q.attention_async(&k, &v, what).await?;
        device.synchronize_async().await?;
    }
    for _ in 0..5 {
        let begin = Instant::now();
        for _ in 0..n {
            q.attention_async(&k, &v, what).await?;
        }
        device.synchronize_async().await?;
        seconds.push(begin.elapsed().as_secs_f64() / f64::from(n));
    }
    seconds.sort_by(f64::total_cmp);
    let seconds = seconds[2];
    let n_bytes = 2 * size.key_heads * size.all_seen() * size.dim * dtype.n_bytes();
    println!(
        "{dtype:?} {:2} heads on {:2}, {:4} of {:5} rows, {:3} elements: {:8.1} us, {:7.1} TFLOP/s, {:6.0} GB/s of keys and values; off by {off:.1e}",
        size.heads,
        size.key_heads,
        size.n_q,
        size.n_k,
        size.dim,
        seconds * 1e6,
        size.operations() / seconds / 1e12,
        n_bytes as f64 / seconds / 1e9,
    );
    Ok(())
}

/// Returns a number of calls that takes about 30 ms at 10 TFLOP/s, at most 200.
fn n_calls(size: Size) -> u32 {
    (3e11 / size.operations()).clamp(5.0, 200.0) as u32
}

/// Compares the first head's last 64 queries with the CPU; returns the largest error.
async fn check(
    size: Size,
    [q, k, v]: [&GpuTensor; 3],
    found: &GpuTensor,
    dtype: DType,
) -> Outcome<f32> {
    let from = size.n_q.saturating_sub(64);
    let part = async |tensor: &GpuTensor, from: usize, to: usize| -> Outcome<Vec<f32>> {
        let part = tensor.slice(0, 0..1)?.slice(1, from..to)?;
        Ok(part.to_vec_async().await?)
    };
    let (queries, found) = (
        part(q, from, size.n_q).await?,
        part(found, from, size.n_q).await?,
    );
    let (keys, values) = (part(k, 0, size.n_k).await?, part(v, 0, size.n_k).await?);
    let of_q = Shape::new(&[1, size.n_q - from, size.dim])?;
    let of_k = Shape::new(&[1, size.n_k, size.dim])?;
    let mut exact = vec![0.0; queries.len()];
    cpu::attention(
        size.what(),
        (&queries, &of_q),
        (&keys, &values, &of_k),
        &mut exact,
    )?;
    let pairs = found.iter().zip(&exact);
    let off = pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    let most = match dtype {
        DType::F32 => 1e-5,
        DType::F16 => 1e-3,
        _ => 8e-3,
    };
    if off.is_nan() || off > most {
        return Err(format!("{size:?} of {dtype:?} is off by {off:e}").into());
    }
    Ok(off)
}
