//! Projections of a layer on the device: matrices with a bias or a low-rank update.

use super::matrix::Matrix;
use super::weights::{Linear, LowRank, Weights};
use crate::Result;
use crate::gpu::{Buffer, GpuDevice, Sized64};
use crate::tensor::record::{Operand, Recording};
use crate::tensor::{Epilogue, Precision, Shape, Step, TensorView};

/// Uploads values and waits, so that staging memory is not needed for all weights at once.
pub(super) async fn upload(device: &GpuDevice, values: &[f32]) -> Result<Buffer> {
    let mut recording = Recording::new(device);
    let buffer = recording.upload(values).await?;
    recording.submit()?.wait_async().await?;
    Ok(buffer)
}

/// Contiguous rows at the start of a buffer.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) buffer: Buffer,
    pub(super) view: TensorView,
}

impl Rows {
    pub(super) fn new(recording: &Recording, n: usize, width: usize) -> Result<Self> {
        let shape = Shape::new(&[n, width])?;
        Ok(Self {
            buffer: recording.allocate(shape.n_elements())?,
            view: TensorView::new(shape),
        })
    }

    pub(super) fn operand(&self) -> Operand<'_> {
        Operand {
            buffer: &self.buffer,
            view: &self.view,
        }
    }

    /// Records element-wise steps on these rows and `other`; returns the rows of the result.
    pub(super) async fn by(
        self,
        recording: &mut Recording,
        steps: &[Step],
        other: Option<Operand<'_>>,
    ) -> Result<Self> {
        let shape = self.view.shape();
        let buffer = recording.allocate(shape.n_elements())?;
        recording
            .elementwise(steps, self.operand(), other, shape, &buffer)
            .await?;
        Ok(Self { buffer, ..self })
    }

    /// Records an epilogue of these rows, as those of a product; returns the rows of the result.
    pub(super) async fn finished(
        self,
        recording: &mut Recording,
        epilogue: Epilogue<Operand<'_>>,
    ) -> Result<Self> {
        let &[m, n] = self.view.shape().dims() else {
            return Ok(self);
        };
        if epilogue.is_none() {
            return Ok(self);
        }
        let buffer = recording.allocate(m * n)?;
        let epilogue = recording.dense_epilogue(epilogue).await?;
        recording
            .finish(&epilogue, [m, n], &self.buffer, &buffer)
            .await?;
        Ok(Self { buffer, ..self })
    }
}

/// A matrix and an optional bias of its outputs.
#[derive(Debug)]
pub(super) struct Projection {
    pub(super) matrix: Matrix,
    pub(super) bias: Option<Buffer>,
}

impl Projection {
    pub(super) async fn upload(
        device: &GpuDevice,
        linear: &Linear<'_>,
        size: [usize; 2],
        precision: Precision,
    ) -> Result<Self> {
        Ok(Self {
            matrix: Matrix::upload(device, linear.weights, size, precision).await?,
            bias: match linear.bias {
                Some(bias) => Some(upload(device, bias).await?),
                None => None,
            },
        })
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.matrix.n_bytes() + self.bias.as_ref().map_or(0, Sized64::n_bytes)
    }

    /// Records the outputs of rows, with a low-rank update if there is one, and of what `after` has: its activation and its residual.
    pub(super) async fn apply(
        &self,
        recording: &mut Recording,
        rows: Operand<'_>,
        low_rank: Option<&LowRankPair>,
        after: Epilogue<Operand<'_>>,
    ) -> Result<Rows> {
        let view = TensorView::new(Shape::vector(self.matrix.outputs()));
        let bias = self.bias.as_ref().map(|buffer| Operand {
            buffer,
            view: &view,
        });
        let epilogue = Epilogue { bias, ..after };
        let Some(low_rank) = low_rank else {
            return self.matrix.product(recording, rows, epilogue).await;
        };
        let plain = Epilogue::default();
        let out = self.matrix.product(recording, rows, plain).await?;
        let more = low_rank.product(recording, rows).await?;
        let steps = [Step::Scale(low_rank.scale), Step::Add];
        let out = more.by(recording, &steps, Some(out.operand())).await?;
        out.finished(recording, epilogue).await
    }
}

/// A low-rank update `scale` b a.
#[derive(Debug)]
pub(super) struct LowRankPair {
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    pub(super) scale: f32,
}

impl LowRankPair {
    pub(super) async fn upload(
        device: &GpuDevice,
        pair: &LowRank<'_>,
        [outputs, rank, inputs]: [usize; 3],
        scale: f32,
    ) -> Result<Self> {
        let upload = async |values, size| {
            Matrix::upload(device, Weights::F32(values), size, Precision::F32).await
        };
        Ok(Self {
            a: upload(pair.a, [rank, inputs]).await?,
            b: upload(pair.b, [outputs, rank]).await?,
            scale,
        })
    }

    async fn product(&self, recording: &mut Recording, rows: Operand<'_>) -> Result<Rows> {
        let plain = Epilogue::default();
        let low = self.a.product(recording, rows, plain).await?;
        self.b.product(recording, low.operand(), plain).await
    }
}
