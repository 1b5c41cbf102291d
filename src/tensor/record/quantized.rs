//! Records products with packed weights.

use super::{Operand, Recording};
use crate::Result;
use crate::gpu::{Backend, Buffer};
use crate::kernels::Slot;
use crate::kernels::tensor::{QuantizedProduct, matmul_quantized_job};
use crate::tensor::Quantization;

impl Recording {
    /// Multiplies rows, `[m, k]`, by the transpose of packed weights, `[n, k]`, and writes the result to `out`. The
    /// words of `weights` are the packed bytes.
    pub(crate) async fn matmul_quantized(
        &mut self,
        (quantization, [n, k]): (Quantization, [usize; 2]),
        rows: Operand<'_>,
        weights: Operand<'_>,
        out: &Buffer,
    ) -> Result<()> {
        let format = (quantization, false);
        self.matmul_packed(format, [n, k], [rows, weights], out)
            .await
    }

    /// Multiplies rows by packed weights, as [`matmul_quantized`](Self::matmul_quantized) does. `is_bfloat` is true if
    /// weights of [`Quantization::F16`] are bfloat16 instead.
    pub(crate) async fn matmul_packed(
        &mut self,
        (quantization, is_bfloat): (Quantization, bool),
        [n, k]: [usize; 2],
        [rows, weights]: [Operand<'_>; 2],
        out: &Buffer,
    ) -> Result<()> {
        let m = rows.view.shape().dims().first().copied().unwrap_or(0);
        if m * n == 0 {
            return Ok(());
        }
        if k == 0 {
            return self.fill(0.0, m * n, out).await;
        }
        let (a, a_start) = self.dense(rows).await?;
        let (b, b_start) = self.dense(weights).await?;
        let what = QuantizedProduct {
            quantization,
            is_bfloat,
            m: m as u64,
            n: n as u64,
            k: k as u64,
        };
        let job = matmul_quantized_job(&what, self.device().capabilities().max_binding_bytes)?;
        let given = [
            (Slot::A, &a, a_start),
            (Slot::B, &b, b_start),
            (Slot::Out, out, 0),
        ];
        self.run(&job, &given).await
    }
}
