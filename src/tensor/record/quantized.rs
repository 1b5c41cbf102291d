//! Records products with packed weights.

use super::{Operand, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::{QuantizedProduct, matmul_quantized_job};
use crate::tensor::{Precision, Quantization};
#[cfg(not(target_arch = "wasm32"))]
use crate::{
    Error,
    kernels::tensor::{FEW_ROWS, Matrix, Product, matmul_tf32_job, unpack_job},
    tensor::Epilogue,
};

impl Recording {
    /// Multiplies rows, `[m, k]`, by the transpose of packed weights, `[n, k]`, and writes the result to `out`. The words of `weights` are the
    /// packed bytes. `is_bfloat` is true if weights of [`Quantization::F16`] are bfloat16 instead.
    pub(crate) async fn matmul_packed(
        &mut self,
        (quantization, is_bfloat): (Quantization, bool),
        [n, k]: [usize; 2],
        [rows, weights]: [Operand<'_>; 2],
        precision: Precision,
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
        let factors = [(&a, a_start), (&b, b_start)];
        #[cfg(not(target_arch = "wasm32"))]
        if precision == Precision::Tf32
            && m as u64 > FEW_ROWS
            && self.unpacked_product(&what, factors, out).await?
        {
            return Ok(());
        }
        #[cfg(target_arch = "wasm32")]
        let _ = precision;
        let job = matmul_quantized_job(&what, self.limits())?;
        let [a, b] = factors;
        let given = [
            (Slot::A, a.0, a.1),
            (Slot::B, b.0, b.1),
            (Slot::Out, out, 0),
        ];
        let terms = what.m.saturating_mul(what.n).saturating_mul(what.k);
        self.run_long(&job, &given, terms).await
    }

    /// Unpacks the weights and multiplies them on matrix units, which round rows and weights to TF32. Records nothing and returns false where
    /// there are none, if a buffer exceeds a binding, and if there is no memory for the unpacked weights.
    #[cfg(not(target_arch = "wasm32"))]
    async fn unpacked_product(
        &mut self,
        what: &QuantizedProduct,
        [a, b]: [(&Buffer, u64); 2],
        out: &Buffer,
    ) -> Result<bool> {
        let most = self.limits().binding_bytes;
        let (Some(units), Some(unpack)) = (self.tf32_units(), unpack_job(what, most)) else {
            return Ok(false);
        };
        let QuantizedProduct { m, n, k, .. } = *what;
        let product = Product {
            batch: 1,
            m,
            n,
            k,
            a: Matrix::dense(m, k, m * k),
            b: Matrix {
                transposed: true,
                ..Matrix::dense(n, k, n * k)
            },
        };
        let job = matmul_tf32_job(&product, Epilogue::default(), units, most)?;
        let Some(job) = job else {
            return Ok(false);
        };
        let weights = match self.allocate(usize::try_from(n * k).unwrap_or(usize::MAX)) {
            Err(Error::OutOfMemory { .. }) => return Ok(false),
            weights => weights?,
        };
        let given = [(Slot::B, b.0, b.1), (Slot::Out, &weights, 0)];
        self.run(&unpack, &given).await?;
        let given = [
            (Slot::A, a.0, a.1),
            (Slot::B, &weights, 0),
            (Slot::Out, out, 0),
        ];
        self.run(&job, &given).await?;
        Ok(true)
    }
}
