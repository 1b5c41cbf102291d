//! Queued operations as a class of JavaScript. A tensor of a batch is known by its number; a number that the batch does not
//! have is wrong when the batch is executed.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Float32Array, Promise};
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, bytes, floats, promise, reduction, steps};
use super::names::WebReduction;
use super::resident::WebTensor;
use crate::tensor::{BufferId, GpuCommandBatch, JsArray};
use crate::{Error, Result};

/// [`GpuCommandBatch`] for JavaScript. A call takes it and gives it back at its end.
#[wasm_bindgen(js_name = Batch)]
#[derive(Debug)]
pub struct WebBatch(Rc<RefCell<Option<GpuCommandBatch>>>);

/// What a call does with the batch.
type Work = dyn for<'a> FnOnce(
    &'a mut GpuCommandBatch,
) -> Pin<Box<dyn Future<Output = Result<JsValue>> + 'a>>;

#[wasm_bindgen(js_class = Batch)]
impl WebBatch {
    /// A vector, copied to the device when the batch is executed. This, as what else is queued, gives a number.
    pub fn upload(&self, values: &Float32Array) -> JsResult<u32> {
        let values = JsArray::vector(bytes(values)?).floats()?;
        self.queue(|batch| Ok(batch.upload(&values)))
    }

    /// A tensor that is on the device already.
    pub fn tensor(&self, tensor: &WebTensor) -> JsResult<u32> {
        self.queue(|batch| Ok(batch.tensor(&tensor.0)))
    }

    /// All steps in turn of `a`; those that take two take the element of `b`.
    pub fn apply(
        &self,
        #[wasm_bindgen(js_name = steps, unchecked_param_type = "readonly Step[]")] given: &JsValue,
        a: u32,
        b: Option<u32>,
    ) -> JsResult<u32> {
        let steps = steps(given)?;
        self.queue(|batch| Ok(batch.apply(&steps, batch.id(a), b.map(|b| batch.id(b)))))
    }

    /// The sum of products.
    pub fn dot(&self, a: u32, b: u32) -> JsResult<u32> {
        self.queue(|batch| Ok(batch.dot(batch.id(a), batch.id(b))))
    }

    /// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
    pub fn matmul(&self, a: u32, b: u32, m: usize, k: usize, n: usize) -> JsResult<u32> {
        self.queue(|batch| Ok(batch.matmul(batch.id(a), batch.id(b), m, k, n)))
    }

    /// The convolution of a picture with a kernel.
    pub fn convolve2d(
        &self,
        input: u32,
        kernel: u32,
        rows: usize,
        cols: usize,
        #[wasm_bindgen(js_name = kernelRows)] kernel_rows: usize,
        #[wasm_bindgen(js_name = kernelCols)] kernel_cols: usize,
    ) -> JsResult<u32> {
        let (size, kernel_size) = ([rows, cols], [kernel_rows, kernel_cols]);
        self.queue(|batch| {
            let (input, kernel) = (batch.id(input), batch.id(kernel));
            Ok(batch.convolve2d(input, kernel, size, kernel_size))
        })
    }

    /// All elements reduced to one.
    pub fn reduce(
        &self,
        #[wasm_bindgen(js_name = reduction)] kind: WebReduction,
        a: u32,
    ) -> JsResult<u32> {
        self.queue(|batch| Ok(batch.reduce(reduction(kind)?, batch.id(a))))
    }

    /// The softmax over the last axis, or its logarithm.
    pub fn softmax(&self, log: bool, a: u32) -> JsResult<u32> {
        self.queue(|batch| {
            let a = batch.id(a);
            Ok(match log {
                true => batch.log_softmax(a),
                false => batch.softmax(a),
            })
        })
    }

    /// Runs what was queued; gives the time of the kernels in nanoseconds, or null.
    #[wasm_bindgen(unchecked_return_type = "Promise<number | null>")]
    pub fn execute(&self) -> Promise {
        self.call(async |batch| {
            let kernel_ns = batch.execute().await?;
            Ok(kernel_ns.map_or(JsValue::NULL, |ns| (ns as f64).into()))
        })
    }

    /// The elements of a tensor, in a new array.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array<ArrayBuffer>>")]
    pub fn read(&self, id: u32) -> Promise {
        self.call(async move |batch| {
            let made = batch.result(batch.id(id)).await?;
            Ok(floats(made.to_js_async().await?).into())
        })
    }

    /// A tensor, which stays on the device.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn result(&self, id: u32) -> Promise {
        self.call(async move |batch| Ok(WebTensor(batch.result(batch.id(id)).await?).into()))
    }

    /// Frees it, as `free` does, and refuses one of an earlier instance of the module, which `free` does not.
    pub fn release(self) {}
}

impl WebBatch {
    pub(super) fn new(batch: GpuCommandBatch) -> Self {
        Self(Rc::new(RefCell::new(Some(batch))))
    }

    fn queue(&self, add: impl FnOnce(&mut GpuCommandBatch) -> Result<BufferId>) -> JsResult<u32> {
        let mut place = self.0.borrow_mut();
        let batch = place.as_mut().ok_or_else(in_use)?;
        Ok(add(batch)?.number())
    }

    /// A promise of what `work` gives, which has the batch meanwhile.
    fn call(
        &self,
        work: impl AsyncFnOnce(&mut GpuCommandBatch) -> Result<JsValue> + 'static,
    ) -> Promise {
        self.call_boxed(Box::new(move |batch| Box::pin(work(batch))))
    }

    /// The same, compiled once for all kinds of work.
    fn call_boxed(&self, work: Box<Work>) -> Promise {
        let place = Rc::clone(&self.0);
        promise(async move {
            let taken = place.borrow_mut().take();
            let mut batch = taken.ok_or_else(in_use)?;
            let made = work(&mut batch).await;
            place.replace(Some(batch));
            made
        })
    }
}

fn in_use() -> Error {
    Error::InvalidArgument {
        name: "batch",
        value: "one whose execution or reading is under way".into(),
        expected: "wait for it before more is queued",
    }
}
