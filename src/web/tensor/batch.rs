//! Queued operations as a class of JavaScript. A tensor of a batch is known by its number; a number that the batch does not
//! have is wrong when the batch is executed.

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

/// [`GpuCommandBatch`] for JavaScript. A call takes it and gives it back at its end.
#[wasm_bindgen(js_name = Batch)]
#[derive(Debug)]
pub struct WebBatch(Rc<RefCell<Option<GpuCommandBatch>>>);

/// Work of a call on the batch.
type Work = dyn for<'a> FnOnce(
    &'a mut GpuCommandBatch,
) -> Pin<Box<dyn Future<Output = Result<JsValue>> + 'a>>;

#[wasm_bindgen(js_class = Batch)]
impl WebBatch {
    /// A vector, copied to the device when the batch is executed. This, as what else is queued, gives a number.
    pub fn upload(&self, values: &Float32Array) -> JsResult<u32> {
        let values = bytes(values)?;
        self.queue(|batch| batch.upload_js(&values))
    }

    /// A tensor that is on the device already.
    pub fn tensor(&self, tensor: &WebTensor) -> JsResult<u32> {
        self.queue(|batch| Ok(batch.tensor(&tensor.0)))
    }

    /// Queues an operation on tensors of these numbers, which it sees in these shapes, or as they are.
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
