//! The primary context of a GPU, which other CUDA code of the process uses too, and a stream in it.

use std::ffi::c_int;
use std::marker::PhantomData;

use cudarc::driver::sys::{self, CUpointer_attribute as Attribute, CUresult};
use pagepress::gpu::cuda::CudaDevice;
use pagepress::{Error, Result};

use super::queue::Queue;

/// An open GPU.
pub(super) struct Gpu {
    device: CudaDevice,
    ordinal: c_int,
    context: Raw<sys::CUcontext>,
    stream: Raw<sys::CUstream>,
    /// The process that opened it: drivers do not survive a fork.
    process: u32,
}

/// A handle of the driver.
struct Raw<T>(T);

// SAFETY: contexts and streams of the driver may be used by several threads at once; it locks internally.
unsafe impl<T> Send for Raw<T> {}
// SAFETY: the driver locks internally, as for `Send`.
unsafe impl<T> Sync for Raw<T> {}

/// Proof that the context is current on this thread.
pub(super) struct Entered<'a> {
    /// Makes the guard neither `Send` nor `Sync`: contexts are current per thread.
    _stays_here: PhantomData<(&'a Gpu, *const ())>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: `enter` pushed the context on this thread, which the guard cannot leave. There is no way to handle a failure.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}

/// Returns the handle of a stream as the driver takes it.
pub(super) fn handle(stream: u64) -> sys::CUstream {
    std::ptr::with_exposed_provenance_mut(stream as usize)
}

impl Gpu {
    /// Opens the GPU of this number.
    pub(super) fn open(index: usize) -> Result<Self> {
        let device = CudaDevice::open(index)?;
        // A number that is too large was refused.
        let ordinal = c_int::try_from(index).unwrap_or(c_int::MAX);
        let mut context = std::ptr::null_mut();
        // SAFETY: the variable outlives the call; the device is open, so that the driver is ready and the number is one of its GPUs.
        let retained = unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut context, ordinal) };
        checked(&device, "cuDevicePrimaryCtxRetain", retained)?;
        // From here on, dropping it releases the context.
        let mut gpu = Self {
            device,
            ordinal,
            context: Raw(context),
            stream: Raw(std::ptr::null_mut()),
            process: std::process::id(),
        };
        let mut stream = std::ptr::null_mut();
        let entered = gpu.enter()?;
        // SAFETY: the variable outlives the call; the context is current. 1 makes a stream that does not wait for the default one.
        let made = unsafe { sys::cuStreamCreate(&raw mut stream, 1) };
        drop(entered);
        gpu.check("cuStreamCreate", made)?;
        gpu.stream = Raw(stream);
        Ok(gpu)
    }

    pub(super) fn device(&self) -> &CudaDevice {
        &self.device
    }

    pub(super) fn ordinal(&self) -> i32 {
        self.ordinal
    }

    pub(super) fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    pub(super) fn stream(&self) -> u64 {
        self.stream.0.expose_provenance() as u64
    }

    /// Makes the context current on this thread until the guard is dropped.
    pub(super) fn enter(&self) -> Result<Entered<'_>> {
        // SAFETY: this object retains the context.
        let pushed = unsafe { sys::cuCtxPushCurrent_v2(self.context.0) };
        self.check("cuCtxPushCurrent", pushed)?;
        Ok(Entered {
            _stays_here: PhantomData,
        })
    }

    /// Converts the result of a call.
    pub(super) fn check(&self, call: &'static str, code: CUresult) -> Result<()> {
        checked(&self.device, call, code)
    }

    /// Waits until nothing runs in the context. A failure means that it is lost, so that nothing runs.
    pub(super) fn finish(&self) {
        if let Ok(_entered) = self.enter() {
            // SAFETY: the context is current.
            let _ = unsafe { sys::cuCtxSynchronize() };
        }
    }

    /// Checks that the driver knows an address as memory of this GPU, in the primary context or in none.
    pub(super) fn check_address(&self, address: u64) -> Result<()> {
        let entered = self.enter()?;
        let (mut ordinal, mut context): (c_int, sys::CUcontext) = (-1, std::ptr::null_mut());
        // SAFETY: the variables outlive the calls and have the types of the attributes; an unknown address is an error of the call.
        let (known, has_context) = unsafe {
            (
                sys::cuPointerGetAttribute(
                    (&raw mut ordinal).cast(),
                    Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                    address,
                ),
                sys::cuPointerGetAttribute(
                    (&raw mut context).cast(),
                    Attribute::CU_POINTER_ATTRIBUTE_CONTEXT,
                    address,
                ),
            )
        };
        drop(entered);
        let is_known = known == CUresult::CUDA_SUCCESS;
        // Memory of pools and of mapped addresses is in no context.
        let is_in_another = has_context == CUresult::CUDA_SUCCESS
            && !context.is_null()
            && context != self.context.0;
        let value = match (is_known, ordinal) {
            (false, _) => format!("{address:#x}, which is no memory of a GPU"),
            (true, ordinal) if ordinal != self.ordinal => {
                format!(
                    "{address:#x}, on CUDA device {ordinal}, not on {}",
                    self.ordinal
                )
            }
            _ if is_in_another => format!("{address:#x}, in another context"),
            _ => return Ok(()),
        };
        Err(Error::InvalidArgument {
            name: "address of the array",
            value,
            expected: "give an array in the primary context of the device of Chunks, as PyTorch, CuPy, JAX and Numba make them",
        })
    }

    /// Makes later work on the stream `then` wait for what is on the stream `first` now.
    ///
    /// # Safety
    /// Both are 1, 2 or streams that were not destroyed.
    pub(super) unsafe fn order(&self, first: u64, then: u64) -> Result<()> {
        if first == then {
            return Ok(());
        }
        let _entered = self.enter()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: the variable outlives the call; the context is current. 2 leaves out the time.
        self.check("cuEventCreate", unsafe {
            sys::cuEventCreate(&raw mut event, 2)
        })?;
        // SAFETY: the event was created above and is destroyed once, which the driver delays until it is not needed; the caller
        // guarantees the streams.
        let (recorded, waits) = unsafe {
            let recorded = sys::cuEventRecord(event, handle(first));
            let waits = sys::cuStreamWaitEvent(handle(then), event, 0);
            let _ = sys::cuEventDestroy_v2(event);
            (recorded, waits)
        };
        self.check("cuEventRecord", recorded)?;
        self.check("cuStreamWaitEvent", waits)
    }

    /// Enqueues work on the stream of this object, and waits for it.
    pub(super) fn on_own_stream<'a, T>(
        &self,
        work: impl FnOnce(&Queue<'_, 'a>) -> Result<T>,
    ) -> Result<T> {
        // SAFETY: this object owns the stream.
        unsafe { self.on(self.stream(), work) }
    }

    /// Enqueues work on a stream, and waits for it, after errors too. Memory of the host that the work uses outlives `'a`.
    ///
    /// # Safety
    /// The stream is 1, 2 or one that was not destroyed.
    pub(super) unsafe fn on<'a, T>(
        &self,
        stream: u64,
        work: impl FnOnce(&Queue<'_, 'a>) -> Result<T>,
    ) -> Result<T> {
        let entered = self.enter()?;
        let queue = Queue::new(self, &entered, handle(stream));
        let done = work(&queue);
        let waited = queue.wait();
        let value = done?;
        waited.map(|()| value)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        if let Ok(_entered) = self.enter()
            && !self.stream.0.is_null()
        {
            // SAFETY: this object owns the stream, and no other has its handle. Nothing runs on it: calls wait for their work.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.stream.0) };
        }
        // SAFETY: this object retained the context once.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.ordinal) };
    }
}

/// Converts the result of a call: the loss of the device, if that is why it failed.
fn checked(device: &CudaDevice, call: &'static str, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    // Asking for the memory of a lost device fails with the reason.
    let lost = device.memory_bytes().err();
    Err(lost.unwrap_or_else(|| Error::Engine {
        engine: "cuda",
        message: format!("{call} gave error {} ({code:?})", code as u32),
    }))
}
