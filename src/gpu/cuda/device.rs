//! An open CUDA device and its [`Backend`] implementation.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::adapter::{self, Adapter};
use super::compile::compile;
use super::context::Context;
use super::event::TimeLine;
use super::host::{self, CudaHostBuffer};
use super::kernel::CudaKernel;
use super::lanes::Lanes;
use super::memory::CudaBuffer;
use super::shared::Shared;
use super::stream::{CudaStream, CudaSubmission};
use super::wait::Waiters;
use super::{ENGINE, driver};
use crate::Result;
use crate::gpu::backend::{Backend, HostUse, KernelSource, download, upload};
use crate::gpu::budget::Budget;
use crate::gpu::choice::{DeviceRequest, RuntimeChecks};
use crate::gpu::id::DeviceId;
use crate::gpu::info::{Capabilities, GpuDeviceInfo};
use crate::gpu::pipeline_cache::PipelineCache;
use crate::gpu::pool::Pool;
use crate::gpu::watch;
use crate::kernels::Access;
use crate::ptx::CompiledPtx;

/// A CUDA device; clones share it.
#[derive(Debug, Clone)]
pub struct CudaDevice(pub(super) Arc<Shared>);

/// Opens the GPU at `index` with the options of `request`.
pub(crate) fn open(index: usize, request: &DeviceRequest) -> Result<CudaDevice> {
    open_adapter(adapter::adapter(index)?, request)
}

fn open_adapter(adapter: Adapter, request: &DeviceRequest) -> Result<CudaDevice> {
    #[cfg(feature = "fault-injection")]
    crate::gpu::open_faults::fault(ENGINE)?;
    let context = Context::open(adapter.ordinal)?;
    let (free, total) = context.memory()?;
    let entered = context.enter()?;
    let wait_limit = watch::limit(request, adapter.info.is_software());
    let lanes = Lanes::new(&context, &entered, wait_limit)?;
    let budget = Budget::new(request.memory_limit);
    let may_leave_out_checks = request.runtime_checks == RuntimeChecks::WhereNeeded;
    let capabilities = adapter.capabilities(free, total, request.limits);
    drop(entered);
    Ok(CudaDevice(Arc::new(Shared {
        id: DeviceId::new(),
        waiters: Waiters::new(wait_limit),
        lanes,
        time_line: TimeLine::default(),
        kernels: PipelineCache::default(),
        loaded: Mutex::new(Vec::new()),
        // Large enough for buffers that are reused continually, small enough to leave memory to other programs.
        memory: Pool::new(total / 4),
        pinned: Pool::new(host::MAX_POOLED_BYTES),
        context,
        capabilities: Capabilities {
            free_memory_bytes: budget.free_of(Some(free)),
            warpgroup_matrices: capabilities.warpgroup_matrices && may_leave_out_checks,
            ..capabilities
        },
        budget,
        sm: adapter.sm,
        may_leave_out_checks,
        info: adapter.info,
        pci: adapter.pci,
        given_up: AtomicBool::new(false),
    })))
}

impl CudaDevice {
    /// Returns the identity of this open device.
    #[must_use]
    pub fn id(&self) -> DeviceId {
        self.0.id
    }

    /// Opens the GPU at `index` of [`list`](super::list).
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`](crate::Error::BackendUnavailable) with the reason: no driver, a driver or GPU that is too old, no such index.
    pub fn open(index: usize) -> Result<Self> {
        open(index, &DeviceRequest::default())
    }

    /// Returns the newest CUDA version that the driver supports, for example `"13.0"`.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`](crate::Error::BackendUnavailable) with the reason: no driver, or one that is too old.
    pub fn driver_version() -> Result<String> {
        driver::version()
            .map(driver::readable)
            .map_err(adapter::unavailable)
    }

    /// Returns the current free and total memory of the GPU in bytes. Memory in the pools of this device counts as
    /// used.
    ///
    /// # Errors
    /// [`Error::DeviceLost`](crate::Error::DeviceLost).
    pub fn memory_bytes(&self) -> Result<(u64, u64)> {
        self.0.check()?;
        self.0.context.memory()
    }

    /// Returns the compute capability, major and minor.
    #[must_use]
    pub fn compute_capability(&self) -> (u32, u32) {
        (self.0.sm / 10, self.0.sm % 10)
    }

    /// Returns the address of the GPU on the PCI bus, for example `"0000:3b:00.0"`.
    #[must_use]
    pub fn pci_address(&self) -> &str {
        &self.0.pci
    }

    /// Returns the number of kernels compiled so far.
    #[must_use]
    pub fn n_kernels(&self) -> usize {
        self.0.kernels.n_kernels()
    }

    /// Loads a kernel from PTX: the output of [`compile_wgsl`](crate::ptx::compile_wgsl), or other PTX.
    ///
    /// # Errors
    /// [`Error::KernelCompile`](crate::Error::KernelCompile) with the driver's log.
    ///
    /// # Safety
    /// The entry point accepts the parameters that `ptx.params` names, as [`compile_wgsl`](crate::ptx::compile_wgsl)
    /// describes them, and every launch accesses only the memory of its arguments; if
    /// `ptx.waits_by_itself`, after it has executed `griddepcontrol.wait`.
    pub unsafe fn load_ptx(&self, ptx: &CompiledPtx, bindings: &[Access]) -> Result<CudaKernel> {
        self.0.check()?;
        let kernel = self.0.loader().load(ptx, bindings)?;
        let mut loaded = self.0.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.push(kernel.clone());
        Ok(kernel)
    }

    /// Wraps device memory of other CUDA code as a buffer. The caller still owns the memory; it is not freed here.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for an address that is 0 or not a multiple of 16, and for lengths that
    /// [`allocate_memory`](Backend::allocate_memory) rejects.
    ///
    /// # Safety
    /// Until the last clone of the buffer is dropped and all work on it has been waited for, `n_bytes` at `address`
    /// must be valid in the primary context of this GPU, the 64 bytes after them must be readable, and other code must
    /// access them only while no work submitted here uses them.
    pub unsafe fn from_device_ptr(&self, address: u64, n_bytes: u64) -> Result<CudaBuffer> {
        CudaBuffer::foreign(&self.0, address, n_bytes)
    }

    /// Checks that the device was not lost.
    ///
    /// # Errors
    /// [`Error::DeviceLost`](crate::Error::DeviceLost) with the driver's code and its meaning.
    pub fn check(&self) -> Result<()> {
        self.0.check()
    }

    /// Allocates memory with unspecified contents.
    pub(crate) fn allocate_uncleared(&self, n_bytes: u64) -> Result<CudaBuffer> {
        CudaBuffer::uncleared(&self.0, n_bytes)
    }

    /// Allocates pinned memory with unspecified contents.
    pub(crate) fn allocate_host_uncleared(
        &self,
        n_bytes: u64,
        host_use: HostUse,
    ) -> Result<CudaHostBuffer> {
        CudaHostBuffer::uncleared(&self.0, n_bytes, host_use)
    }

    /// Makes allocations fail: see [`GpuDevice::fail_allocations`](crate::gpu::GpuDevice::fail_allocations).
    #[cfg(feature = "fault-injection")]
    pub(crate) fn fail_allocations(&self, n_before: u64, n_failing: u64) -> u64 {
        self.0.memory.clear();
        self.0.pinned.clear();
        self.0.budget.fail(n_before, n_failing)
    }

    /// Destroys the device: everything submitted later fails with [`Error::DeviceLost`](crate::Error::DeviceLost).
    pub fn destroy(&self) {
        self.0.given_up.store(true, Ordering::Release);
    }
}

impl Backend for CudaDevice {
    type Kernel = CudaKernel;
    type Buffer = CudaBuffer;
    type HostBuffer = CudaHostBuffer;
    type Stream = CudaStream;
    type Submission = CudaSubmission;

    fn name(&self) -> &'static str {
        ENGINE
    }

    fn info(&self) -> &GpuDeviceInfo {
        &self.0.info
    }

    fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    async fn compile_kernel(&self, source: &KernelSource<'_>) -> Result<CudaKernel> {
        compile(&self.0, source)
    }

    fn allocate_memory(&self, n_bytes: u64) -> Result<CudaBuffer> {
        CudaBuffer::cleared(&self.0, n_bytes)
    }

    fn allocate_host(&self, n_bytes: u64, host_use: HostUse) -> Result<CudaHostBuffer> {
        CudaHostBuffer::cleared(&self.0, n_bytes, host_use)
    }

    fn stream(&self) -> CudaStream {
        CudaStream::new(&self.0)
    }

    async fn upload_async(&self, dst: &CudaBuffer, offset: u64, bytes: &[u8]) -> Result<()> {
        let allocate = |n_bytes| self.allocate_host_uncleared(n_bytes, HostUse::Upload);
        upload(self, allocate, dst, offset, bytes).await
    }

    async fn download_async(&self, src: &CudaBuffer, range: Range<u64>) -> Result<Vec<u8>> {
        let allocate = |n_bytes| self.allocate_host_uncleared(n_bytes, HostUse::Download);
        download(self, allocate, src, range).await
    }

    async fn synchronize_async(&self) -> Result<()> {
        self.0.check()?;
        for event in self.0.lanes.after_all()? {
            let shared = &self.0;
            shared.waiters.wait_async(shared, event).await?;
        }
        self.0.check()
    }
}
