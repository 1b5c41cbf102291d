//! Devices that the tests of a thread share. A software GPU takes longer to compile kernels than to run them, and a
//! device keeps those that it has compiled.

use std::thread::ThreadId;

use pagepress::Result;
use pagepress::gpu::{DeviceRequest, GpuDevice};

/// The open devices, with their threads and requests.
type Open = Vec<(ThreadId, DeviceRequest, GpuDevice)>;

#[cfg(not(target_arch = "wasm32"))]
fn with_open<R>(use_them: impl FnOnce(&mut Open) -> R) -> R {
    use std::sync::{Mutex, PoisonError};

    static OPEN: Mutex<Open> = Mutex::new(Vec::new());
    use_them(&mut OPEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Devices of browsers stay in their thread.
#[cfg(target_arch = "wasm32")]
fn with_open<R>(use_them: impl FnOnce(&mut Open) -> R) -> R {
    use std::cell::RefCell;

    thread_local! {
        static OPEN: RefCell<Open> = const { RefCell::new(Vec::new()) };
    }
    OPEN.with_borrow_mut(use_them)
}

/// Returns the device that this thread opened for an equal request, or opens it. It must not be destroyed: tests that
/// lose a device open their own.
pub async fn shared(request: &DeviceRequest) -> Result<GpuDevice> {
    let thread = std::thread::current().id();
    let found = with_open(|open| {
        let mut open = open.iter();
        let found = open.find(|(other, of, _)| *other == thread && of == request);
        found.map(|(_, _, device)| device.clone())
    });
    if let Some(device) = found {
        return Ok(device);
    }
    let device = GpuDevice::open_async(request).await?;
    with_open(|open| open.push((thread, request.clone(), device.clone())));
    Ok(device)
}

/// Closes all shared devices, after the last test: NVIDIA's Vulkan driver crashes if a process ends with an open one.
#[cfg(not(target_arch = "wasm32"))]
pub fn close() {
    // That driver can deadlock when a thread ends while another closes a device, and the threads of the tests are just ending.
    std::thread::sleep(std::time::Duration::from_millis(100));
    with_open(std::mem::take);
}
