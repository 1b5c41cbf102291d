//! Softmax on the device.

use super::run::{Operand, Recording, word};
use crate::Result;
use crate::gpu::{Backend, Buffer};
use crate::kernels::Slot;
use crate::kernels::tensor::{SoftmaxLimits, softmax_job};

impl Recording {
    /// Makes `out` of `a`: the softmax over the last axis or, for `log`, its logarithm.
    pub(super) async fn softmax(&mut self, log: bool, a: Operand<'_>, out: &Buffer) -> Result<()> {
        let n = word(a.view.shape().n_elements())?;
        if n == 0 {
            return Ok(());
        }
        let cols = a.view.shape().dims().last().map_or(1, |&cols| cols as u64);
        let (buffer, start) = self.dense(a).await?;
        let capabilities = self.device().capabilities();
        let limits = SoftmaxLimits {
            invocations: capabilities.max_workgroup_invocations,
            workgroup_bytes: capabilities.max_workgroup_bytes,
        };
        let job = softmax_job(u64::from(n) / cols, cols, log, limits);
        self.run(&job, &[(Slot::A, &buffer, start), (Slot::Out, out, 0)])
            .await
    }
}
