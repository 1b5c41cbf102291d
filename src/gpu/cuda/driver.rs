//! Loads the driver's library and checks that its version is supported.

use std::ffi::c_int;
use std::sync::OnceLock;

use cudarc::driver::sys;

use super::fault::{self, Failed, ok};

/// Minimum driver version, as CUDA counts versions: 12.0. Older drivers lack functions that this crate calls, or do not
/// support the PTX that it emits.
const MIN_VERSION: i32 = 12_000;

/// Functions that this crate calls. The binding loads each at its first use and panics if it is missing, so they are
/// checked first.
const CALLS: [&str; 37] = [
    "cuCtxPopCurrent_v2",
    "cuCtxPushCurrent_v2",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncSetAttribute",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernelEx",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamGetCtx",
    "cuStreamWaitEvent",
];

/// Returns the driver's CUDA version, as 1000 times major plus 10 times minor, or the reason why it cannot be used.
///
/// All other functions of this engine require that this one has succeeded.
pub(super) fn version() -> Result<i32, String> {
    static STATE: OnceLock<Result<i32, String>> = OnceLock::new();
    STATE.get_or_init(start).clone()
}

fn start() -> Result<i32, String> {
    // SAFETY: searches for the library and loads nothing else.
    if !unsafe { sys::is_culib_present() } {
        return Err("no CUDA driver found: install the NVIDIA driver".into());
    }
    // SAFETY: the library exists, so this does not panic.
    let library = unsafe { sys::culib() };
    let is_missing = |name: &&&str| {
        // SAFETY: the symbol is only looked up, not called.
        let found = unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) };
        found.is_err()
    };
    if let Some(missing) = CALLS.iter().find(is_missing) {
        return Err(format!(
            "the CUDA driver has no {missing}: update the NVIDIA driver to one for CUDA {} or newer",
            readable(MIN_VERSION)
        ));
    }
    let mut version: c_int = 0;
    // SAFETY: `version` outlives the call.
    let asked = ok("cuDriverGetVersion", unsafe {
        sys::cuDriverGetVersion(&raw mut version)
    });
    asked.map_err(|failed| failed.to_string())?;
    if version < MIN_VERSION {
        return Err(format!(
            "the NVIDIA driver supports CUDA {}, {} is needed: update the driver",
            readable(version),
            readable(MIN_VERSION)
        ));
    }
    // SAFETY: no precondition.
    match ok("cuInit", unsafe { sys::cuInit(0) }) {
        Ok(()) => Ok(version),
        Err(failed) => Err(explain(&failed)),
    }
}

fn explain(failed: &Failed) -> String {
    use sys::CUresult as Code;
    match failed.code {
        Code::CUDA_ERROR_NO_DEVICE => "the CUDA driver finds no NVIDIA GPU".into(),
        Code::CUDA_ERROR_STUB_LIBRARY => {
            "libcuda is the stub of a CUDA toolkit: install the NVIDIA driver".into()
        }
        Code::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            "libcuda and the kernel module are of different driver versions: restart the machine"
                .into()
        }
        _ => fault::describe(failed),
    }
}

/// Formats `12_080` as `"12.8"`.
pub(super) fn readable(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_readable() {
        assert_eq!(super::readable(12_080), "12.8");
        assert_eq!(super::readable(13_000), "13.0");
    }
}
