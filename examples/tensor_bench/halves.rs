//! Times operations on tensors of 16 bits that do little arithmetic an element: steps, sums, softmax and norms.

use pagepress::tensor::layer::Norm;
use pagepress::tensor::{BufferId, DType, GpuCommandBatch, GpuTensor, Reduction, Step};

use crate::bench::{Outcome, numbers};
use crate::{Bench, near};

/// An operation: its name, bytes that it reads and writes an element, and its recording on two tensors, weights and biases.
type Case = (
    &'static str,
    usize,
    fn(&mut GpuCommandBatch, &[BufferId]) -> BufferId,
);

const CASES: [Case; 6] = [
    ("gelu", 4, |batch, ids| {
        batch.apply(&[Step::Gelu], ids[0], None)
    }),
    ("add+gelu", 6, |batch, ids| {
        batch.apply(&[Step::Add, Step::Gelu], ids[0], Some(ids[1]))
    }),
    ("sum", 2, |batch, ids| batch.reduce(Reduction::Sum, ids[0])),
    ("softmax", 4, |batch, ids| batch.softmax(ids[0])),
    ("rms norm", 4, |batch, ids| {
        batch.norm(Norm::Rms { epsilon: 1e-5 }, ids[0], Some(ids[2]), None)
    }),
    ("layer norm", 4, |batch, ids| {
        let norm = Norm::Layer { epsilon: 1e-5 };
        batch.norm(norm, ids[0], Some(ids[2]), Some(ids[2]))
    }),
];

impl Bench {
    pub(crate) async fn halves(&self) -> Outcome {
        let shapes: &[[usize; 2]] = match self.is_small {
            true => &[[64, 4096]],
            false => &[[4096, 32_768], [131_072, 1024], [4096, 8192]],
        };
        for &[rows, cols] in shapes {
            for dtype in [DType::F16, DType::BF16] {
                let tensors = [
                    self.half(dtype, &[rows, cols], 20).await?,
                    self.half(dtype, &[rows, cols], 21).await?,
                    self.half(dtype, &[cols], 22).await?,
                ];
                for (name, bytes_each, queue) in CASES {
                    self.check(&tensors, queue).await?;
                    let seconds = self.seconds(8, &tensors.each_ref(), queue).await?;
                    let name = format!("{dtype:?} {name} {rows}x{cols}");
                    Self::print_bytes(&name, bytes_each * rows * cols, seconds);
                }
            }
        }
        Ok(())
    }

    async fn half(&self, dtype: DType, dims: &[usize], seed: u64) -> Outcome<GpuTensor> {
        let values = numbers(dims.iter().product(), seed);
        Ok(self.tensor(&values, dims).await?.cast_async(dtype).await?)
    }

    /// Compares an operation with the same on the tensors as f32.
    async fn check(
        &self,
        tensors: &[GpuTensor; 3],
        queue: fn(&mut GpuCommandBatch, &[BufferId]) -> BufferId,
    ) -> Outcome {
        let mut results = Vec::new();
        for dtype in [tensors[0].dtype(), DType::F32] {
            let mut batch = GpuCommandBatch::new(self.device.clone());
            let mut ids = Vec::new();
            for tensor in tensors {
                ids.push(batch.tensor(&tensor.cast_async(dtype).await?));
            }
            let result = queue(&mut batch, &ids);
            batch.execute_async().await?;
            results.push(batch.result_async(result).await?.to_vec_async().await?);
        }
        for (found, exact) in results[0].iter().zip(&results[1]) {
            near(
                *found,
                f64::from(*exact),
                1e-3 + f64::from(exact.abs()) / 200.0,
            )?;
        }
        Ok(())
    }
}
