//! Operations on arrays of JavaScript, for a device or a backend to run.

use js_sys::Float32Array;
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, bytes, reduction, shape, sizes, steps};
use super::names::WebReduction;
use crate::tensor::{JsArray, JsOperation, OperationKind, Shape, rows_shape};

/// An operation on one array or two. The one that runs it, `Device.run` or `Backend.run`, takes it over, and gives a new
/// array. The arrays are read when it begins to run, and must be as long then as they were.
#[wasm_bindgen(js_name = Operation)]
#[derive(Debug)]
pub struct WebOperation(pub(super) JsOperation);

#[wasm_bindgen(js_class = Operation)]
impl WebOperation {
    /// All steps in turn of `a`; those that take two take the element of `b`, which is as long.
    pub fn elementwise(
        #[wasm_bindgen(js_name = steps, unchecked_param_type = "readonly Step[]")] given: &JsValue,
        a: &Float32Array,
        b: Option<Float32Array>,
    ) -> JsResult<Self> {
        let kind = OperationKind::Steps(steps(given)?);
        let a = JsArray::vector(bytes(a)?);
        let b = match b {
            Some(b) => Some(JsArray::new("b", bytes(&b)?, a.shape().clone())?),
            None => None,
        };
        Ok(Self(JsOperation { kind, a, b }))
    }

    /// The sum of products: one element.
    pub fn dot(a: &Float32Array, b: &Float32Array) -> JsResult<Self> {
        let a = JsArray::vector(bytes(a)?);
        let b = JsArray::new("b", bytes(b)?, a.shape().clone())?;
        Ok(Self::of(OperationKind::Dot, a, Some(b)))
    }

    /// The softmax of each row of `cols` elements, or its logarithm.
    pub fn softmax(log: bool, a: &Float32Array, cols: usize) -> JsResult<Self> {
        let a = bytes(a)?;
        let shape = rows_shape(a.len() / 4, cols)?;
        let a = JsArray::new("a", a, shape)?;
        Ok(Self::of(OperationKind::Softmax { log }, a, None))
    }

    /// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
    pub fn matmul(
        a: &Float32Array,
        b: &Float32Array,
        m: usize,
        k: usize,
        n: usize,
    ) -> JsResult<Self> {
        let a = JsArray::new("a", bytes(a)?, Shape::new(&[m, k])?)?;
        let b = JsArray::new("b", bytes(b)?, Shape::new(&[k, n])?)?;
        Ok(Self::of(OperationKind::Matmul, a, Some(b)))
    }

    /// The convolution of a picture of these rows and columns with a kernel, where it fits.
    pub fn convolve2d(
        input: &Float32Array,
        kernel: &Float32Array,
        size: &[u32],
        #[wasm_bindgen(js_name = kernelSize)] kernel_size: &[u32],
    ) -> JsResult<Self> {
        let input = JsArray::new("input", bytes(input)?, shape(size)?)?;
        let kernel = JsArray::new("kernel", bytes(kernel)?, shape(kernel_size)?)?;
        Ok(Self::of(OperationKind::Convolve2d, input, Some(kernel)))
    }

    /// Reduces some axes of an array of this shape.
    pub fn reduce(
        #[wasm_bindgen(js_name = reduction)] kind: WebReduction,
        a: &Float32Array,
        dims: &[u32],
        axes: &[u32],
    ) -> JsResult<Self> {
        let kind = OperationKind::Reduce(reduction(kind)?, sizes(axes)?);
        let a = JsArray::new("a", bytes(a)?, shape(dims)?)?;
        Ok(Self::of(kind, a, None))
    }

    fn of(kind: OperationKind, a: JsArray, b: Option<JsArray>) -> Self {
        Self(JsOperation { kind, a, b })
    }
}
