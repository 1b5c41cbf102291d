//! Converts the driver's result codes to errors, with their names.

use std::ffi::CStr;
use std::fmt;

use cudarc::driver::sys::{self, CUresult as Code};

use super::ENGINE;
use crate::Error;

/// A call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failed {
    /// The driver's function.
    pub call: &'static str,
    /// Its result code.
    pub code: Code,
}

/// Converts the result code of a call.
pub(super) fn ok(call: &'static str, code: Code) -> Result<(), Failed> {
    match code {
        Code::CUDA_SUCCESS => Ok(()),
        code => Err(Failed { call, code }),
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} gave error {} ({:?})",
            self.call, self.code as u32, self.code
        )
    }
}

impl Failed {
    /// Returns true if the context is lost, and with it all memory and kernels.
    pub(super) fn loses_context(self) -> bool {
        matches!(
            self.code,
            Code::CUDA_ERROR_ILLEGAL_ADDRESS
                | Code::CUDA_ERROR_LAUNCH_TIMEOUT
                | Code::CUDA_ERROR_CONTEXT_IS_DESTROYED
                | Code::CUDA_ERROR_ASSERT
                | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
                | Code::CUDA_ERROR_ILLEGAL_INSTRUCTION
                | Code::CUDA_ERROR_MISALIGNED_ADDRESS
                | Code::CUDA_ERROR_INVALID_ADDRESS_SPACE
                | Code::CUDA_ERROR_INVALID_PC
                | Code::CUDA_ERROR_LAUNCH_FAILED
                | Code::CUDA_ERROR_TENSOR_MEMORY_LEAK
                | Code::CUDA_ERROR_ECC_UNCORRECTABLE
                | Code::CUDA_ERROR_NVLINK_UNCORRECTABLE
                | Code::CUDA_ERROR_CONTAINED
                | Code::CUDA_ERROR_DEINITIALIZED
                | Code::CUDA_ERROR_MPS_CLIENT_TERMINATED
                | Code::CUDA_ERROR_UNKNOWN
        )
    }

    /// Converts to an error. The loss of a context is handled by
    /// [`Context::explain`](super::context::Context::explain).
    pub(super) fn into_error(self) -> Error {
        Error::Engine {
            engine: ENGINE,
            message: describe(&self),
        }
    }
}

/// Describes the failure: the code, its name, and its usual cause.
pub(super) fn describe(failed: &Failed) -> String {
    let cause = match failed.code {
        Code::CUDA_ERROR_ILLEGAL_ADDRESS | Code::CUDA_ERROR_INVALID_ADDRESS_SPACE => {
            "a kernel read or wrote outside of all memory; kernels are kept inside their buffers unless they \
             were compiled without checks"
                .into()
        }
        Code::CUDA_ERROR_MISALIGNED_ADDRESS => {
            "a kernel read or wrote at an address that is not a multiple of the size of what it accessed".into()
        }
        Code::CUDA_ERROR_LAUNCH_TIMEOUT => {
            "a kernel ran longer than the display driver allows; give it less work a launch".into()
        }
        Code::CUDA_ERROR_ILLEGAL_INSTRUCTION => "a kernel trapped, or is for another GPU".into(),
        code => driver_words(code),
    };
    format!("{failed}: {cause}")
}

fn driver_words(code: Code) -> String {
    let mut text = std::ptr::null();
    // SAFETY: `text` outlives the call; the driver is loaded, since it returned `code`.
    let known = unsafe { sys::cuGetErrorString(code, &raw mut text) } == Code::CUDA_SUCCESS;
    if !known || text.is_null() {
        return "the driver has no words for it".into();
    }
    // SAFETY: the driver returned a static string, which lives as long as the library.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}
