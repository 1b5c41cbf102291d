//! Checks products of few rows with packed weights, then times them on data in device memory.
//!
//! `cargo run --release --features cuda --example packed_bench -- --engine cuda` (or `wgpu`); `--small` uses smaller
//! matrices, `--software` allows a software GPU. Each figure is the median of five submissions, by device timestamps. The
//! weights are in so many buffers that caches cannot hold them from one use to the next.

mod bench;

use std::time::{Duration, Instant};

use bench::{Arguments, Outcome, random};
use pagepress::gpu::GpuDevice;
use pagepress::gpu::runtime::block_on;
use pagepress::tensor::{
    BufferId, GpuCommandBatch, GpuTensor, Quantization, QuantizedWeights, Shape, Step, cpu,
};

/// More bytes of weights than a cache has.
const MIN_BYTES: usize = 400 << 20;

fn main() -> Outcome {
    let arguments = Arguments::new();
    let device = arguments.device()?;
    let is_small = arguments.has("--small");
    block_on(run(&device, is_small))
}

async fn run(device: &GpuDevice, is_small: bool) -> Outcome {
    let warm_up = Duration::from_millis(if is_small { 0 } else { 300 });
    let copy = copy_bandwidth(device, is_small, warm_up).await?;
    println!("copy: {:.0} GB/s, read and written", copy / 1e9);
    let sizes: &[[usize; 2]] = match is_small {
        true => &[[256, 512]],
        false => &[[4096, 4096], [8192, 8192], [14_336, 4096], [4096, 14_336]],
    };
    for quantization in [
        Quantization::Q4K,
        Quantization::Q5K,
        Quantization::Q6K,
        Quantization::Q8_0,
        Quantization::F16,
    ] {
        for &[n, k] in sizes {
            let packed = blocks(quantization, n * k / quantization.block_len());
            let n_buffers = match is_small {
                true => 1,
                false => MIN_BYTES.div_ceil(packed.len()),
            };
            let mut weights = Vec::new();
            for _ in 0..n_buffers {
                let uploaded =
                    QuantizedWeights::upload_async(device, quantization, &packed, [n, k]);
                weights.push(uploaded.await?);
            }
            let all_m: &[usize] = if n == k || is_small {
                &[1, 2, 3, 4, 7, 8, 9]
            } else {
                &[1]
            };
            for &m in all_m {
                let rows = numbers(m * k, 3);
                let on_device =
                    GpuTensor::from_slice_async(device, &rows, Shape::new(&[m, k])?).await?;
                let found = weights[0].matmul_async(&on_device).await?;
                check(
                    quantization,
                    &packed,
                    &rows,
                    &found.to_vec_async().await?,
                    [m, k, n],
                )?;
                let queue = |batch: &mut GpuCommandBatch, rows: BufferId| {
                    for weights in &weights {
                        batch.matmul_quantized(rows, weights);
                    }
                };
                let seconds = median(device, &on_device, warm_up, queue).await? / n_buffers as f64;
                let bandwidth = packed.len() as f64 / seconds;
                println!(
                    "{quantization:?} {m} x {k} x {n:<6}: {:>8.1} us {:>6.0} GB/s of weights, {:>3.0} % of copy",
                    seconds * 1e6,
                    bandwidth / 1e9,
                    bandwidth / copy * 100.0
                );
            }
        }
    }
    Ok(())
}

/// Returns bytes per second, read and written.
async fn copy_bandwidth(device: &GpuDevice, is_small: bool, warm_up: Duration) -> Outcome<f64> {
    let n = if is_small { 1 << 16 } else { 1 << 27 };
    let a = GpuTensor::from_slice_async(device, &vec![1.0; n], Shape::vector(n)).await?;
    let queue = |batch: &mut GpuCommandBatch, a: BufferId| {
        for _ in 0..4 {
            batch.apply(&[Step::Scale(1.0)], a, None);
        }
    };
    Ok(4.0 * 8.0 * n as f64 / median(device, &a, warm_up, queue).await?)
}

/// Returns the seconds of a submission. The device first works for a while, since its clock rises only under load.
async fn median(
    device: &GpuDevice,
    input: &GpuTensor,
    warm_up: Duration,
    queue: impl Fn(&mut GpuCommandBatch, BufferId),
) -> Outcome<f64> {
    let mut found = Vec::new();
    let begin = Instant::now();
    while found.len() < 5 {
        let is_warm = begin.elapsed() > warm_up;
        let mut batch = GpuCommandBatch::new(device.clone());
        let input = batch.tensor(input);
        queue(&mut batch, input);
        let started = Instant::now();
        let kernel_ns = batch.execute().await?;
        let elapsed = started.elapsed().as_secs_f64();
        if is_warm {
            found.push(kernel_ns.map_or(elapsed, |ns| ns as f64 / 1e9));
        }
    }
    found.sort_by(f64::total_cmp);
    Ok(found[found.len() / 2])
}

/// Compares a few columns of a product with the products of unpacked weights.
fn check(
    quantization: Quantization,
    packed: &[u8],
    rows: &[f32],
    found: &[f32],
    [m, k, n]: [usize; 3],
) -> Outcome {
    let row_bytes = k / quantization.block_len() * quantization.block_bytes();
    let mut weights = vec![0.0; k];
    for col in [0, 1, n / 3, n - 2, n - 1] {
        let of_col = &packed[col * row_bytes..][..row_bytes];
        cpu::dequantize(quantization, of_col, &mut weights)?;
        for row in 0..m {
            let terms = rows[row * k..].iter().zip(&weights);
            let terms = terms.map(|(x, y)| f64::from(*x) * f64::from(*y));
            let magnitude: f64 = terms.clone().map(f64::abs).sum();
            let (found, exact) = (f64::from(found[row * n + col]), terms.sum::<f64>());
            if (found - exact).abs() > 1e-5 * magnitude {
                return Err(
                    format!("{quantization:?} [{row}, {col}]: {found}, not {exact}").into(),
                );
            }
        }
    }
    Ok(())
}

/// Returns blocks of random bits whose factors are finite and below 1.
fn blocks(quantization: Quantization, n: usize) -> Vec<u8> {
    let mut bytes = random_bytes(n * quantization.block_bytes(), 5);
    let factors: &[usize] = match quantization {
        Quantization::Q6K => &[209],
        Quantization::Q8_0 => &[1],
        Quantization::F16 => &[1, 3, 5, 7],
        _ => &[1, 3],
    };
    for block in bytes.chunks_mut(quantization.block_bytes()) {
        for &at in factors {
            block[at] = block[at] & 0x83 | (block[at] % 15) << 2;
        }
    }
    bytes
}

/// Random bytes, the same each time.
fn random_bytes(n: usize, seed: u64) -> Vec<u8> {
    let mut next = random(seed);
    (0..n).map(|_| (next() >> 40) as u8).collect()
}

/// Numbers from -1 to 1, the same each time.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let bytes = random_bytes(n, seed);
    bytes
        .into_iter()
        .map(|x| f32::from(x) / 128.0 - 1.0)
        .collect()
}
