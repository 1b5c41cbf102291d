//! Operations of a device on arrays of JavaScript, in and out.

use js_sys::Float32Array;
use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{Given, call, reduction_from, shape_from, sizes_from, steps_from};
use super::device::WebDevice;
use crate::gpu::GpuDevice;
use crate::tensor::{GpuTensor, Shape, rows_shape};
use crate::{Error, Result};

/// Each operation reads its arrays at the first poll.
#[expect(
    clippy::missing_errors_doc,
    reason = "errors are those of the methods of `GpuDevice`"
)]
#[wasm_bindgen(js_class = Device)]
impl WebDevice {
    /// All steps in turn of `a`; those that take two take the element of `b`, which is as long.
    pub fn elementwise(
        &self,
        names: &str,
        numbers: &[f32],
        a: Float32Array,
        b: Option<Float32Array>,
    ) -> Given<Call> {
        let (device, steps) = (self.0.clone(), steps_from(names, numbers)?);
        Ok(call(async move {
            let Some(b) = b else {
                let a = vector(&device, &a).await?;
                return a.apply_async(&steps).await?.to_js_async().await;
            };
            check_same_length(&a, &b)?;
            let (a, b) = (vector(&device, &a).await?, vector(&device, &b).await?);
            a.combine_async(&steps, &b).await?.to_js_async().await
        }))
    }

    /// The sum of products, in an array.
    #[must_use]
    pub fn dot(&self, a: Float32Array, b: Float32Array) -> Call {
        let device = self.0.clone();
        call(async move {
            check_same_length(&a, &b)?;
            let (a, b) = (vector(&device, &a).await?, vector(&device, &b).await?);
            a.dot_async(&b).await?.to_js_async().await
        })
    }

    /// The softmax of each row of `cols` elements, or its logarithm.
    #[must_use]
    pub fn softmax(&self, log: bool, a: Float32Array, cols: u32) -> Call {
        let device = self.0.clone();
        call(async move {
            let shape = rows_shape(a.length() as usize, cols as usize)?;
            let a = GpuTensor::from_js_async(&device, &a, shape).await?;
            let rows = match log {
                true => a.log_softmax_async().await?,
                false => a.softmax_async().await?,
            };
            rows.to_js_async().await
        })
    }

    /// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
    pub fn matmul(&self, a: Float32Array, b: Float32Array, m: u32, k: u32, n: u32) -> Given<Call> {
        let shapes = [shape_from(&[m, k])?, shape_from(&[k, n])?];
        let device = self.0.clone();
        Ok(call(async move {
            let [a, b] = both(&device, [("a", &a), ("b", &b)], shapes).await?;
            a.matmul_async(&b).await?.to_js_async().await
        }))
    }

    /// The convolution of a picture of `size` rows and columns with a kernel of `kernel_size`, where it fits.
    pub fn convolve2d(
        &self,
        input: Float32Array,
        kernel: Float32Array,
        size: &[u32],
        kernel_size: &[u32],
    ) -> Given<Call> {
        let shapes = [shape_from(size)?, shape_from(kernel_size)?];
        let device = self.0.clone();
        Ok(call(async move {
            let given = [("input", &input), ("kernel", &kernel)];
            let [input, kernel] = both(&device, given, shapes).await?;
            input.convolve2d_async(&kernel).await?.to_js_async().await
        }))
    }

    /// Reduces some axes of an array of this shape.
    pub fn reduce(
        &self,
        reduction: &str,
        a: Float32Array,
        dims: &[u32],
        axes: &[u32],
    ) -> Given<Call> {
        let (reduction, shape) = (reduction_from(reduction)?, shape_from(dims)?);
        let (device, axes) = (self.0.clone(), sizes_from(axes));
        Ok(call(async move {
            let a = GpuTensor::from_js_async(&device, &a, shape).await?;
            a.reduce_async(reduction, &axes).await?.to_js_async().await
        }))
    }
}

async fn vector(device: &GpuDevice, values: &Float32Array) -> Result<GpuTensor> {
    let shape = Shape::vector(values.length() as usize);
    GpuTensor::from_js_async(device, values, shape).await
}

/// Two tensors of these names and shapes.
async fn both(
    device: &GpuDevice,
    given: [(&'static str, &Float32Array); 2],
    shapes: [Shape; 2],
) -> Result<[GpuTensor; 2]> {
    for ((name, values), shape) in given.iter().zip(&shapes) {
        let (actual, expected) = (values.length().into(), shape.n_elements() as u64);
        if actual != expected {
            return Err(Error::LengthMismatch {
                name,
                expected,
                actual,
            });
        }
    }
    let [a_shape, b_shape] = shapes;
    let a = GpuTensor::from_js_async(device, given[0].1, a_shape).await?;
    let b = GpuTensor::from_js_async(device, given[1].1, b_shape).await?;
    Ok([a, b])
}

fn check_same_length(a: &Float32Array, b: &Float32Array) -> Result<()> {
    if a.length() == b.length() {
        return Ok(());
    }
    Err(Error::LengthMismatch {
        name: "b",
        expected: a.length().into(),
        actual: b.length().into(),
    })
}
