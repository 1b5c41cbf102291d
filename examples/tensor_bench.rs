//! Checks operations on tensors, then times them on data in device memory.
//!
//! `cargo run --release --features cuda --example tensor_bench -- --engine cuda` (or `wgpu`); `--small` uses smaller
//! tensors, `--products` times matrix products alone, `--software` allows a software GPU. Each figure is the median of five submissions of several launches each,
//! by device timestamps.

mod bench;

use std::time::{Duration, Instant};

use bench::{Arguments, Outcome, numbers};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, GpuDevice};
use pagepress::tensor::{
    Activation, BufferId, DType, Epilogue, GpuCommandBatch, GpuTensor, Precision, Reduction, Shape,
    Step, cpu,
};

fn main() -> Outcome {
    let arguments = Arguments::new();
    let device = arguments.device()?;
    let bench = Bench {
        device,
        is_small: arguments.has("--small"),
    };
    block_on(async {
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
    async fn products(&self) -> Outcome {
        self.matmul().await?;
        self.matmul_on_units(DType::F32, Precision::Tf32).await?;
        for dtype in [DType::F16, DType::BF16] {
            self.matmul_on_units(dtype, Precision::F32).await?;
        }
        for dtype in [DType::F32, DType::F16] {
            self.epilogues(dtype).await?;
        }
        Ok(())
    }

    async fn others(&self) -> Outcome {
        self.elementwise().await?;
        self.reductions().await?;
        self.softmax().await?;
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

    fn sizes_of_matrices(&self) -> &'static [usize] {
        if self.is_small {
            &[64, 256]
        } else {
            &[512, 1024, 2048, 4096, 8192]
        }
    }

    async fn matmul(&self) -> Outcome {
        for &n in self.sizes_of_matrices() {
            let (a, b) = (numbers(n * n, 2), numbers(n * n, 3));
            let on_device = [
                self.tensor(&a, &[n, n]).await?,
                self.tensor(&b, &[n, n]).await?,
            ];
            let product = on_device[0]
                .matmul_async(&on_device[1])
                .await?
                .to_vec_async()
                .await?;
            for (i, j) in [(0, 0), (n / 2, n / 3), (n - 1, n - 1), (n / 7, n - 5)] {
                let terms = (0..n).map(|k| f64::from(a[i * n + k]) * f64::from(b[k * n + j]));
                near(product[i * n + j], terms.sum(), 1e-5 * n as f64)?;
            }
            let [a, b] = &on_device;
            let n_times = (1 << 36) / (n * n * n).max(1 << 30);
            let seconds = self
                .seconds(n_times.clamp(2, 20), &[a, b], |batch, ids| {
                    batch.matmul(ids[0], ids[1], n, n, n)
                })
                .await?;
            let flops = 2.0 * (n as f64).powi(3);
            println!(
                "matmul {n:>5}: {:>9.1} us  {:>7.2} TFLOP/s",
                seconds * 1e6,
                flops / seconds / 1e12
            );
        }
        Ok(())
    }

    /// Times products with results of f32 that matrix units can compute, by the host's clock over many of them.
    async fn matmul_on_units(&self, dtype: DType, precision: Precision) -> Outcome {
        let is_tf32 = precision == Precision::Tf32 && self.device.capabilities().tf32_matrices;
        let name = if is_tf32 {
            "TF32".to_owned()
        } else {
            format!("{dtype:?}")
        };
        let multiply = async |a: &GpuTensor, b: &GpuTensor| match dtype {
            DType::F32 => a.matmul_with_async(b, precision).await,
            _ => a.matmul_to_async(b, DType::F32).await,
        };
        for &n in self.sizes_of_matrices() {
            let a = self.tensor(&numbers(n * n, 2), &[n, n]).await?;
            let b = self.tensor(&numbers(n * n, 3), &[n, n]).await?;
            let (a, b) = (a.cast_async(dtype).await?, b.cast_async(dtype).await?);
            let product = multiply(&a, &b).await?;
            let [a_values, b_values, product] = [&a, &b, &product].map(GpuTensor::to_vec_async);
            let (a_values, b_values, product) = (a_values.await?, b_values.await?, product.await?);
            for (i, j) in [(0, 0), (n / 2, n / 3), (n - 1, n - 1), (n / 7, n - 5)] {
                let factors = (0..n).map(|k| [a_values[i * n + k], b_values[k * n + j]]);
                let terms = factors.map(|factors| {
                    let [a, b] = if is_tf32 {
                        factors.map(rounded_to_tf32)
                    } else {
                        factors
                    };
                    f64::from(a) * f64::from(b)
                });
                near(product[i * n + j], terms.sum(), 1e-5 * n as f64)?;
            }
            let run = async || multiply(&a, &b).await.map(drop);
            let seconds = self.seconds_by_host(n, run).await?;
            println!(
                "matmul {n:>5} {name}: {:>9.1} us  {:>7.2} TFLOP/s",
                seconds * 1e6,
                2.0 * (n as f64).powi(3) / seconds / 1e12
            );
        }
        Ok(())
    }

    /// Times products of factors of a type with bias, GELU and residual of f32: at once, and in steps after the product.
    async fn epilogues(&self, dtype: DType) -> Outcome {
        for &n in self.sizes_of_matrices() {
            let a = self.tensor(&numbers(n * n, 2), &[n, n]).await?;
            let b = self.tensor(&numbers(n * n, 3), &[n, n]).await?;
            let (a, b) = (a.cast_async(dtype).await?, b.cast_async(dtype).await?);
            let bias = self.tensor(&numbers(n, 4), &[n]).await?;
            let residual = self.tensor(&numbers(n * n, 5), &[n, n]).await?;
            let epilogue = Epilogue {
                bias: Some(&bias),
                activation: Some(Activation::Gelu),
                residual: Some(&residual),
            };
            let in_steps = async || {
                let product = a.matmul_to_async(&b, DType::F32).await?;
                let steps = [Step::Add, Step::Gelu];
                let made = product.combine_async(&steps, &bias).await?;
                made.combine_async(&[Step::Add], &residual).await
            };
            let at_once = async || {
                let precision = Precision::F32;
                a.matmul_with_epilogue_async(&b, precision, epilogue).await
            };
            let [found, wanted] = [at_once().await?, in_steps().await?];
            let (found, wanted) = (found.to_vec_async().await?, wanted.to_vec_async().await?);
            for (&found, &wanted) in found.iter().zip(&wanted) {
                near(found, wanted.into(), 1e-4 * n as f64)?;
            }
            let alone = async || a.matmul_to_async(&b, DType::F32).await.map(drop);
            let product = self.seconds_by_host(n, alone).await?;
            let once = async || at_once().await.map(drop);
            let once = self.seconds_by_host(n, once).await?;
            let steps = async || in_steps().await.map(drop);
            let steps = self.seconds_by_host(n, steps).await?;
            println!(
                "epilogue {n:>5} {dtype:?}: {:>9.1} us at once, {:>9.1} in steps, {:>9.1} without",
                once * 1e6,
                steps * 1e6,
                product * 1e6
            );
        }
        Ok(())
    }

    /// Returns the seconds per call of an operation on matrices of `n` rows and columns, by the host's clock over many calls.
    async fn seconds_by_host(
        &self,
        n: usize,
        run: impl AsyncFn() -> pagepress::Result<()>,
    ) -> Outcome<f64> {
        let n_times = ((1 << 38) / (n * n * n).max(1 << 27)).clamp(8, 200);
        let mut found = Vec::new();
        let warm_up = Duration::from_millis(if self.is_small { 0 } else { 700 });
        let begin = Instant::now();
        while found.len() < 5 {
            let is_warm = begin.elapsed() > warm_up;
            let started = Instant::now();
            for _ in 0..n_times {
                run().await?;
            }
            self.device.synchronize_async().await?;
            if is_warm {
                found.push(started.elapsed().as_secs_f64() / n_times as f64);
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

    async fn softmax(&self) -> Outcome {
        let shapes: &[[usize; 2]] = match self.is_small {
            true => &[[64, 4096]],
            false => &[
                [4096, 32_768],
                [131_072, 1024],
                [65_536, 8192],
                [512, 262_144],
            ],
        };
        for &[rows, cols] in shapes {
            let most = self.device.capabilities().max_binding_bytes;
            if 4 * (rows * cols) as u64 >= most {
                println!("softmax {rows}x{cols}: more than the {most} bytes of a binding");
                continue;
            }
            let a = numbers(rows * cols, 8);
            let a_on = self.tensor(&a, &[rows, cols]).await?;
            let found = a_on.softmax_async().await?.to_vec_async().await?;
            let mut exact = vec![0.0; cols];
            for row in [0, rows / 2, rows - 1] {
                let range = row * cols..(row + 1) * cols;
                cpu::softmax(&a[range.clone()], cols, &mut exact)?;
                for (found, exact) in found[range].iter().zip(&exact) {
                    near(*found, f64::from(*exact), 1e-6)?;
                }
            }
            let seconds = self
                .seconds(4, &[&a_on], |batch, ids| batch.softmax(ids[0]))
                .await?;
            Self::print_bytes(&format!("softmax {rows}x{cols}"), 8 * rows * cols, seconds);
        }
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

/// Returns a finite number rounded to TF32: to nearest, ties away from zero.
fn rounded_to_tf32(x: f32) -> f32 {
    f32::from_bits(x.to_bits().wrapping_add(0x1000) & !0x1fff)
}

fn near(found: f32, exact: f64, tolerance: f64) -> Outcome {
    if (f64::from(found) - exact).abs() <= tolerance {
        return Ok(());
    }
    Err(format!("{found} where {exact} is right").into())
}
