//! [`GpuCommandBatch`] as a JavaScript class. Tensors of a batch are identified by number. An unknown number is an
//! error when the batch is executed.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Array, Float32Array, Promise};
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, bytes, floats, promise};
use super::op::{op, shapes};
use super::resident::WebTensor;
use crate::tensor::{BufferId, GpuCommandBatch};
use crate::{Error, Result};

/// [`GpuCommandBatch`] for JavaScript. `None` during a call.
#[wasm_bindgen(js_name = Batch)]
#[derive(Debug)]
pub struct WebBatch(Rc<RefCell<Option<GpuCommandBatch>>>);

/// A call on the batch.
type Work = dyn for<'a> FnOnce(
    &'a mut GpuCommandBatch,
) -> Pin<Box<dyn Future<Output = Result<JsValue>> + 'a>>;

#[wasm_bindgen(js_class = Batch)]
impl WebBatch {
    /// Queues the upload of a vector, which is sent to the device when the batch is executed. Returns the number of the
    /// tensor, as all methods that queue do.
    pub fn upload(&self, values: &Float32Array) -> JsResult<u32> {
        let values = bytes(values)?;
        self.queue(|batch| batch.upload_js(&values))
    }

    /// Adds a tensor that is already on the device.
    pub fn tensor(&self, tensor: &WebTensor) -> JsResult<u32> {
        self.queue(|batch| Ok(batch.tensor(&tensor.0)))
    }

    /// Queues an operation on the tensors `ids`. They are reshaped to `shapes`, in order; the remaining ones keep their
    /// shape.
    pub fn run(
        &self,
        #[wasm_bindgen(js_name = op, unchecked_param_type = "Op")] given: &Array,
        ids: &[u32],
        #[wasm_bindgen(js_name = shapes, unchecked_param_type = "readonly Uint32Array[]")]
        dims: &Array,
    ) -> JsResult<u32> {
        let (op, shapes) = (op(given)?, shapes(dims)?);
        self.queue(|batch| {
            let ids: Vec<BufferId> = ids.iter().map(|&id| batch.id(id)).collect();
            Ok(batch.queue_seen(op, &ids, shapes))
        })
    }

    /// Runs all queued operations; returns the kernel time in nanoseconds, or null if it is unknown.
    #[wasm_bindgen(unchecked_return_type = "Promise<number | null>")]
    pub fn execute(&self) -> Promise {
        self.call(async |batch| {
            let kernel_ns = batch.execute().await?;
            Ok(kernel_ns.map_or(JsValue::NULL, |ns| (ns as f64).into()))
        })
    }

    /// Returns the elements of a tensor in a new array.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array<ArrayBuffer>>")]
    pub fn read(&self, id: u32) -> Promise {
        self.call(async move |batch| {
            let made = batch.result(batch.id(id)).await?;
            Ok(floats(made.to_js_async().await?).into())
        })
    }

    /// Returns a tensor, which stays on the device.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn result(&self, id: u32) -> Promise {
        self.call(async move |batch| Ok(WebTensor(batch.result(batch.id(id)).await?).into()))
    }

    /// Frees the object. Unlike `free`, throws for an object of an earlier instance of the module.
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

    /// Returns a promise of the result of `work`, which has exclusive access to the batch.
    fn call(
        &self,
        work: impl AsyncFnOnce(&mut GpuCommandBatch) -> Result<JsValue> + 'static,
    ) -> Promise {
        self.call_boxed(Box::new(move |batch| Box::pin(work(batch))))
    }

    /// Implements [`call`](Self::call) without generics, so that it is compiled only once.
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
