//! Checks operations on tensors, then times them on data in device memory.
//!
//! `cargo run --release --features cuda --example tensor_bench -- --engine cuda` (or `wgpu`); `--small` uses smaller
//! tensors, `--products` times matrix products alone, `--rows` softmax and norms, `--halves` operations on 16 bits, `--software` allows a software GPU. Each figure is the median of five
//! submissions of several launches each, by device timestamps.

#[path = "../bench/mod.rs"]
mod bench;
mod halves;
mod products;
mod rows;

use std::time::{Duration, Instant};

use bench::{Arguments, Outcome, numbers};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuDevice};
use pagepress::tensor::{BufferId, GpuCommandBatch, GpuTensor, Reduction, Shape, Step, cpu};

fn main() -> Outcome {
    let arguments = Arguments::new();
    let device = arguments.device()?;
    let bench = Bench {
        device,
        is_small: arguments.has("--small"),
    };
    block_on(async {
        if arguments.has("--halves") {
            return bench.halves().await;
        }
        if arguments.has("--rows") {
            return bench.rows().await;
        }
        bench.products().await?;
        if arguments.has("--products") {
            return Ok(());
        }
        bench.others().await
    })
}

struct Bench {
    device: GpuDevice,
    is_small: bool,
}

impl Bench {
    async fn others(&self) -> Outcome {
        self.elementwise().await?;
        self.reductions().await?;
        self.rows().await?;
        self.halves().await?;
        self.convolve2d().await?;
        self.overhead().await
    }

    async fn tensor(&self, values: &[f32], dims: &[usize]) -> Outcome<GpuTensor> {
        Ok(GpuTensor::from_slice_async(&self.device, values, Shape::new(dims)?).await?)
    }

    /// Returns the seconds per operation of a submission of many. The device first works for a while, since its clock rises
    /// only under load.
    async fn seconds(
        &self,
        n_times: usize,
        inputs: &[&GpuTensor],
        queue: impl Fn(&mut GpuCommandBatch, &[BufferId]) -> BufferId,
    ) -> Outcome<f64> {
        let mut found = Vec::new();
        let warm_up = Duration::from_millis(if self.is_small { 0 } else { 700 });
        let begin = Instant::now();
        while found.len() < 5 {
            let is_warm = begin.elapsed() > warm_up;
            let mut batch = GpuCommandBatch::new(self.device.clone());
            let ids: Vec<BufferId> = inputs.iter().map(|tensor| batch.tensor(tensor)).collect();
            for _ in 0..n_times {
                queue(&mut batch, &ids);
            }
            let started = Instant::now();
            let kernel_ns = batch.execute().await?;
            let elapsed = started.elapsed().as_secs_f64();
            if is_warm {
                found.push(kernel_ns.map_or(elapsed, |ns| ns as f64 / 1e9) / n_times as f64);
            }
        }
        found.sort_by(f64::total_cmp);
        Ok(found[found.len() / 2])
    }

    fn n_elements(&self) -> usize {
        if self.is_small { 1 << 18 } else { 1 << 26 }
    }

    fn print_bytes(name: &str, n_bytes: usize, seconds: f64) {
        println!(
            "{name:<18}: {:>9.1} us  {:>7.0} GB/s",
            seconds * 1e6,
            n_bytes as f64 / seconds / 1e9
        );
    }

    async fn elementwise(&self) -> Outcome {
        let n = self.n_elements();
        let (a, b) = (numbers(n, 4), numbers(n, 5));
        let (a_on, b_on) = (self.tensor(&a, &[n]).await?, self.tensor(&b, &[n]).await?);
        let cases: [(&str, &[Step], usize); 6] = [
            ("copy", &[Step::Scale(1.0)], 8),
            ("relu", &[Step::Relu], 8),
            ("gelu", &[Step::Gelu], 8),
            ("tanh", &[Step::Tanh], 8),
            ("add", &[Step::Add], 12),
            (
                "scale+add+gelu",
                &[Step::Scale(0.5), Step::Add, Step::Gelu],
                12,
            ),
        ];
        for (name, steps, bytes_each) in cases {
            let is_two = bytes_each == 12;
            let found = match is_two {
                true => a_on.combine_async(steps, &b_on).await?,
                false => a_on.apply_async(steps).await?,
            };
            let found = found.to_vec_async().await?;
            let mut exact = vec![0.0; n];
            cpu::elementwise(steps, &a, is_two.then_some(&b[..]), &mut exact)?;
            for (found, exact) in found.iter().zip(&exact) {
                near(*found, f64::from(*exact), 1e-5)?;
            }
            let seconds = self
                .seconds(8, &[&a_on, &b_on], |batch, ids| {
                    batch.apply(steps, ids[0], is_two.then_some(ids[1]))
                })
                .await?;
            Self::print_bytes(name, bytes_each * n, seconds);
        }
        Ok(())
    }

    async fn reductions(&self) -> Outcome {
        let n = self.n_elements();
        let (a, b) = (numbers(n, 6), numbers(n, 7));
        let (a_on, b_on) = (self.tensor(&a, &[n]).await?, self.tensor(&b, &[n]).await?);
        for (name, reduction) in [
            ("sum", Reduction::Sum),
            ("max", Reduction::Max),
            ("min", Reduction::Min),
        ] {
            let found = a_on
                .reduce_all_async(reduction)
                .await?
                .to_vec_async()
                .await?[0];
            near(
                found,
                f64::from(cpu::reduce(reduction, &a)),
                1e-4 * (n as f64).sqrt(),
            )?;
            let seconds = self
                .seconds(8, &[&a_on], |batch, ids| batch.reduce(reduction, ids[0]))
                .await?;
            Self::print_bytes(name, 4 * n, seconds);
        }
        let found = a_on.dot_async(&b_on).await?.to_vec_async().await?[0];
        near(
            found,
            f64::from(cpu::dot(&a, &b)?),
            1e-4 * (n as f64).sqrt(),
        )?;
        let seconds = self
            .seconds(8, &[&a_on, &b_on], |batch, ids| batch.dot(ids[0], ids[1]))
            .await?;
        Self::print_bytes("dot", 8 * n, seconds);
        Ok(())
    }

    async fn convolve2d(&self) -> Outcome {
        let n = if self.is_small { 256 } else { 4096 };
        let a = numbers(n * n, 9);
        let a_on = self.tensor(&a, &[n, n]).await?;
        for k in [3, 5, 11] {
            let kernel = numbers(k * k, 10);
            let kernel_on = self.tensor(&kernel, &[k, k]).await?;
            let found = a_on
                .convolve2d_async(&kernel_on)
                .await?
                .to_vec_async()
                .await?;
            let mut exact = vec![0.0; (n - k + 1) * (n - k + 1)];
            cpu::convolve2d(&a, &kernel, &mut exact, [n, n], [k, k])?;
            for (found, exact) in found.iter().zip(&exact) {
                near(*found, f64::from(*exact), 1e-4)?;
            }
            let seconds = self
                .seconds(8, &[&a_on, &kernel_on], |batch, ids| {
                    batch.convolve2d(ids[0], ids[1], [n, n], [k, k])
                })
                .await?;
            let flops = 2.0 * (k * k * exact.len()) as f64 / seconds / 1e12;
            let name = format!("convolve2d {n}, {k}");
            Self::print_bytes(&name, 4 * (n * n + exact.len()), seconds);
            println!("{:<18}  {flops:>30.2} TFLOP/s", "");
        }
        Ok(())
    }

    /// Time on the host of a small operation that is compiled already.
    async fn overhead(&self) -> Outcome {
        let (input, mut output) = (numbers(1024, 11), vec![0.0; 1024]);
        let on_device = self.tensor(&input, &[1024]).await?;
        let mut found = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..300 {
            let started = Instant::now();
            self.device.relu_async(&input, &mut output).await?;
            found[0].push(started.elapsed());
            let started = Instant::now();
            on_device.apply_async(&[Step::Relu]).await?;
            found[1].push(started.elapsed());
            self.device.synchronize_async().await?;
            found[2].push(started.elapsed());
        }
        let names = ["slice in and out", "submitted", "submitted, done"];
        for (name, mut times) in names.into_iter().zip(found) {
            times.sort();
            println!(
                "relu of 1024, {name:<17}: {:>7.1} us",
                times[times.len() / 2].as_secs_f64() * 1e6
            );
        }
        Ok(())
    }
}

fn near(found: f32, exact: f64, tolerance: f64) -> Outcome {
    if (f64::from(found) - exact).abs() <= tolerance {
        return Ok(());
    }
    Err(format!("{found} where {exact} is right").into())
}
