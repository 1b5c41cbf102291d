//! Times matrix products, in f32 and on matrix units, with and without an epilogue.

use std::time::{Duration, Instant};

use pagepress::gpu::Backend;
use pagepress::tensor::{Activation, DType, Epilogue, GpuTensor, Precision, Step};

use crate::bench::{Outcome, numbers};
use crate::{Bench, near};

impl Bench {
    pub(crate) async fn products(&self) -> Outcome {
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
        let n_times = ((1 << 40) / (n * n * n).max(1 << 27)).clamp(16, 200);
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
}

/// Returns a finite number rounded to TF32: to nearest, ties away from zero.
fn rounded_to_tf32(x: f32) -> f32 {
    f32::from_bits(x.to_bits().wrapping_add(0x1000) & !0x1fff)
}
