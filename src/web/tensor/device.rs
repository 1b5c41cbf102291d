//! The device.

use super::convert::{array, making, nothing, shape};
use crate::Result;
use crate::gpu::{Backend, DeviceRequest, GpuDevice, PowerPreference};
use crate::js::Value;
use crate::kernels::tensor::padded_bytes;
use crate::tensor::{GpuTensor, TensorView};
use crate::web::call::{Call, Done};
use crate::web::memory::object;

/// Opens a GPU. The call gives the address of a device.
#[unsafe(no_mangle)]
extern "C" fn device_open(low_power: bool, allow_software: bool) -> *mut Call {
    let request = DeviceRequest {
        power_preference: match low_power {
            true => PowerPreference::LowPower,
            false => PowerPreference::HighPerformance,
        },
        allow_software,
        ..DeviceRequest::default()
    };
    Call::begin(Box::pin(async move {
        GpuDevice::open_async(&request).await.map(Done::object)
    }))
}

/// The page's own device, by the number of what JavaScript keeps of it.
#[unsafe(no_mangle)]
extern "C" fn device_borrow(device: u32) -> *mut GpuDevice {
    let device = Value::new(device).ok_or_else(nothing);
    object(device.map(GpuDevice::borrowed))
}

/// The number of what JavaScript keeps of it, which stays the module's.
#[unsafe(no_mangle)]
extern "C" fn device_number(device: &GpuDevice) -> u32 {
    device.as_web().number()
}

/// Gives the device up: all of its tensors are lost.
#[unsafe(no_mangle)]
extern "C" fn device_close(device: &GpuDevice) {
    device.destroy();
}

#[unsafe(no_mangle)]
extern "C" fn device_free(_: Box<GpuDevice>) {}

/// Waits until everything submitted has run.
#[unsafe(no_mangle)]
extern "C" fn device_synchronize(device: &GpuDevice) -> *mut Call {
    let device = device.clone();
    Call::begin(Box::pin(async move {
        device.synchronize_async().await.map(|()| Done::default())
    }))
}

/// A tensor of the elements of an array, which are read at the first poll.
#[unsafe(no_mangle)]
extern "C" fn device_upload(device: &GpuDevice, values: u32, dims: u32) -> *mut Call {
    let (device, values, shape) = (device.clone(), array(values), shape(dims));
    making(Box::pin(async move {
        GpuTensor::from_js_async(&device, &values?, shape?).await
    }))
}

/// A tensor whose elements are whatever is in the memory.
#[unsafe(no_mangle)]
extern "C" fn device_empty(device: &GpuDevice, dims: u32) -> *mut GpuTensor {
    object(empty(device, dims))
}

fn empty(device: &GpuDevice, dims: u32) -> Result<GpuTensor> {
    let shape = shape(dims)?;
    let buffer = device.allocate_uncleared(padded_bytes(shape.n_elements() as u64))?;
    GpuTensor::from_buffer(device, buffer, TensorView::new(shape))
}
