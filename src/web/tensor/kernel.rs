//! Custom kernels as JavaScript classes.

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, promise, wrong};
use super::device::WebDevice;
use super::resident::WebTensor;
use crate::gpu::{Backend, Buffer, Kernel, KernelArg, KernelSource};
use crate::kernels::{Access, SLICE_ALIGNMENT};
use crate::tensor::GpuTensor;
use crate::{Error, Result};

/// A compiled kernel: [`Kernel`] for JavaScript.
#[wasm_bindgen(js_name = Kernel)]
#[derive(Debug)]
pub struct WebKernel(Kernel);

/// The arguments of a launch, in binding order. The launch consumes them.
#[wasm_bindgen(js_name = Arguments)]
#[derive(Debug, Default)]
pub struct WebArguments(Vec<Argument>);

#[derive(Debug)]
enum Argument {
    Tensor(GpuTensor),
    Params(Vec<u32>),
}

#[wasm_bindgen(js_class = Arguments)]
impl WebArguments {
    /// Creates an empty list.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a tensor, for a storage binding.
    pub fn tensor(&mut self, tensor: &WebTensor) {
        self.0.push(Argument::Tensor(tensor.0.clone()));
    }

    /// Appends words, for a uniform binding.
    pub fn params(&mut self, words: Vec<u32>) {
        self.0.push(Argument::Params(words));
    }
}

#[wasm_bindgen(js_class = Device)]
impl WebDevice {
    /// Compiles WGSL, or returns a cached kernel. `bindings` is a list of `read`, `read-write` and `uniform`,
    /// `overrides` a list of the names of `values`; both are separated by spaces.
    #[wasm_bindgen(js_name = compileKernel, unchecked_return_type = "Promise<Kernel>")]
    pub fn compile_kernel(
        &self,
        wgsl: String,
        entry: String,
        bindings: &str,
        overrides: String,
        values: Vec<f64>,
    ) -> JsResult<Promise> {
        let bindings: Vec<Access> = bindings
            .split_ascii_whitespace()
            .map(access)
            .collect::<Result<_>>()?;
        let device = self.device.clone();
        Ok(promise(async move {
            let names = overrides.split_ascii_whitespace();
            let overrides: Vec<(&str, f64)> = names.zip(values).collect();
            let source = KernelSource::new(&wgsl, &entry, &bindings).with_overrides(&overrides);
            device.compile_kernel(&source).await.map(WebKernel)
        }))
    }

    /// Launches a grid of workgroups; returns as soon as it is submitted.
    pub fn launch(
        &self,
        kernel: &WebKernel,
        x: u32,
        y: u32,
        z: u32,
        #[wasm_bindgen(js_name = args)] given: WebArguments,
    ) -> JsResult<()> {
        let args: Vec<KernelArg<'_, Buffer>> = given
            .0
            .iter()
            .map(|argument| match argument {
                Argument::Tensor(tensor) => bound(tensor),
                Argument::Params(words) => Ok(KernelArg::Params(words)),
            })
            .collect::<Result<_>>()?;
        self.device.launch_kernel(&kernel.0, [x, y, z], &args)?;
        Ok(())
    }
}

fn access(name: &str) -> Result<Access> {
    Ok(match name {
        "read" => Access::Read,
        "read-write" => Access::ReadWrite,
        "uniform" => Access::Uniform,
        _ => {
            return Err(wrong(
                "bindings",
                &name.into(),
                "give read, read-write or uniform",
            ));
        }
    })
}

/// Binds exactly the elements of a tensor, so that the kernel's `arrayLength` is their number.
fn bound(tensor: &GpuTensor) -> Result<KernelArg<'_, Buffer>> {
    let of_element = tensor.dtype().n_bytes() as u64;
    let start = of_element * tensor.view().offset() as u64;
    if !tensor.view().is_contiguous() || !start.is_multiple_of(SLICE_ALIGNMENT) {
        return Err(Error::InvalidArgument {
            name: "args",
            value: "a view that is strided, or does not start at a multiple of 256 bytes".into(),
            expected: "give `await view.contiguous()`, or a copy by `apply([])`",
        });
    }
    let n_bytes = (of_element * tensor.shape().n_elements() as u64).next_multiple_of(4);
    Ok(match n_bytes {
        0 => KernelArg::Buffer(tensor.buffer()),
        _ => KernelArg::Slice(tensor.buffer(), start..start + n_bytes),
    })
}
