//! [`Matrix`]: a matrix of a layer on the device, as it is stored, and its products.

use super::projection::Rows;
use super::weights::{Form, Weights};
use crate::Result;
use crate::gpu::{Backend, Buffer, GpuDevice, Sized64};
#[cfg(not(target_arch = "wasm32"))]
use crate::kernels::tensor::FEW_ROWS;
use crate::kernels::tensor::padded_bytes;
use crate::tensor::record::{AnyOperand, Operand, Recording, factors};
use crate::tensor::{DType, Epilogue, Precision, Quantization, Shape, TensorView};

/// A matrix from inputs to outputs, stored as `[outputs, inputs]`.
#[derive(Debug)]
pub(super) struct Matrix {
    buffer: Buffer,
    form: Form,
    outputs: usize,
    inputs: usize,
    precision: Precision,
}

impl Matrix {
    /// Uploads values whose number was checked, and waits, so that staging memory is not needed for all weights at once.
    pub(super) async fn upload(
        device: &GpuDevice,
        values: Weights<'_>,
        size: [usize; 2],
        precision: Precision,
    ) -> Result<Self> {
        let bytes: &[u8] = match values {
            Weights::F32(values) => bytemuck::cast_slice(values),
            Weights::Bits(_, bits) => bytemuck::cast_slice(bits),
            Weights::Packed(_, bytes) => bytes,
        };
        let buffer = upload_bytes(device, bytes).await?;
        Ok(Self::of(buffer, values.form().0, size, precision))
    }

    /// Returns the matrix whose values, of which the number was checked, are in a buffer.
    pub(super) const fn of(
        buffer: Buffer,
        form: Form,
        [outputs, inputs]: [usize; 2],
        precision: Precision,
    ) -> Self {
        Self {
            buffer,
            form,
            outputs,
            inputs,
            precision,
        }
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.buffer.n_bytes()
    }

    pub(super) const fn outputs(&self) -> usize {
        self.outputs
    }

    /// Records the product of rows and this matrix, with an epilogue; returns the rows of the result.
    pub(super) async fn product(
        &self,
        recording: &mut Recording,
        rows: Operand<'_>,
        epilogue: Epilogue<Operand<'_>>,
    ) -> Result<Rows> {
        let m = rows.view.shape().dims()[0];
        let out = Rows::new(recording, m, self.outputs)?;
        match self.form {
            Form::As(DType::F32) if self.precision != Precision::F32 => {
                self.product_of_any(
                    recording,
                    [rows, out.operand()].map(wide),
                    DType::F32,
                    epilogue,
                )
                .await?;
            }
            Form::As(DType::F32) => {
                let factors = factors(rows.view, &self.view()?)?;
                let epilogue = recording.dense_epilogue(epilogue).await?;
                let buffers = [rows.buffer, &self.buffer];
                recording
                    .matmul_finished(buffers, &factors, &epilogue, &out.buffer)
                    .await?;
            }
            Form::Packed(quantization) => {
                self.packed_product(recording, (quantization, false), rows, &out)
                    .await?;
                return out.finished(recording, epilogue).await;
            }
            // On matrix units, rows are rounded to the type of the matrix.
            #[cfg(not(target_arch = "wasm32"))]
            Form::As(dtype) if m as u64 > FEW_ROWS && recording.matrix_units(dtype).is_some() => {
                let buffer = recording.allocate_of(dtype, rows.view.shape().n_elements())?;
                recording.cast(wide(rows), dtype, &buffer).await?;
                let view = TensorView::new(rows.view.shape().clone());
                let rounded = AnyOperand {
                    buffer: &buffer,
                    view: &view,
                    dtype,
                };
                self.product_of_any(recording, [rounded, wide(out.operand())], dtype, epilogue)
                    .await?;
            }
            // Halves need no conversion to f32 in memory where the kernel of packed weights takes them.
            Form::As(dtype) if Quantization::F16.check_row(self.inputs).is_ok() => {
                let format = (Quantization::F16, dtype == DType::BF16);
                self.packed_product(recording, format, rows, &out).await?;
                return out.finished(recording, epilogue).await;
            }
            Form::As(dtype) => {
                self.product_of_any(recording, [rows, out.operand()].map(wide), dtype, epilogue)
                    .await?;
            }
        }
        Ok(out)
    }

    /// Records the product with the words of the matrix, in a format that [`Recording::matmul_packed`] takes.
    async fn packed_product(
        &self,
        recording: &mut Recording,
        format: (Quantization, bool),
        rows: Operand<'_>,
        out: &Rows,
    ) -> Result<()> {
        let n_words = usize::try_from(self.buffer.n_bytes() / 4).unwrap_or(usize::MAX);
        let words = Operand {
            buffer: &self.buffer,
            view: &TensorView::new(Shape::vector(n_words)),
        };
        let size = [self.outputs, self.inputs];
        recording
            .matmul_packed(format, size, [rows, words], self.precision, &out.buffer)
            .await
    }

    async fn product_of_any(
        &self,
        recording: &mut Recording,
        [rows, out]: [AnyOperand<'_>; 2],
        dtype: DType,
        epilogue: Epilogue<Operand<'_>>,
    ) -> Result<()> {
        let epilogue = epilogue.form().with(epilogue.tensors().map(wide));
        let matrix = AnyOperand {
            buffer: &self.buffer,
            view: &self.view()?,
            dtype,
        };
        recording
            .matmul_of_any([rows, matrix], self.precision, epilogue, out)
            .await
    }

    /// Returns the view of the matrix as the right factor, `[inputs, outputs]`.
    fn view(&self) -> Result<TensorView> {
        TensorView::new(Shape::new(&[self.outputs, self.inputs])?).transpose(0, 1)
    }
}

fn wide(rows: Operand<'_>) -> AnyOperand<'_> {
    AnyOperand {
        buffer: rows.buffer,
        view: rows.view,
        dtype: DType::F32,
    }
}

/// Uploads bytes as words, of which the last is padded with zeros.
async fn upload_bytes(device: &GpuDevice, bytes: &[u8]) -> Result<Buffer> {
    let buffer = device.allocate_uncleared(padded_bytes(bytes.len().div_ceil(4) as u64))?;
    let (words, rest) = bytes.split_at(bytes.len() / 4 * 4);
    device.upload_async(&buffer, 0, words).await?;
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        device
            .upload_async(&buffer, words.len() as u64, &last)
            .await?;
    }
    Ok(buffer)
}
