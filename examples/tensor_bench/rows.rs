//! Times operations on rows: softmax and norms.

use pagepress::gpu::Backend;
use pagepress::tensor::cpu;
use pagepress::tensor::layer::Norm;

use crate::bench::{Outcome, numbers};
use crate::{Bench, near};

impl Bench {
    pub(crate) async fn rows(&self) -> Outcome {
        self.softmax().await?;
        self.norms().await
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

    /// Times norms with weights: RMS norm, and layer norm with a bias, too.
    async fn norms(&self) -> Outcome {
        let shapes: &[[usize; 2]] = match self.is_small {
            true => &[[64, 4096]],
            false => &[[4096, 8192], [4096, 32_768], [131_072, 1024]],
        };
        let epsilon = 1e-5;
        for (name, norm) in [
            ("rms norm", Norm::Rms { epsilon }),
            ("layer norm", Norm::Layer { epsilon }),
        ] {
            for &[rows, cols] in shapes {
                let (a, weight) = (numbers(rows * cols, 9), numbers(cols, 10));
                let has_bias = matches!(norm, Norm::Layer { .. });
                let a_on = self.tensor(&a, &[rows, cols]).await?;
                let weight_on = self.tensor(&weight, &[cols]).await?;
                // The weights serve as biases, too.
                let bias_on = has_bias.then_some(&weight_on);
                let found = a_on.norm_async(norm, Some(&weight_on), bias_on).await?;
                let found = found.to_vec_async().await?;
                let mut exact = vec![0.0; cols];
                for row in [0, rows / 2, rows - 1] {
                    let range = row * cols..(row + 1) * cols;
                    let columns = [Some(&weight[..]), has_bias.then_some(&weight[..])];
                    cpu::norm(norm, &a[range.clone()], cols, columns, &mut exact)?;
                    for (found, exact) in found[range].iter().zip(&exact) {
                        near(*found, f64::from(*exact), 1e-4)?;
                    }
                }
                let seconds = self
                    .seconds(4, &[&a_on, &weight_on], |batch, ids| {
                        batch.norm(norm, ids[0], Some(ids[1]), has_bias.then_some(ids[1]))
                    })
                    .await?;
                let name = format!("{name} {rows}x{cols}");
                Self::print_bytes(&name, 8 * rows * cols, seconds);
            }
        }
        Ok(())
    }
}
