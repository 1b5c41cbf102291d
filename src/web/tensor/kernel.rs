//! Kernels of users.

use super::convert::{array, unknown, words};
use crate::gpu::{Backend, Buffer, GpuDevice, Kernel, KernelArg, KernelSource};
use crate::kernels::Access;
use crate::tensor::GpuTensor;
use crate::web::call::{Call, Done};
use crate::web::memory::settle_empty;
use crate::{Error, Result};

/// Compiles WGSL, or finds it compiled already; the call gives the address of a kernel. `bindings` are words, the
/// [`Access`]es; `names` are those of overrides, with spaces between, `values` as many numbers of 64 bits.
#[unsafe(no_mangle)]
extern "C" fn device_compile(
    device: &GpuDevice,
    wgsl: u32,
    entry: u32,
    bindings: u32,
    names: u32,
    values: u32,
) -> *mut Call {
    let device = device.clone();
    let [wgsl, entry, names, values] = [wgsl, entry, names, values].map(array);
    let bindings = words(bindings);
    Call::begin(Box::pin(async move {
        let [wgsl, entry, names] = [wgsl?.text(), entry?.text(), names?.text()];
        let bindings = bindings?
            .into_iter()
            .map(access)
            .collect::<Result<Vec<_>>>()?;
        let values = values?;
        let values = values.read(0..values.len())?;
        let (values, _) = values.as_chunks();
        let values = values.iter().map(|&bytes| f64::from_le_bytes(bytes));
        let overrides: Vec<(&str, f64)> = names.split_ascii_whitespace().zip(values).collect();
        let source = KernelSource::new(&wgsl, &entry, &bindings).with_overrides(&overrides);
        device.compile_kernel(&source).await.map(Done::object)
    }))
}

#[unsafe(no_mangle)]
extern "C" fn kernel_free(_: Box<Kernel>) {}

/// Launches so many workgroups; returns once they are submitted. Arguments are words: the address of a tensor, for a
/// binding that is storage; or 0, a number, and as many words, for one that is uniform.
///
/// # Safety
/// The tensors are there.
#[unsafe(no_mangle)]
unsafe extern "C" fn device_launch(
    device: &GpuDevice,
    kernel: &Kernel,
    x: u32,
    y: u32,
    z: u32,
    arguments: u32,
) -> u32 {
    settle_empty(words(arguments).and_then(|words| {
        // SAFETY: this function's contract.
        let args = unsafe { arguments_of(&words) }?;
        device.launch_kernel(kernel, [x, y, z], &args)?;
        Ok(())
    }))
}

/// # Safety
/// The tensors are there.
unsafe fn arguments_of(mut words: &[u32]) -> Result<Vec<KernelArg<'_, Buffer>>> {
    let mut args = Vec::new();
    while let Some((&tensor, rest)) = words.split_first() {
        words = rest;
        let tensor = tensor as usize as *const GpuTensor;
        // SAFETY: this function's contract.
        if let Some(tensor) = unsafe { tensor.as_ref() } {
            args.push(bound(tensor)?);
            continue;
        }
        let (&n, rest) = words.split_first().unwrap_or((&0, &[]));
        let (params, rest) = rest.split_at(rest.len().min(n as usize));
        args.push(KernelArg::Params(params));
        words = rest;
    }
    Ok(args)
}

fn access(number: u32) -> Result<Access> {
    Ok(match number {
        0 => Access::Read,
        1 => Access::ReadWrite,
        2 => Access::Uniform,
        _ => return Err(unknown("bindings", number)),
    })
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
