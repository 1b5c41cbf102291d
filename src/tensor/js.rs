//! Tensors from and to arrays of JavaScript, without a copy through the module's memory.

use super::check_len;
use super::resident::GpuTensor;
use super::run::Recording;
use super::shape::Shape;
use crate::Result;
use crate::gpu::{Backend, GpuDevice, HostUse, Place, Recorder, Sized64};
use crate::js::Bytes;

impl GpuTensor {
    /// A tensor of the elements of an array, given as its bytes, which are read before this waits for anything.
    pub(crate) async fn from_js_async(
        device: &GpuDevice,
        values: &Bytes,
        shape: Shape,
    ) -> Result<Self> {
        let n = shape.n_elements();
        check_len("data", values.len() / 4, n as u64)?;
        let mut recording = Recording::new(device);
        let buffer = recording.allocate(n)?;
        if n > 0 {
            let n_bytes = 4 * n as u64;
            let host = device.allocate_host(n_bytes, HostUse::Upload)?;
            let mapped = host.mapped_async(0..n_bytes, HostUse::Upload).await?;
            mapped.copy(0, values, 0..4 * n)?;
            let (to, from) = (Place::Device(&buffer, 0), Place::Host(&host, 0));
            recording.stream.copy(to, from, n_bytes)?;
        }
        recording.submit()?;
        Ok(Self::new(device, buffer, shape))
    }

    /// Copies the elements to a new array, the last axis innermost; gives its bytes.
    pub(crate) async fn to_js_async(&self) -> Result<Bytes> {
        let Some(host) = self.download().await?.0 else {
            return Bytes::zeros(0);
        };
        let n_bytes = host.n_bytes();
        let out = Bytes::zeros(n_bytes as usize)?;
        host.read_mapped_async(0..n_bytes, |mapped| out.copy(0, mapped, 0..mapped.len()))
            .await??;
        Ok(out)
    }
}
