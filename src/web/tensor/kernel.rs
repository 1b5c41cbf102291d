//! Kernels of users as classes of JavaScript.

use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{Given, call, wrong};
use super::device::WebDevice;
use super::resident::WebTensor;
use crate::gpu::{Backend, Buffer, Kernel, KernelArg, KernelSource};
use crate::kernels::Access;
use crate::tensor::GpuTensor;
use crate::{Error, Result};

/// [`Kernel`] for JavaScript.
#[wasm_bindgen(js_name = Kernel)]
#[derive(Debug)]
pub struct WebKernel(Kernel);

/// The arguments of a launch, in the order of the bindings.
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
    /// No arguments yet.
    #[must_use]
    #[wasm_bindgen(js_name = none)]
    pub fn none() -> Self {
        Self::default()
    }

    /// A tensor, for a binding that is storage.
    pub fn tensor(&mut self, tensor: &WebTensor) {
        self.0.push(Argument::Tensor(tensor.0.clone()));
    }

    /// Words, for a binding that is uniform.
    pub fn params(&mut self, words: Vec<u32>) {
        self.0.push(Argument::Params(words));
    }
}

#[wasm_bindgen(js_class = Device)]
impl WebDevice {
    /// Compiles WGSL, or finds it compiled already. `bindings` are `read`, `read-write` and `uniform`, with spaces between;
    /// `overrides` are names, with spaces between, and as many values.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown access; the call's is `KERNEL_COMPILE` with line and column.
    #[wasm_bindgen(js_name = compileKernel)]
    pub fn compile_kernel(
        &self,
        wgsl: String,
        entry: String,
        bindings: &str,
        overrides: String,
        values: Vec<f64>,
    ) -> Given<Call> {
        let bindings = bindings
            .split_whitespace()
            .map(access_from)
            .collect::<Result<Vec<Access>>>()?;
        let device = self.0.clone();
        Ok(call(async move {
            let overrides: Vec<(&str, f64)> = overrides.split_whitespace().zip(values).collect();
            let source = KernelSource {
                overrides: &overrides,
                ..KernelSource::new(&wgsl, &entry, &bindings)
            };
            device.compile_kernel(&source).await.map(WebKernel)
        }))
    }

    /// Launches so many workgroups; returns once they are submitted.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` when the arguments do not fit the bindings, a tensor cannot be bound as it lies, or the grid is
    /// too large; `DEVICE_LOST`.
    pub fn launch(
        &self,
        kernel: &WebKernel,
        x: u32,
        y: u32,
        z: u32,
        arguments: &WebArguments,
    ) -> Given<()> {
        let args: Vec<KernelArg<'_, Buffer>> = arguments
            .0
            .iter()
            .map(|argument| match argument {
                Argument::Tensor(tensor) => bound(tensor),
                Argument::Params(words) => Ok(KernelArg::Params(words)),
            })
            .collect::<Result<_>>()?;
        self.0.launch_kernel(&kernel.0, [x, y, z], &args)?;
        Ok(())
    }
}

fn access_from(name: &str) -> Result<Access> {
    match name {
        "read" => Ok(Access::Read),
        "read-write" => Ok(Access::ReadWrite),
        "uniform" => Ok(Access::Uniform),
        _ => Err(wrong("bindings", name, "give read, read-write or uniform")),
    }
}

/// Just the elements of a tensor, so that the kernel's `arrayLength` is their number.
fn bound(tensor: &GpuTensor) -> Result<KernelArg<'_, Buffer>> {
    const ALIGNMENT: u64 = 256;
    let start = 4 * tensor.view().offset() as u64;
    if !tensor.view().is_contiguous() || !start.is_multiple_of(ALIGNMENT) {
        return Err(Error::InvalidArgument {
            name: "args",
            value: "a view that is strided, or does not start at a multiple of 64 elements".into(),
            expected: "give `await view.contiguous()`, or a copy by `apply([])`",
        });
    }
    let n_bytes = 4 * tensor.shape().n_elements() as u64;
    Ok(match n_bytes {
        0 => KernelArg::Buffer(tensor.buffer()),
        _ => KernelArg::Slice(tensor.buffer(), start..start + n_bytes),
    })
}
