//! Operations on arrays wherever they are faster, as a class of JavaScript.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Float32Array, Object};
use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{Given, call, reduction_from, set, shape_from, sizes_from, steps_from};
use super::device::WebDevice;
use crate::tensor::{BackendUsed, GpuBackend};
use crate::{Error, Result};

/// [`GpuBackend`] for JavaScript. A call takes it and gives it back at its end, so there is one call at a time.
#[wasm_bindgen(js_name = Backend)]
#[derive(Debug, Default)]
pub struct WebBackend(Rc<RefCell<Option<GpuBackend>>>);

#[expect(
    clippy::missing_errors_doc,
    reason = "errors are those of the methods of `GpuBackend`"
)]
#[wasm_bindgen(js_class = Backend)]
impl WebBackend {
    /// A backend that opens a GPU when it first pays.
    #[must_use]
    #[wasm_bindgen(js_name = lazy)]
    pub fn lazy() -> Self {
        Self(Rc::new(RefCell::new(Some(GpuBackend::new()))))
    }

    /// A backend that runs everything on a device.
    #[must_use]
    #[wasm_bindgen(js_name = withDevice)]
    pub fn with_device(device: &WebDevice) -> Self {
        let backend = GpuBackend::with_device(device.0.clone());
        Self(Rc::new(RefCell::new(Some(backend))))
    }

    /// `{ engine, device, reason }` of the last operation; undefined before the first.
    #[must_use]
    #[wasm_bindgen(js_name = lastBackend)]
    pub fn last_backend(&self) -> Option<Object> {
        let place = self.0.borrow();
        let used = place.as_ref()?.last_backend()?;
        let value = Object::new();
        match used {
            BackendUsed::Gpu { device, .. } => {
                set(&value, "engine", "webgpu");
                set(&value, "device", device.as_str());
                set(&value, "reason", JsValue::NULL);
            }
            BackendUsed::Cpu { reason } => {
                set(&value, "engine", "cpu");
                set(&value, "device", JsValue::NULL);
                set(&value, "reason", reason.as_str());
            }
        }
        Some(value)
    }

    /// See [`GpuBackend::elementwise_async`].
    pub fn elementwise(
        &self,
        names: &str,
        numbers: &[f32],
        a: Vec<f32>,
        b: Option<Vec<f32>>,
    ) -> Given<Call> {
        let steps = steps_from(names, numbers)?;
        Ok(self.run(async move |backend| {
            let made = backend.elementwise_async(&steps, &a, b.as_deref());
            made.await
        }))
    }

    /// See [`GpuBackend::dot_async`]; gives an array.
    #[must_use]
    pub fn dot(&self, a: Vec<f32>, b: Vec<f32>) -> Call {
        self.run(async move |backend| Ok(vec![backend.dot_async(&a, &b).await?]))
    }

    /// See [`GpuBackend::softmax_rows_async`].
    #[must_use]
    pub fn softmax(&self, log: bool, a: Vec<f32>, cols: u32) -> Call {
        let cols = cols as usize;
        self.run(async move |backend| match log {
            true => backend.log_softmax_rows_async(&a, cols).await,
            false => backend.softmax_rows_async(&a, cols).await,
        })
    }

    /// See [`GpuBackend::matmul_async`].
    #[must_use]
    pub fn matmul(&self, a: Vec<f32>, b: Vec<f32>, m: u32, k: u32, n: u32) -> Call {
        let [m, k, n] = [m, k, n].map(|size| size as usize);
        self.run(async move |backend| backend.matmul_async(&a, &b, m, k, n).await)
    }

    /// See [`GpuBackend::convolve2d_async`].
    pub fn convolve2d(
        &self,
        input: Vec<f32>,
        kernel: Vec<f32>,
        size: &[u32],
        kernel_size: &[u32],
    ) -> Given<Call> {
        let (size, kernel_size) = (pair(size)?, pair(kernel_size)?);
        Ok(self.run(async move |backend| {
            let made = backend.convolve2d_async(&input, &kernel, size, kernel_size);
            made.await
        }))
    }

    /// See [`GpuBackend::reduce_axes_async`].
    pub fn reduce(&self, reduction: &str, a: Vec<f32>, dims: &[u32], axes: &[u32]) -> Given<Call> {
        let (reduction, shape) = (reduction_from(reduction)?, shape_from(dims)?);
        let axes = sizes_from(axes);
        Ok(self.run(async move |backend| {
            let made = backend.reduce_axes_async(reduction, &a, &shape, &axes);
            made.await
        }))
    }
}

impl WebBackend {
    fn run(&self, work: impl AsyncFnOnce(&mut GpuBackend) -> Result<Vec<f32>> + 'static) -> Call {
        let place = Rc::clone(&self.0);
        call(async move {
            let taken = place.borrow_mut().take();
            let Some(mut backend) = taken else {
                return Err(Error::Engine {
                    engine: "wasm",
                    message: "the backend was lost in a call that failed".into(),
                });
            };
            let made = work(&mut backend).await;
            *place.borrow_mut() = Some(backend);
            made.map(|values| Float32Array::from(values.as_slice()))
        })
    }
}

/// Rows and columns.
fn pair(sizes: &[u32]) -> Result<[usize; 2]> {
    match sizes {
        &[rows, cols] => Ok([rows as usize, cols as usize]),
        _ => Err(Error::invalid(
            "size",
            sizes.len() as u64,
            "give rows and columns",
        )),
    }
}
