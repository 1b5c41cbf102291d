//! Operations on arrays wherever they are faster.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use super::convert::{array, floats, reduction, shape, sizes, steps};
use crate::gpu::GpuDevice;
use crate::js::Bytes;
use crate::tensor::{BackendUsed, GpuBackend};
use crate::web::call::{Call, Done};
use crate::web::memory::{NOTHING, give};
use crate::{Error, Result};

/// A backend. A call takes it and gives it back at its end, so there is one call at a time; one that traps keeps it.
struct WebBackend(Rc<RefCell<Option<GpuBackend>>>);

/// What a call does with the backend.
type Work =
    dyn for<'a> FnOnce(&'a mut GpuBackend) -> Pin<Box<dyn Future<Output = Result<Vec<f32>>> + 'a>>;

/// A backend that runs everything on `device`; without one, it opens a GPU when that first pays.
#[unsafe(no_mangle)]
extern "C" fn backend_new(device: Option<&GpuDevice>) -> Box<WebBackend> {
    let backend = device.cloned().map(GpuBackend::with_device);
    let backend = backend.unwrap_or_default();
    Box::new(WebBackend(Rc::new(RefCell::new(Some(backend)))))
}

/// Frees a backend that no call has, and gives up what it opened.
#[unsafe(no_mangle)]
extern "C" fn backend_free(backend: Box<WebBackend>) {
    if let Some(backend) = backend.0.take() {
        backend.close();
    }
}

/// Gives where the last operation ran, as a text: `G` and the device, or `C` and why not on a GPU. Nothing before the first.
#[unsafe(no_mangle)]
extern "C" fn backend_last(backend: &WebBackend) -> u32 {
    let place = backend.0.borrow();
    let (kind, text) = match place.as_ref().and_then(GpuBackend::last_backend) {
        Some(BackendUsed::Gpu { device, .. }) => ('G', device),
        Some(BackendUsed::Cpu { reason }) => ('C', reason),
        None => return NOTHING,
    };
    let mut told = String::from(kind);
    told.push_str(text);
    give(told.into_bytes())
}

/// See [`GpuBackend::elementwise_async`].
#[unsafe(no_mangle)]
extern "C" fn backend_elementwise(backend: &WebBackend, numbers: u32, a: u32, b: u32) -> *mut Call {
    let (steps, a) = (steps(numbers), read(a));
    let b = (b != 0).then(|| read(b));
    backend.call(async move |backend| {
        let b = b.transpose()?;
        backend.elementwise_async(&steps?, &a?, b.as_deref()).await
    })
}

/// See [`GpuBackend::dot_async`]; gives an array.
#[unsafe(no_mangle)]
extern "C" fn backend_dot(backend: &WebBackend, a: u32, b: u32) -> *mut Call {
    let (a, b) = (read(a), read(b));
    backend.call(async move |backend| Ok(vec![backend.dot_async(&a?, &b?).await?]))
}

/// See [`GpuBackend::softmax_rows_async`].
#[unsafe(no_mangle)]
extern "C" fn backend_softmax(backend: &WebBackend, log: bool, a: u32, cols: usize) -> *mut Call {
    let a = read(a);
    backend.call(async move |backend| backend.rows_of(log, &a?, cols).await)
}

/// See [`GpuBackend::matmul_async`].
#[unsafe(no_mangle)]
extern "C" fn backend_matmul(
    backend: &WebBackend,
    a: u32,
    b: u32,
    m: usize,
    k: usize,
    n: usize,
) -> *mut Call {
    let (a, b) = (read(a), read(b));
    backend.call(async move |backend| backend.matmul_async(&a?, &b?, m, k, n).await)
}

/// See [`GpuBackend::convolve2d_async`].
#[unsafe(no_mangle)]
extern "C" fn backend_convolve2d(
    backend: &WebBackend,
    input: u32,
    kernel: u32,
    size: u32,
    kernel_size: u32,
) -> *mut Call {
    let (input, kernel) = (read(input), read(kernel));
    let (size, kernel_size) = (pair(size), pair(kernel_size));
    backend.call(async move |backend| {
        let (input, kernel) = (input?, kernel?);
        let made = backend.convolve2d_async(&input, &kernel, size?, kernel_size?);
        made.await
    })
}

/// See [`GpuBackend::reduce_axes_async`].
#[unsafe(no_mangle)]
extern "C" fn backend_reduce(
    backend: &WebBackend,
    kind: u32,
    a: u32,
    dims: u32,
    axes: u32,
) -> *mut Call {
    let (a, shape, axes) = (read(a), shape(dims), sizes(axes));
    backend.call(async move |backend| {
        let kind = reduction(kind)?;
        backend.reduce_axes_async(kind, &a?, &shape?, &axes?).await
    })
}

impl WebBackend {
    /// A call that has the backend while `work` is under way.
    fn call(
        &self,
        work: impl AsyncFnOnce(&mut GpuBackend) -> Result<Vec<f32>> + 'static,
    ) -> *mut Call {
        self.call_boxed(Box::new(move |backend| Box::pin(work(backend))))
    }

    /// The same, compiled once for all kinds of work.
    #[inline(never)]
    fn call_boxed(&self, work: Box<Work>) -> *mut Call {
        let place = Rc::clone(&self.0);
        Call::begin(Box::pin(async move {
            let taken = place.borrow_mut().take();
            let Some(mut backend) = taken else {
                return Err(Error::Engine {
                    engine: "wasm",
                    message: "the backend was lost in a call that failed".into(),
                });
            };
            let made = work(&mut backend).await;
            place.replace(Some(backend));
            let made = made?;
            let bytes = bytemuck::cast_slice(&made);
            let array = Bytes::zeros(bytes.len())?;
            array.write(0, bytes)?;
            Ok(Done::array(array))
        }))
    }
}

/// The elements of an array as they are now.
fn read(number: u32) -> Result<Vec<f32>> {
    floats(&array(number)?)
}

/// Rows and columns.
fn pair(number: u32) -> Result<[usize; 2]> {
    let sizes = sizes(number)?;
    let wrong = |_| Error::invalid("size", sizes.len() as u64, "give rows and columns");
    sizes[..].try_into().map_err(wrong)
}
