//! Operations of a device on arrays of JavaScript, in and out. Arrays are read at the first poll.

use super::convert::{array, reading, reduction, shape, sizes, steps};
use crate::gpu::GpuDevice;
use crate::js::Bytes;
use crate::tensor::{GpuTensor, Shape, rows_shape};
use crate::web::call::Call;
use crate::{Error, Result};

/// All steps in turn of `a`; those that take two take the element of `b`, if it is there, which is as long.
#[unsafe(no_mangle)]
extern "C" fn device_elementwise(device: &GpuDevice, numbers: u32, a: u32, b: u32) -> *mut Call {
    let (device, steps, a) = (device.clone(), steps(numbers), array(a));
    let b = (b != 0).then(|| array(b));
    reading(Box::pin(async move {
        let (steps, a) = (steps?, a?);
        let Some(b) = b else {
            return vector(&device, &a).await?.apply_async(&steps).await;
        };
        let [a, b] = vectors(&device, &a, &b?).await?;
        a.combine_async(&steps, &b).await
    }))
}

/// The sum of products, in an array.
#[unsafe(no_mangle)]
extern "C" fn device_dot(device: &GpuDevice, a: u32, b: u32) -> *mut Call {
    let (device, a, b) = (device.clone(), array(a), array(b));
    reading(Box::pin(async move {
        let [a, b] = vectors(&device, &a?, &b?).await?;
        a.dot_async(&b).await
    }))
}

/// The softmax of each row of `cols` elements, or its logarithm.
#[unsafe(no_mangle)]
extern "C" fn device_softmax(device: &GpuDevice, log: bool, a: u32, cols: usize) -> *mut Call {
    let (device, a) = (device.clone(), array(a));
    reading(Box::pin(async move {
        let a = a?;
        let shape = rows_shape(a.len() / 4, cols)?;
        let a = GpuTensor::from_js_async(&device, &a, shape).await?;
        a.softmax_of(log).await
    }))
}

/// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
#[unsafe(no_mangle)]
extern "C" fn device_matmul(
    device: &GpuDevice,
    a: u32,
    b: u32,
    m: usize,
    k: usize,
    n: usize,
) -> *mut Call {
    let (device, a, b) = (device.clone(), array(a), array(b));
    reading(Box::pin(async move {
        let shapes = [Shape::new(&[m, k])?, Shape::new(&[k, n])?];
        let [a, b] = both(&device, [("a", &a?), ("b", &b?)], shapes).await?;
        a.matmul_async(&b).await
    }))
}

/// The convolution of a picture of these rows and columns with a kernel, where it fits.
#[unsafe(no_mangle)]
extern "C" fn device_convolve2d(
    device: &GpuDevice,
    input: u32,
    kernel: u32,
    size: u32,
    kernel_size: u32,
) -> *mut Call {
    let (device, input, kernel) = (device.clone(), array(input), array(kernel));
    let (size, kernel_size) = (shape(size), shape(kernel_size));
    reading(Box::pin(async move {
        let given = [("input", &input?), ("kernel", &kernel?)];
        let [input, kernel] = both(&device, given, [size?, kernel_size?]).await?;
        input.convolve2d_async(&kernel).await
    }))
}

/// Reduces some axes of an array of this shape.
#[unsafe(no_mangle)]
extern "C" fn device_reduce(
    device: &GpuDevice,
    kind: u32,
    a: u32,
    dims: u32,
    axes: u32,
) -> *mut Call {
    let (device, a, shape, axes) = (device.clone(), array(a), shape(dims), sizes(axes));
    reading(Box::pin(async move {
        let a = GpuTensor::from_js_async(&device, &a?, shape?).await?;
        a.reduce_async(reduction(kind)?, &axes?).await
    }))
}

async fn vector(device: &GpuDevice, values: &Bytes) -> Result<GpuTensor> {
    GpuTensor::from_js_async(device, values, Shape::vector(values.len() / 4)).await
}

/// Two vectors of one length.
async fn vectors(device: &GpuDevice, a: &Bytes, b: &Bytes) -> Result<[GpuTensor; 2]> {
    let shape = Shape::vector(a.len() / 4);
    both(device, [("a", a), ("b", b)], [shape.clone(), shape]).await
}

/// Two tensors of these names and shapes.
async fn both(
    device: &GpuDevice,
    given: [(&'static str, &Bytes); 2],
    shapes: [Shape; 2],
) -> Result<[GpuTensor; 2]> {
    for ((name, values), shape) in given.iter().zip(&shapes) {
        let (actual, expected) = (values.len() as u64 / 4, shape.n_elements() as u64);
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
