//! Kernels that the driver has compiled from PTX to machine code.

use std::ffi::{CString, c_int, c_void};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUjit_option_enum as JitOption};

use super::context::Context;
use super::fault::{self, ok};
use crate::gpu::id::{DeviceId, Owned};
use crate::gpu::info::Capabilities;
use crate::kernels::Access;
use crate::ptx::{CompiledPtx, PtxParam, PtxParamKind};
use crate::{Error, Result};

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
    /// Bytes of shared memory that a launch states.
    shared_bytes: u32,
    waits_by_itself: bool,
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

    /// Bytes of shared memory that a launch states.
    pub(super) fn shared_bytes(&self) -> u32 {
        self.0.shared_bytes
    }

    /// True if the kernel waits for the one ahead of it in its stream.
    pub(super) fn waits_by_itself(&self) -> bool {
        self.0.waits_by_itself
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

/// Loads kernels for a device, with what it needs of the device.
pub(super) struct Loader<'a> {
    pub device: DeviceId,
    pub context: &'a Arc<Context>,
    pub limits: &'a Capabilities,
    /// Driver and its version, for messages.
    pub driver: &'a str,
}

impl Loader<'_> {
    /// Has the driver compile PTX to machine code, with the parameters of `bindings`.
    pub(super) fn load(&self, ptx: &CompiledPtx, bindings: &[Access]) -> Result<CudaKernel> {
        let failed = |message: String| Error::KernelCompile {
            kernel: ptx.entry.clone(),
            message,
        };
        check_bindings(ptx, bindings).map_err(failed)?;
        self.check_limits(ptx).map_err(failed)?;
        let module = self.load_module(ptx)?;
        let entered = self.context.enter()?;
        let name = CString::new(ptx.entry.as_str()).map_err(|error| failed(error.to_string()))?;
        let mut function = std::ptr::null_mut();
        // SAFETY: `function` outlives the call; module and context belong together.
        entered.ok("cuModuleGetFunction", unsafe {
            sys::cuModuleGetFunction(&raw mut function, module.raw, name.as_ptr())
        })?;
        let shared_bytes = ptx.launched_shared_bytes();
        if shared_bytes > 0 {
            let attribute =
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is of the module that was just loaded in the context that is current.
            entered.ok("cuFuncSetAttribute", unsafe {
                sys::cuFuncSetAttribute(function, attribute, shared_bytes as c_int)
            })?;
        }
        Ok(CudaKernel(Arc::new(Loaded {
            device: self.device,
            entry: ptx.entry.clone(),
            bindings: bindings.to_vec(),
            params: ptx.params.clone(),
            workgroup_size: ptx.workgroup_size,
            shared_bytes,
            waits_by_itself: ptx.waits_by_itself,
            _module: module,
            function,
        })))
    }

    fn check_limits(&self, ptx: &CompiledPtx) -> Result<(), String> {
        let limits = self.limits;
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

    fn load_module(&self, ptx: &CompiledPtx) -> Result<Module> {
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
        let _entered = self.context.enter()?;
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
            let error = self.context.explain(refused);
            if matches!(error, Error::DeviceLost { .. }) {
                return Err(error);
            }
            let log = log.split(|&byte| byte == 0).next().unwrap_or_default();
            let words = String::from_utf8_lossy(log);
            let driver = self.driver;
            return Err(failed(format!(
                "{} (driver for {driver})\n{}",
                fault::describe(&refused),
                words.trim()
            )));
        }
        Ok(Module {
            raw,
            context: Arc::clone(self.context),
        })
    }
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
