//! Normalisation of rows on the device.

use super::layer::Norm;
use super::resident::GpuTensor;
use super::run::{Operand, Recording, word};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::norm_job;

impl Recording {
    /// Makes `out` of `a`: each row of the last axis normalised, times a weight and plus a bias for each column, which
    /// are at the start of their buffers.
    pub(super) async fn norm(
        &mut self,
        norm: Norm,
        a: Operand<'_>,
        [weight, bias]: [Option<&Buffer>; 2],
        out: &Buffer,
    ) -> Result<()> {
        let n = word(a.view.shape().n_elements())?;
        if n == 0 {
            return Ok(());
        }
        let cols = a.view.shape().dims().last().map_or(1, |&cols| cols as u64);
        let (buffer, start) = self.dense(a).await?;
        let (has_weight, has_bias) = (weight.is_some(), bias.is_some());
        let job = norm_job(norm, u64::from(n) / cols, cols, has_weight, has_bias);
        let mut given = vec![(Slot::A, &buffer, start), (Slot::Out, out, 0)];
        given.extend(weight.map(|weight| (Slot::B, weight, 0)));
        given.extend(bias.map(|bias| (Slot::Bias, bias, 0)));
        self.run(&job, &given).await
    }
}

impl GpuTensor {
    /// Each row of the last axis normalised, then times `weight` and plus `bias`, which have an element for each column.
    ///
    /// # Errors
    /// [`ShapeMismatch`](crate::Error::ShapeMismatch) unless they have as many;
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for a tensor of another device;
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn norm_async(
        &self,
        norm: Norm,
        weight: Option<&Self>,
        bias: Option<&Self>,
    ) -> Result<Self> {
        let (weight, bias) = (self.columns(weight).await?, self.columns(bias).await?);
        self.made(self.shape().clone(), async |recording, out| {
            let columns = [weight.as_ref(), bias.as_ref()];
            let buffers = columns.map(|tensor| tensor.map(Self::buffer));
            recording.norm(norm, self.operand(), buffers, out).await
        })
        .await
    }

    /// A tensor with an element for each column, from the start of a buffer.
    async fn columns(&self, tensor: Option<&Self>) -> Result<Option<Self>> {
        let Some(tensor) = tensor else {
            return Ok(None);
        };
        let n = self.shape().dims().last().copied().unwrap_or(1);
        if tensor.shape().dims() != [n] {
            let expected = "weight and bias have an element for each column";
            return Err(self.shape().mismatch(tensor.shape(), "norm", expected));
        }
        let is_there = tensor.view().is_contiguous() && tensor.view().offset() == 0;
        Ok(Some(match is_there {
            true => tensor.clone(),
            false => tensor.apply_async(&[]).await?,
        }))
    }
}
