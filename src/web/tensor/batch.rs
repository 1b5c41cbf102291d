//! Queued operations as a class of JavaScript.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{Given, call, reduction_from, steps_from};
use super::device::WebDevice;
use super::resident::WebTensor;
use crate::tensor::{BufferId, GpuCommandBatch};
use crate::{Error, Result};

/// [`BufferId`] for JavaScript.
#[wasm_bindgen(js_name = BufferId)]
#[derive(Debug, Clone, Copy)]
pub struct WebBufferId(BufferId);

/// [`GpuCommandBatch`] for JavaScript. A call takes it and gives it back at its end.
#[wasm_bindgen(js_name = Batch)]
#[derive(Debug)]
pub struct WebBatch(Rc<RefCell<Option<GpuCommandBatch>>>);

#[expect(
    clippy::missing_errors_doc,
    reason = "errors are those of the methods of `GpuCommandBatch`, and `INVALID_ARGUMENT` while a call is under way"
)]
#[wasm_bindgen(js_class = Batch)]
impl WebBatch {
    /// A batch without operations.
    #[must_use]
    #[wasm_bindgen(js_name = of)]
    pub fn of(device: &WebDevice) -> Self {
        let batch = GpuCommandBatch::new(device.0.clone());
        Self(Rc::new(RefCell::new(Some(batch))))
    }

    /// A vector, copied to the device when the batch is executed.
    pub fn upload(&self, values: &[f32]) -> Given<WebBufferId> {
        self.queue(|batch| batch.upload(values))
    }

    /// A tensor that is on the device already.
    pub fn tensor(&self, tensor: &WebTensor) -> Given<WebBufferId> {
        self.queue(|batch| batch.tensor(&tensor.0))
    }

    /// All steps in turn.
    pub fn apply(&self, names: &str, numbers: &[f32], a: &WebBufferId) -> Given<WebBufferId> {
        let steps = steps_from(names, numbers)?;
        self.queue(|batch| batch.apply(&steps, a.0, None))
    }

    /// The same with a second tensor.
    pub fn combine(
        &self,
        names: &str,
        numbers: &[f32],
        a: &WebBufferId,
        b: &WebBufferId,
    ) -> Given<WebBufferId> {
        let steps = steps_from(names, numbers)?;
        self.queue(|batch| batch.apply(&steps, a.0, Some(b.0)))
    }

    /// The sum of products.
    pub fn dot(&self, a: &WebBufferId, b: &WebBufferId) -> Given<WebBufferId> {
        self.queue(|batch| batch.dot(a.0, b.0))
    }

    /// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
    pub fn matmul(
        &self,
        a: &WebBufferId,
        b: &WebBufferId,
        m: u32,
        k: u32,
        n: u32,
    ) -> Given<WebBufferId> {
        let [m, k, n] = [m, k, n].map(|size| size as usize);
        self.queue(|batch| batch.matmul(a.0, b.0, m, k, n))
    }

    /// The convolution of a picture with a kernel; both sizes are rows and columns.
    pub fn convolve2d(
        &self,
        input: &WebBufferId,
        kernel: &WebBufferId,
        rows: u32,
        cols: u32,
        kernel_rows: u32,
        kernel_cols: u32,
    ) -> Given<WebBufferId> {
        let size = [rows as usize, cols as usize];
        let kernel_size = [kernel_rows as usize, kernel_cols as usize];
        self.queue(|batch| batch.convolve2d(input.0, kernel.0, size, kernel_size))
    }

    /// All elements reduced to one.
    pub fn reduce(&self, reduction: &str, a: &WebBufferId) -> Given<WebBufferId> {
        let reduction = reduction_from(reduction)?;
        self.queue(|batch| batch.reduce(reduction, a.0))
    }

    /// The softmax over the last axis, or its logarithm.
    pub fn softmax(&self, log: bool, a: &WebBufferId) -> Given<WebBufferId> {
        self.queue(|batch| match log {
            true => batch.log_softmax(a.0),
            false => batch.softmax(a.0),
        })
    }

    /// Runs what was queued; gives the time of the kernels in nanoseconds, or null.
    #[must_use]
    pub fn execute(&self) -> Call {
        self.run(async |batch| {
            let kernel_ns = batch.execute().await?;
            Ok(kernel_ns.map_or(JsValue::NULL, |ns| JsValue::from_f64(ns as f64)))
        })
    }

    /// A `Float32Array` of the elements of a tensor.
    #[must_use]
    pub fn read(&self, id: &WebBufferId) -> Call {
        let id = id.0;
        self.run(async move |batch| {
            let values = batch.result(id).await?.to_js_async().await?;
            Ok(values.into())
        })
    }

    /// A tensor, which stays on the device.
    #[must_use]
    pub fn result(&self, id: &WebBufferId) -> Call {
        let id = id.0;
        self.run(async move |batch| Ok(WebTensor(batch.result(id).await?).into()))
    }
}

impl WebBatch {
    fn queue(&self, add: impl FnOnce(&mut GpuCommandBatch) -> BufferId) -> Given<WebBufferId> {
        match self.0.borrow_mut().as_mut() {
            Some(batch) => Ok(WebBufferId(add(batch))),
            None => Err(in_use().into()),
        }
    }

    fn run(
        &self,
        work: impl AsyncFnOnce(&mut GpuCommandBatch) -> Result<JsValue> + 'static,
    ) -> Call {
        let place = Rc::clone(&self.0);
        call(async move {
            let taken = place.borrow_mut().take();
            let mut batch = taken.ok_or_else(in_use)?;
            let made = work(&mut batch).await;
            *place.borrow_mut() = Some(batch);
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
