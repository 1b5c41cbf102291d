//! The structures of `dlpack.h`, versions 0.2 to 1.

use std::ffi::{CStr, c_void};

/// Device type of an NVIDIA GPU: `kDLCUDA`.
pub(crate) const CUDA: i32 = 2;
/// Device type of memory that the driver moves between GPU and host: `kDLCUDAManaged`.
pub(super) const CUDA_MANAGED: i32 = 13;
/// `kDLUInt`.
pub(super) const UINT: u8 = 1;
/// Major version of [`Versioned`].
pub(super) const MAJOR: u32 = 1;
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
pub(super) const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`.
pub(super) const IS_COPIED: u64 = 2;

/// `DLDevice`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Device {
    pub(super) kind: i32,
    pub(super) id: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct DataType {
    pub(super) code: u8,
    pub(super) bits: u8,
    pub(super) lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Tensor {
    pub(super) data: *mut c_void,
    pub(super) device: Device,
    pub(super) n_axes: i32,
    pub(super) data_type: DataType,
    pub(super) shape: *mut i64,
    pub(super) strides: *mut i64,
    pub(super) byte_offset: u64,
}

/// Frees a tensor and what keeps its memory.
pub(super) type Deleter<T> = Option<unsafe extern "C" fn(*mut T)>;

/// `DLManagedTensor`, which has no version.
#[repr(C)]
pub(super) struct Unversioned {
    pub(super) tensor: Tensor,
    pub(super) context: *mut c_void,
    pub(super) deleter: Deleter<Self>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
pub(super) struct Versioned {
    pub(super) major: u32,
    pub(super) minor: u32,
    pub(super) context: *mut c_void,
    pub(super) deleter: Deleter<Self>,
    pub(super) flags: u64,
    pub(super) tensor: Tensor,
}

/// Either structure. Its capsule has a name until a library takes the tensor, and another one afterwards.
pub(super) trait Managed: Sized {
    const NAME: &'static CStr;
    const USED: &'static CStr;

    fn new(tensor: Tensor, flags: u64, deleter: Deleter<Self>) -> Self;
    fn deleter(&self) -> Deleter<Self>;
    fn tensor_mut(&mut self) -> &mut Tensor;
}

impl Managed for Unversioned {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    fn new(tensor: Tensor, _flags: u64, deleter: Deleter<Self>) -> Self {
        Self {
            tensor,
            context: std::ptr::null_mut(),
            deleter,
        }
    }

    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }

    fn tensor_mut(&mut self) -> &mut Tensor {
        &mut self.tensor
    }
}

impl Managed for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    fn new(tensor: Tensor, flags: u64, deleter: Deleter<Self>) -> Self {
        Self {
            major: MAJOR,
            minor: 0,
            context: std::ptr::null_mut(),
            deleter,
            flags,
            tensor,
        }
    }

    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }

    fn tensor_mut(&mut self) -> &mut Tensor {
        &mut self.tensor
    }
}

/// Sizes and places that the C header gives them on 64-bit machines.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Tensor>() == 48);
    assert!(size_of::<Unversioned>() == 64);
    assert!(size_of::<Versioned>() == 80);
    assert!(std::mem::offset_of!(Versioned, deleter) == 16);
    assert!(std::mem::offset_of!(Versioned, tensor) == 32);
    assert!(std::mem::offset_of!(Tensor, byte_offset) == 40);
};
