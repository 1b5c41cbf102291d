//! Transfers between tensors and JavaScript arrays, without a copy in the module's memory, and operations on such
//! arrays.

use std::future::poll_fn;
use std::pin::pin;

use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::arrays::{Array, Elements};
use super::backend::GpuBackend;
use super::batch::{BufferId, GpuCommandBatch};
use super::resident::GpuTensor;
use crate::Result;
use crate::gpu::{Buffer, GpuDevice, HostUse, Place, Recorder, Sized64};
use crate::js_bytes::JsBytes;
use crate::tensor::op::Op;
use crate::tensor::record::{Download, Recording};
use crate::tensor::{Shape, TensorView, check_dims};

impl Recording {
    /// Records the copy of an array, passed as its bytes, to a new buffer. The array is read before the future first
    /// suspends.
    pub(super) async fn upload_js(&mut self, values: &JsBytes) -> Result<Buffer> {
        let buffer = self.allocate(values.len() / 4)?;
        if values.len() > 0 {
            let n_bytes = values.len() as u64;
            let host = self
                .device()
                .allocate_host_uncleared(n_bytes, HostUse::Upload)?;
            host.write_js_async(0, values, 0..values.len()).await?;
            let (to, from) = (Place::Device(&buffer, 0), Place::Host(&host, 0));
            self.stream.copy(to, from, n_bytes)?;
        }
        Ok(buffer)
    }
}

impl Download {
    /// Waits for the elements, after the recording was submitted, and copies them to a new array; returns its bytes.
    ///
    /// Two parts are mapped at a time: the browser copies one to the memory of the page while the page copies the other.
    pub(super) async fn into_js_async(self) -> Result<JsBytes> {
        let n_bytes: u64 = self.0.iter().map(Sized64::n_bytes).sum();
        let array = JsBytes::zeros(n_bytes as usize)?;
        let out = array.clone();
        let mut at = 0;
        let reads = self.0.iter().map(|host| {
            let start = at;
            at += host.n_bytes() as usize;
            host.read_js_async(0..host.n_bytes(), &out, start)
        });
        let mut all = pin!(stream::iter(reads).buffered(2).try_collect::<()>());
        let mut is_touched = self.0.len() < 2;
        let done = poll_fn(|context| {
            let polled = all.as_mut().poll(context);
            if polled.is_pending() && !is_touched {
                is_touched = true;
                out.touch(0..out.len());
            }
            polled
        });
        done.await?;
        Ok(array)
    }
}

impl GpuTensor {
    /// Uploads an array, passed as its bytes, as a tensor. The array is read before the future first suspends.
    pub(crate) async fn from_js_async(
        device: &GpuDevice,
        values: &JsBytes,
        shape: Shape,
    ) -> Result<Self> {
        check_dims("data", values.len() / 4, shape.dims())?;
        let mut recording = Recording::new(device);
        let buffer = recording.upload_js(values).await?;
        recording.submit_untimed()?;
        Ok(Self::new(device, buffer, TensorView::new(shape)))
    }

    /// Copies the elements to a new array, row-major; returns its bytes.
    pub(crate) async fn to_js_async(&self) -> Result<JsBytes> {
        self.download().await?.into_js_async().await
    }
}

impl GpuCommandBatch {
    /// Queues the upload of a vector, passed as the bytes of an array.
    pub(crate) fn upload_js(&mut self, values: &JsBytes) -> Result<BufferId> {
        Ok(self.upload(&Elements::Js(values).floats()?))
    }
}

/// An operation on JavaScript arrays, passed as their bytes.
#[derive(Debug)]
pub(crate) struct JsCall {
    pub(crate) op: Op,
    /// Arrays and their shapes.
    pub(crate) inputs: Vec<(JsBytes, Shape)>,
}

impl JsCall {
    fn arrays(&self) -> Vec<Array<'_>> {
        let arrays = self.inputs.iter().map(|(bytes, shape)| Array {
            elements: Elements::Js(bytes),
            view: TensorView::new(shape.clone()),
        });
        arrays.collect()
    }

    /// Runs the operation on a device; returns the bytes of a new array. Arrays are read before the future first
    /// suspends.
    pub(crate) async fn on_device_async(&self, device: &GpuDevice) -> Result<JsBytes> {
        let inputs = self.arrays();
        let result = self.op.result_of(&inputs)?;
        let made = device.compute_async(&self.op, &inputs, &result).await?;
        made.into_js_async().await
    }

    /// Runs the operation on the CPU or the GPU, whichever is faster; returns the bytes of a new array.
    pub(crate) async fn on_backend_async(&self, backend: &mut GpuBackend) -> Result<JsBytes> {
        let download = async |made: Download, _| made.into_js_async().await;
        let keep = |made: Vec<f32>| {
            let bytes = bytemuck::cast_slice(&made);
            let array = JsBytes::zeros(bytes.len())?;
            array.write(0, bytes)?;
            Ok(array)
        };
        let inputs = self.arrays();
        backend
            .compute_async(&self.op, &inputs, download, keep)
            .await
    }
}
