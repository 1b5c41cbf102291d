//! Queued operations. What is queued is known by its number; one that is no number of the batch is wrong when the batch is
//! executed.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use super::convert::{array, reduction, steps};
use crate::gpu::GpuDevice;
use crate::tensor::{BufferId, GpuCommandBatch, GpuTensor, JsArray};
use crate::web::call::{Call, Done};
use crate::web::memory::settle;
use crate::{Error, Result};

/// A batch. A call takes it and gives it back at its end.
struct WebBatch(Rc<RefCell<Option<GpuCommandBatch>>>);

/// What a call does with the batch.
type Work =
    dyn for<'a> FnOnce(&'a mut GpuCommandBatch) -> Pin<Box<dyn Future<Output = Result<Done>> + 'a>>;

/// A batch without operations.
#[unsafe(no_mangle)]
extern "C" fn batch_new(device: &GpuDevice) -> Box<WebBatch> {
    let batch = GpuCommandBatch::new(device.clone());
    Box::new(WebBatch(Rc::new(RefCell::new(Some(batch)))))
}

#[unsafe(no_mangle)]
extern "C" fn batch_free(_: Box<WebBatch>) {}

/// A vector, copied to the device when the batch is executed. This, as what else is queued, gives a word: its number.
#[unsafe(no_mangle)]
extern "C" fn batch_upload(batch: &WebBatch, values: u32) -> u32 {
    batch.queue(|batch| Ok(batch.upload(&JsArray::vector(array(values)?).floats()?)))
}

/// A tensor that is on the device already.
#[unsafe(no_mangle)]
extern "C" fn batch_tensor(batch: &WebBatch, tensor: &GpuTensor) -> u32 {
    batch.queue(|batch| Ok(batch.tensor(tensor)))
}

/// All steps in turn of `a`, with a second tensor if `has_b` says so.
#[unsafe(no_mangle)]
extern "C" fn batch_apply(batch: &WebBatch, numbers: u32, a: usize, has_b: bool, b: usize) -> u32 {
    batch.queue(|batch| {
        let b = has_b.then(|| batch.id(b));
        Ok(batch.apply(&steps(numbers)?, batch.id(a), b))
    })
}

/// The sum of products.
#[unsafe(no_mangle)]
extern "C" fn batch_dot(batch: &WebBatch, a: usize, b: usize) -> u32 {
    batch.queue(|batch| Ok(batch.dot(batch.id(a), batch.id(b))))
}

/// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
#[unsafe(no_mangle)]
extern "C" fn batch_matmul(
    batch: &WebBatch,
    a: usize,
    b: usize,
    m: usize,
    k: usize,
    n: usize,
) -> u32 {
    batch.queue(|batch| Ok(batch.matmul(batch.id(a), batch.id(b), m, k, n)))
}

/// The convolution of a picture with a kernel.
#[unsafe(no_mangle)]
extern "C" fn batch_convolve2d(
    batch: &WebBatch,
    input: usize,
    kernel: usize,
    rows: usize,
    cols: usize,
    kernel_rows: usize,
    kernel_cols: usize,
) -> u32 {
    batch.queue(|batch| {
        let (input, kernel) = (batch.id(input), batch.id(kernel));
        Ok(batch.convolve2d(input, kernel, [rows, cols], [kernel_rows, kernel_cols]))
    })
}

/// All elements reduced to one.
#[unsafe(no_mangle)]
extern "C" fn batch_reduce(batch: &WebBatch, kind: u32, a: usize) -> u32 {
    batch.queue(|batch| Ok(batch.reduce(reduction(kind)?, batch.id(a))))
}

/// The softmax over the last axis, or its logarithm.
#[unsafe(no_mangle)]
extern "C" fn batch_softmax(batch: &WebBatch, log: bool, a: usize) -> u32 {
    batch.queue(|batch| {
        let a = batch.id(a);
        Ok(match log {
            true => batch.log_softmax(a),
            false => batch.softmax(a),
        })
    })
}

/// Runs what was queued; the number of what the call gives is the time of the kernels in nanoseconds, or less than 0.
#[unsafe(no_mangle)]
extern "C" fn batch_execute(batch: &WebBatch) -> *mut Call {
    batch.call(async |batch| {
        let kernel_ns = batch.execute().await?;
        Ok(Done::number(kernel_ns.map_or(-1.0, |ns| ns as f64)))
    })
}

/// The elements of a tensor, in a new array.
#[unsafe(no_mangle)]
extern "C" fn batch_read(batch: &WebBatch, id: usize) -> *mut Call {
    batch.call(async move |batch| {
        let made = batch.result(batch.id(id)).await?;
        Ok(Done::array(made.to_js_async().await?))
    })
}

/// A tensor, which stays on the device.
#[unsafe(no_mangle)]
extern "C" fn batch_result(batch: &WebBatch, id: usize) -> *mut Call {
    batch.call(async move |batch| Ok(Done::object(batch.result(batch.id(id)).await?)))
}

impl WebBatch {
    fn queue(&self, add: impl FnOnce(&mut GpuCommandBatch) -> Result<BufferId>) -> u32 {
        let mut place = self.0.borrow_mut();
        let id = match place.as_mut() {
            Some(batch) => add(batch),
            None => Err(in_use()),
        };
        settle(id.map(|id| id.number().to_le_bytes().to_vec()))
    }

    /// A call that has the batch while `work` is under way.
    fn call(
        &self,
        work: impl AsyncFnOnce(&mut GpuCommandBatch) -> Result<Done> + 'static,
    ) -> *mut Call {
        self.call_boxed(Box::new(move |batch| Box::pin(work(batch))))
    }

    /// The same, compiled once for all kinds of work.
    #[inline(never)]
    fn call_boxed(&self, work: Box<Work>) -> *mut Call {
        let place = Rc::clone(&self.0);
        Call::begin(Box::pin(async move {
            let taken = place.borrow_mut().take();
            let mut lent = Lent {
                batch: Some(taken.ok_or_else(in_use)?),
                place,
            };
            match &mut lent.batch {
                Some(batch) => work(batch).await,
                None => Err(in_use()),
            }
        }))
    }
}

/// A batch on loan to a call: it goes back when the call ends, also when it is given up on the way.
struct Lent {
    batch: Option<GpuCommandBatch>,
    place: Rc<RefCell<Option<GpuCommandBatch>>>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.place.replace(self.batch.take());
    }
}

fn in_use() -> Error {
    Error::InvalidArgument {
        name: "batch",
        value: "one whose execution or reading is under way".into(),
        expected: "wait for it before more is queued",
    }
}
