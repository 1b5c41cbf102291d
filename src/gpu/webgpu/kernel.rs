//! Compiled kernels.

use std::rc::Rc;

use super::calls::{self, Description};
use super::device::{Shared, answered, value};
use crate::gpu::backend::KernelSource;
use crate::gpu::id::{DeviceId, Owned};
use crate::js::{self, Value};
use crate::kernels::Access;
use crate::{Error, Result};

/// A compiled kernel.
#[derive(Debug, Clone)]
pub struct WebKernel(Rc<Compiled>);

#[derive(Debug)]
struct Compiled {
    device: DeviceId,
    entry: String,
    bindings: Vec<Access>,
    pipeline: Value,
}

impl WebKernel {
    pub(super) fn entry(&self) -> &str {
        &self.0.entry
    }

    pub(super) fn bindings(&self) -> &[Access] {
        &self.0.bindings
    }

    pub(super) fn number(&self) -> u32 {
        self.0.pipeline.number()
    }
}

impl Owned for WebKernel {
    fn device_id(&self) -> DeviceId {
        self.0.device
    }
}

/// The kernel of `source`, from the cache or compiled.
pub(super) async fn compile(shared: &Shared, source: &KernelSource<'_>) -> Result<WebKernel> {
    if let Some(kernel) = shared.kernels.find(source) {
        return Ok(kernel);
    }
    shared.check()?;
    let asked = ask(shared, source);
    let pipeline = answered(asked.receive().await);
    shared.check()?;
    let failed = |message| Error::KernelCompile {
        kernel: source.entry.to_owned(),
        message,
    };
    let pipeline = value(pipeline.map_err(failed)?).ok_or_else(|| failed(String::new()))?;
    let kernel = WebKernel(Rc::new(Compiled {
        device: shared.id,
        entry: source.entry.to_owned(),
        bindings: source.bindings.to_vec(),
        pipeline,
    }));
    shared.kernels.keep(source, kernel.clone());
    Ok(kernel)
}

/// Asks for a pipeline. JavaScript reads the description before this returns.
fn ask(shared: &Shared, source: &KernelSource<'_>) -> crate::signal::Receiver<js::Answer> {
    let mut names = String::new();
    let mut values = Vec::new();
    for (name, value) in source.overrides {
        names.push_str(name);
        names.push('\n');
        values.push(*value);
    }
    let bindings: Vec<u8> = source.bindings.iter().map(|&access| access as u8).collect();
    let place = |bytes: &[u8]| [bytes.as_ptr() as usize, bytes.len()];
    let what = Description {
        wgsl: place(source.wgsl.as_bytes()),
        entry: place(source.entry.as_bytes()),
        bindings: place(&bindings),
        names: place(names.as_bytes()),
        values: [values.as_ptr() as usize, values.len()],
    };
    // SAFETY: what the description names lives until the call returns, and is only read.
    js::ask(|token| unsafe { calls::compile(shared.device.number(), &raw const what, token) })
}
