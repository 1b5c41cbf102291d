//! Devices that the tests of a thread share. A software GPU takes longer to compile kernels than to run them, and a
//! device keeps those that it has compiled.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use pagepress::Result;
use pagepress::gpu::{DeviceRequest, GpuDevice};

thread_local! {
    /// The open devices with their requests. They end with the process: NVIDIA's Vulkan driver can deadlock when a
    /// thread ends while another drops a device.
    static OPEN: RefCell<ManuallyDrop<Vec<(DeviceRequest, GpuDevice)>>> = RefCell::default();
}

/// Returns the device that this thread opened for an equal request, or opens it. It must not be destroyed: tests that
/// lose a device open their own.
pub async fn shared(request: &DeviceRequest) -> Result<GpuDevice> {
    let find = |open: &RefCell<ManuallyDrop<Vec<(DeviceRequest, GpuDevice)>>>| {
        let open = open.borrow();
        let found = open.iter().find(|(other, _)| other == request);
        found.map(|(_, device)| device.clone())
    };
    if let Some(device) = OPEN.with(find) {
        return Ok(device);
    }
    let device = GpuDevice::open_async(request).await?;
    OPEN.with_borrow_mut(|open| open.push((request.clone(), device.clone())));
    Ok(device)
}
