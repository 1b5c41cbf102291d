//! Operations on arrays of JavaScript, in and out: on a device, or where a backend has them done.

use super::backend::WebBackend;
use super::convert::{array, reading, reduction, shape, sizes, steps};
use crate::Result;
use crate::gpu::GpuDevice;
use crate::tensor::{JsArray, JsOperation, OperationKind, Shape, rows_shape};
use crate::web::call::Call;

/// All steps in turn of `a`; those that take two take the element of `b`, if it is there, which is as long. This, as the
/// other operations, is done on `device`, if it is there, else by `backend`, and gives a new array.
#[unsafe(no_mangle)]
extern "C" fn arrays_elementwise(
    device: Option<&GpuDevice>,
    backend: Option<&WebBackend>,
    numbers: u32,
    a: u32,
    b: u32,
) -> *mut Call {
    let operation = move || {
        let kind = OperationKind::Steps(steps(numbers)?);
        let a = JsArray::vector(array(a)?);
        let b = match b {
            0 => None,
            b => Some(JsArray::new("b", array(b)?, a.shape().clone())?),
        };
        Ok(JsOperation { kind, a, b })
    };
    begin(device, backend, operation())
}

/// The sum of products: one element.
#[unsafe(no_mangle)]
extern "C" fn arrays_dot(
    device: Option<&GpuDevice>,
    backend: Option<&WebBackend>,
    a: u32,
    b: u32,
) -> *mut Call {
    let operation = move || {
        let a = JsArray::vector(array(a)?);
        let b = JsArray::new("b", array(b)?, a.shape().clone())?;
        Ok(JsOperation {
            kind: OperationKind::Dot,
            a,
            b: Some(b),
        })
    };
    begin(device, backend, operation())
}

/// The softmax of each row of `cols` elements, or its logarithm.
#[unsafe(no_mangle)]
extern "C" fn arrays_softmax(
    device: Option<&GpuDevice>,
    backend: Option<&WebBackend>,
    log: bool,
    a: u32,
    cols: usize,
) -> *mut Call {
    let operation = move || {
        let a = array(a)?;
        let shape = rows_shape(a.len() / 4, cols)?;
        Ok(JsOperation {
            kind: OperationKind::Softmax { log },
            a: JsArray::new("a", a, shape)?,
            b: None,
        })
    };
    begin(device, backend, operation())
}

/// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
#[unsafe(no_mangle)]
extern "C" fn arrays_matmul(
    device: Option<&GpuDevice>,
    backend: Option<&WebBackend>,
    a: u32,
    b: u32,
    m: usize,
    k: usize,
    n: usize,
) -> *mut Call {
    let operation = move || {
        Ok(JsOperation {
            kind: OperationKind::Matmul,
            a: JsArray::new("a", array(a)?, Shape::new(&[m, k])?)?,
            b: Some(JsArray::new("b", array(b)?, Shape::new(&[k, n])?)?),
        })
    };
    begin(device, backend, operation())
}

/// The convolution of a picture of these rows and columns with a kernel, where it fits.
#[unsafe(no_mangle)]
extern "C" fn arrays_convolve2d(
    device: Option<&GpuDevice>,
    backend: Option<&WebBackend>,
    input: u32,
    kernel: u32,
    size: u32,
    kernel_size: u32,
) -> *mut Call {
    let operation = move || {
        Ok(JsOperation {
            kind: OperationKind::Convolve2d,
            a: JsArray::new("input", array(input)?, shape(size)?)?,
            b: Some(JsArray::new("kernel", array(kernel)?, shape(kernel_size)?)?),
        })
    };
    begin(device, backend, operation())
}

/// Reduces some axes of an array of this shape.
#[unsafe(no_mangle)]
extern "C" fn arrays_reduce(
    device: Option<&GpuDevice>,
    backend: Option<&WebBackend>,
    kind: u32,
    a: u32,
    dims: u32,
    axes: u32,
) -> *mut Call {
    let operation = move || {
        Ok(JsOperation {
            kind: OperationKind::Reduce(reduction(kind)?, sizes(axes)?),
            a: JsArray::new("a", array(a)?, shape(dims)?)?,
            b: None,
        })
    };
    begin(device, backend, operation())
}

/// What is wrong with an operation is told by its call.
#[inline(never)]
fn begin(
    device: Option<&GpuDevice>,
    backend: Option<&WebBackend>,
    operation: Result<JsOperation>,
) -> *mut Call {
    match (device.cloned(), backend) {
        (None, Some(backend)) => backend.begin(operation),
        (device, _) => reading(Box::pin(async move {
            let device = device.ok_or_else(super::convert::nothing)?;
            operation?.on_device_async(&device).await
        })),
    }
}
