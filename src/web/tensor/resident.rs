//! Tensors on a device. Errors are those of the methods of the same names.

use crate::gpu::Buffer;
use crate::tensor::GpuTensor;
use crate::web::call::Call;
use crate::web::memory::{give, object};

use super::convert::{making, reading, reduction, shape, sizes, steps};

/// Gives where the elements are in the buffer, as words: the place of the first, lengths and strides of the axes.
#[unsafe(no_mangle)]
extern "C" fn tensor_view(tensor: &GpuTensor) -> u32 {
    let view = tensor.view();
    let offset = [view.offset()];
    let sizes = offset.iter().chain(view.shape().dims());
    let sizes = sizes.chain(view.strides());
    give(sizes.flat_map(|&n| (n as u32).to_le_bytes()).collect())
}

/// The number of the browser's `GPUBuffer`, which the tensor shares with its views, and which stays the module's.
#[unsafe(no_mangle)]
extern "C" fn tensor_buffer(tensor: &GpuTensor) -> u32 {
    let Buffer::Web(buffer) = tensor.buffer();
    buffer.number()
}

#[unsafe(no_mangle)]
extern "C" fn tensor_free(_: Box<GpuTensor>) {}

#[unsafe(no_mangle)]
extern "C" fn tensor_slice(
    tensor: &GpuTensor,
    axis: usize,
    start: usize,
    end: usize,
) -> *mut GpuTensor {
    object(tensor.slice(axis, start..end))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_transpose(tensor: &GpuTensor, first: usize, second: usize) -> *mut GpuTensor {
    object(tensor.transpose(first, second))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_permute(tensor: &GpuTensor, axes: u32) -> *mut GpuTensor {
    object(sizes(axes).and_then(|axes| tensor.permute(&axes)))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_reshape(tensor: &GpuTensor, dims: u32) -> *mut GpuTensor {
    object(shape(dims).and_then(|shape| tensor.reshape(shape)))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_broadcast(tensor: &GpuTensor, dims: u32) -> *mut GpuTensor {
    object(shape(dims).and_then(|shape| tensor.broadcast_to(&shape)))
}

/// The elements in a new array, the last axis innermost.
#[unsafe(no_mangle)]
extern "C" fn tensor_read(tensor: &GpuTensor) -> *mut Call {
    let tensor = tensor.clone();
    reading(Box::pin(async move { Ok(tensor) }))
}

/// The elements by all steps in turn, with a second tensor, if there is one, for steps that take two.
#[unsafe(no_mangle)]
extern "C" fn tensor_apply(a: &GpuTensor, number: u32, b: Option<&GpuTensor>) -> *mut Call {
    let (steps, a, b) = (steps(number), a.clone(), b.cloned());
    making(Box::pin(async move {
        match b {
            Some(b) => a.combine_async(&steps?, &b).await,
            None => a.apply_async(&steps?).await,
        }
    }))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_contiguous(a: &GpuTensor) -> *mut Call {
    let a = a.clone();
    making(Box::pin(async move { a.contiguous_async().await }))
}

/// Reduces some axes, which become ones; for number 0 all elements, to a tensor without axes.
#[unsafe(no_mangle)]
extern "C" fn tensor_reduce(a: &GpuTensor, kind: u32, axes: u32) -> *mut Call {
    let axes = (axes != 0).then(|| sizes(axes));
    let a = a.clone();
    making(Box::pin(async move {
        match axes {
            Some(axes) => a.reduce_async(reduction(kind)?, &axes?).await,
            None => a.reduce_all_async(reduction(kind)?).await,
        }
    }))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_dot(a: &GpuTensor, b: &GpuTensor) -> *mut Call {
    let (a, b) = (a.clone(), b.clone());
    making(Box::pin(async move { a.dot_async(&b).await }))
}

/// The softmax over the last axis, or its logarithm.
#[unsafe(no_mangle)]
extern "C" fn tensor_softmax(a: &GpuTensor, log: bool) -> *mut Call {
    let a = a.clone();
    making(Box::pin(async move { a.softmax_of(log).await }))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_matmul(a: &GpuTensor, b: &GpuTensor) -> *mut Call {
    let (a, b) = (a.clone(), b.clone());
    making(Box::pin(async move { a.matmul_async(&b).await }))
}

#[unsafe(no_mangle)]
extern "C" fn tensor_convolve2d(a: &GpuTensor, kernel: &GpuTensor) -> *mut Call {
    let (a, kernel) = (a.clone(), kernel.clone());
    making(Box::pin(async move { a.convolve2d_async(&kernel).await }))
}
