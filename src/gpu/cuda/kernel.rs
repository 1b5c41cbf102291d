//! Compiled kernels: `wgsl-ptx` compiles WGSL to PTX, the driver PTX to machine code.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUjit_option_enum as JitOption};

use super::context::Context;
use super::device::Shared;
use super::fault::{self, ok};
use crate::gpu::backend::KernelSource;
use crate::gpu::id::{DeviceId, Owned};
use crate::kernels::Access;
use crate::ptx::{Bounds, CompiledPtx, PtxOptions, PtxParam, PtxParamKind, compile_wgsl};
use crate::{Error, Result};

/// Compute capabilities, times ten, that PTX is emitted for. Other GPUs use that of the next lower one.
const TARGETS: [u32; 4] = [75, 80, 90, 100];

/// A compiled kernel.
#[derive(Debug, Clone)]
pub struct CudaKernel(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    device: DeviceId,
    entry: String,
    bindings: Vec<Access>,
    params: Vec<PtxParam>,
    workgroup_size: [u32; 3],
    /// The module, which is unloaded with the kernel.
    _module: Module,
    function: sys::CUfunction,
}

// SAFETY: the driver's functions may be used by several threads concurrently; it locks internally.
unsafe impl Send for Loaded {}
// SAFETY: the driver locks internally, as for `Send`.
unsafe impl Sync for Loaded {}

#[derive(Debug)]
struct Module {
    raw: sys::CUmodule,
    context: Arc<Context>,
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: this object owns the module, no other has its handle, and no kernel of it runs: a device waits
            // for its work before it drops its kernels.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

impl CudaKernel {
    pub(super) fn entry(&self) -> &str {
        &self.0.entry
    }

    pub(super) fn bindings(&self) -> &[Access] {
        &self.0.bindings
    }

    /// Parameters of the machine code, in order; unused bindings have none.
    pub(super) fn params(&self) -> &[PtxParam] {
        &self.0.params
    }

    pub(super) fn workgroup_size(&self) -> [u32; 3] {
        self.0.workgroup_size
    }

    pub(super) fn function(&self) -> sys::CUfunction {
        self.0.function
    }
}

/// A kernel belongs to a device, not to a context: a device keeps its modules loaded until its own work has ended, and does not
/// track launches on another device in the same context.
impl Owned for CudaKernel {
    fn device_id(&self) -> DeviceId {
        self.0.device
    }
}

/// Returns the kernel of `source` from the cache, or compiles it.
pub(super) fn compile(shared: &Shared, source: &KernelSource<'_>) -> Result<CudaKernel> {
    shared.check()?;
    if let Some(kernel) = shared.kernels.find(source) {
        return Ok(kernel);
    }
    let unchecked = shared.may_leave_out_checks && !source.is_checked();
    let options = PtxOptions {
        overrides: source.overrides,
        sm: target(shared.sm),
        bounds: if unchecked {
            Bounds::Unchecked
        } else {
            Bounds::Clamp
        },
        clear_workgroup: source.is_cleared(),
        ..PtxOptions::new(source.entry)
    };
    let ptx = compile_wgsl(source.wgsl, &options)?;
    let kernel = load(shared, &ptx, source.bindings)?;
    shared.kernels.keep(source, kernel.clone());
    Ok(kernel)
}

/// Returns the PTX target for a GPU of compute capability `sm`.
fn target(sm: u32) -> u32 {
    let known = TARGETS.into_iter().rev().find(|&target| target <= sm);
    known.unwrap_or(TARGETS[0])
}

/// Has the driver compile PTX to machine code, with the parameters of `bindings`.
pub(super) fn load(shared: &Shared, ptx: &CompiledPtx, bindings: &[Access]) -> Result<CudaKernel> {
    let failed = |message: String| Error::KernelCompile {
        kernel: ptx.entry.clone(),
        message,
    };
    check_bindings(ptx, bindings).map_err(failed)?;
    check_limits(shared, ptx).map_err(failed)?;
    let module = load_module(shared, ptx)?;
    let entered = shared.context.enter()?;
    let name = CString::new(ptx.entry.as_str()).map_err(|error| failed(error.to_string()))?;
    let mut function = std::ptr::null_mut();
    // SAFETY: `function` outlives the call; module and context belong together.
    entered.ok("cuModuleGetFunction", unsafe {
        sys::cuModuleGetFunction(&raw mut function, module.raw, name.as_ptr())
    })?;
    Ok(CudaKernel(Arc::new(Loaded {
        device: shared.id,
        entry: ptx.entry.clone(),
        bindings: bindings.to_vec(),
        params: ptx.params.clone(),
        workgroup_size: ptx.workgroup_size,
        _module: module,
        function,
    })))
}

/// Checks that the kernel's parameters match the caller's bindings.
fn check_bindings(ptx: &CompiledPtx, bindings: &[Access]) -> Result<(), String> {
    for param in &ptx.params {
        let (group, binding) = (param.group, param.binding);
        if group != 0 {
            return Err(format!(
                "binding {binding} is in group {group}, only group 0 is used"
            ));
        }
        let Some(access) = bindings.get(binding as usize) else {
            let n = bindings.len();
            return Err(format!("binding {binding} has no access; {n} are given"));
        };
        let agrees = match param.kind {
            PtxParamKind::Uniform { .. } => *access == Access::Uniform,
            PtxParamKind::Storage { writable } => {
                *access == Access::ReadWrite || (*access == Access::Read && !writable)
            }
        };
        if !agrees {
            return Err(format!(
                "binding {binding} is {:?}, not {access:?}",
                param.kind
            ));
        }
    }
    Ok(())
}

fn check_limits(shared: &Shared, ptx: &CompiledPtx) -> Result<(), String> {
    let limits = &shared.capabilities;
    let invocations: u32 = ptx.workgroup_size.iter().product();
    if invocations > limits.max_workgroup_invocations {
        return Err(format!(
            "{invocations} invocations in a workgroup, the device takes {}",
            limits.max_workgroup_invocations
        ));
    }
    if ptx.shared_bytes > limits.max_workgroup_bytes {
        return Err(format!(
            "{} bytes of workgroup memory, the device has {}",
            ptx.shared_bytes, limits.max_workgroup_bytes
        ));
    }
    Ok(())
}

fn load_module(shared: &Shared, ptx: &CompiledPtx) -> Result<Module> {
    const LOG_BYTES: usize = 16 << 10;
    let failed = |message: String| Error::KernelCompile {
        kernel: ptx.entry.clone(),
        message,
    };
    let text = CString::new(ptx.text.as_str()).map_err(|error| failed(error.to_string()))?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [
        JitOption::CU_JIT_ERROR_LOG_BUFFER,
        JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        // The driver expects the number in place of a pointer.
        std::ptr::without_provenance_mut(LOG_BYTES),
    ];
    let _entered = shared.context.enter()?;
    let mut raw = std::ptr::null_mut();
    // SAFETY: text, options, values and log outlive the call; there are as many values as options.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut raw,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if let Err(refused) = ok("cuModuleLoadDataEx", code) {
        let error = shared.context.explain(refused);
        if matches!(error, Error::DeviceLost { .. }) {
            return Err(error);
        }
        let log = log.split(|&byte| byte == 0).next().unwrap_or_default();
        let words = String::from_utf8_lossy(log);
        let driver = &shared.info.driver;
        return Err(failed(format!(
            "{} (driver for {driver})\n{}",
            fault::describe(&refused),
            words.trim()
        )));
    }
    Ok(Module {
        raw,
        context: Arc::clone(&shared.context),
    })
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn gpus_use_their_own_or_an_older_target() {
        assert_eq!(
            [75, 86, 89, 90, 103, 120].map(target),
            [75, 80, 80, 90, 100, 100]
        );
    }
}
