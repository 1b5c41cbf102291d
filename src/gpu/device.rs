//! [`GpuDevice`]: a device on any engine.

use std::ops::Range;

use super::backend::{Backend, HostUse, KernelSource, download, upload};
use super::check;
use super::choice::{DeviceRequest, Rejected};
#[cfg(cuda_engine)]
use super::cuda::CudaDevice;
use super::engine::Engine;
use super::handles::{Buffer, HostBuffer, Kernel, Stream, Submission, on_engine};
use super::id::DeviceId;
use super::info::{Capabilities, GpuDeviceInfo};
use super::open;
#[cfg(feature = "wgpu")]
use super::wgpu::WgpuDevice;
use crate::Result;

/// An open GPU. Cheap to clone; clones share kernels and memory pool, and are lost together.
///
/// ```no_run
/// use pagepress::gpu::{Backend, GpuDevice};
/// let device = GpuDevice::new()?;
/// println!("{} through {}", device.info(), device.name());
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GpuDevice {
    engine: Engine,
    request: DeviceRequest,
    reason: String,
    rejected: Vec<Rejected>,
}

impl GpuDevice {
    /// Opens the best hardware GPU: through CUDA where that is possible, else through wgpu.
    ///
    /// # Errors
    /// [`BackendUnavailable`](crate::Error::BackendUnavailable) with a reason for each candidate.
    pub async fn new_async() -> Result<Self> {
        Self::open_async(&DeviceRequest::default()).await
    }

    /// Opens the adapter at `index` of [`list_adapters_async`](Self::list_adapters_async), even a software adapter.
    ///
    /// # Errors
    /// [`BackendUnavailable`](crate::Error::BackendUnavailable).
    pub async fn new_with_adapter_index_async(index: usize) -> Result<Self> {
        Self::open_async(&DeviceRequest {
            adapter_index: Some(index),
            ..DeviceRequest::default()
        })
        .await
    }

    /// Opens the device that `request` describes.
    ///
    /// # Errors
    /// [`BackendUnavailable`](crate::Error::BackendUnavailable) with a reason for each candidate.
    pub async fn open_async(request: &DeviceRequest) -> Result<Self> {
        let opened = open::open_async(request).await?;
        Ok(Self {
            engine: opened.engine,
            request: request.clone(),
            reason: opened.reason,
            rejected: opened.rejected,
        })
    }

    /// Opens the same device anew, after this one was lost.
    ///
    /// # Errors
    /// As [`open_async`](Self::open_async).
    pub async fn reopen_async(&self) -> Result<Self> {
        // Only its owner can replace an external device.
        #[cfg(feature = "wgpu")]
        if self.as_wgpu().is_some_and(WgpuDevice::is_external) {
            self.check()?;
            return Ok(self.clone());
        }
        Self::open_async(&self.request).await
    }

    /// Lists all adapters: those of CUDA, then those of wgpu, hardware before software. A GPU can be in both lists. A browser
    /// lists at most one.
    pub async fn list_adapters_async() -> Vec<GpuDeviceInfo> {
        open::list_async().await
    }

    /// Returns true if there is a hardware GPU. Natively it only enumerates adapters; a browser reports the kind of its adapter
    /// through a device, which is opened and closed again. The result is not cached: a GPU may be plugged in later.
    pub async fn is_available_async() -> bool {
        #[cfg(not(target_arch = "wasm32"))]
        {
            let listed = Self::list_adapters_async().await;
            listed.iter().any(|adapter| !adapter.is_software())
        }
        #[cfg(target_arch = "wasm32")]
        match Self::new_async().await {
            Ok(device) => {
                device.destroy();
                true
            }
            Err(_) => false,
        }
    }

    pub(super) fn of_engine(engine: Engine, request: DeviceRequest, reason: &str) -> Self {
        Self {
            engine,
            request,
            reason: reason.into(),
            rejected: Vec::new(),
        }
    }

    pub(super) fn into_engine(self) -> Engine {
        self.engine
    }

    /// Returns the identity of this open device. Its clones share it; no other device has it, nor does the same adapter
    /// [reopened](Self::reopen_async).
    #[must_use]
    pub fn id(&self) -> DeviceId {
        on_engine!(&self.engine, Engine, device => device.id())
    }

    /// Rejects a buffer of another device.
    pub(crate) fn check_buffer(&self, buffer: &Buffer) -> Result<()> {
        check::same_device("buffer", self.id(), buffer)
    }

    /// Allocates device memory with unspecified contents, for work that writes all of it.
    pub(crate) fn allocate_uncleared(&self, n_bytes: u64) -> Result<Buffer> {
        on_engine!(&self.engine, Engine, device => device.allocate_uncleared(n_bytes).map(Buffer::from))
    }

    /// Allocates a staging buffer with unspecified contents, for work that writes all of it.
    pub(crate) fn allocate_host_uncleared(
        &self,
        n_bytes: u64,
        host_use: HostUse,
    ) -> Result<HostBuffer> {
        match &self.engine {
            #[cfg(cuda_engine)]
            Engine::Cuda(device) => device
                .allocate_host_uncleared(n_bytes, host_use)
                .map(HostBuffer::from),
            // Staging buffers of wgpu are always new and zero.
            #[cfg(feature = "wgpu")]
            Engine::Wgpu(device) => device
                .allocate_host(n_bytes, host_use)
                .map(HostBuffer::from),
        }
    }

    /// Empties the pools, then makes `n_failing` allocations of the device fail after `n_before` that succeed, for
    /// tests. Returns the number requested since the last such call.
    #[cfg(feature = "fault-injection")]
    #[doc(hidden)]
    pub fn fail_allocations(&self, n_before: u64, n_failing: u64) -> u64 {
        on_engine!(&self.engine, Engine, device => device.fail_allocations(n_before, n_failing))
    }

    /// Returns the reason why this device was chosen.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the adapters that were not chosen, each with its reason.
    #[must_use]
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// Checks that the device was not lost.
    ///
    /// # Errors
    /// [`DeviceLost`](crate::Error::DeviceLost).
    pub fn check(&self) -> Result<()> {
        on_engine!(&self.engine, Engine, device => device.check())
    }

    /// Destroys the device: it is lost for all its clones. An external device stays open for its owner.
    pub fn destroy(&self) {
        on_engine!(&self.engine, Engine, device => device.destroy());
    }

    /// Returns the device of the CUDA engine, for use with other CUDA code.
    #[cfg(cuda_engine)]
    #[must_use]
    pub fn as_cuda(&self) -> Option<&CudaDevice> {
        match &self.engine {
            Engine::Cuda(device) => Some(device),
            #[cfg(feature = "wgpu")]
            Engine::Wgpu(_) => None,
        }
    }

    /// Wraps a device that the caller opened with wgpu, so that both work on the same memory without copies. Of
    /// `request`, the limits, run-time checks, SPIR-V passthrough, memory limit and wait limit apply.
    ///
    /// The caller still owns the device: [`destroy`](Self::destroy) makes this handle unusable but does not affect the
    /// caller's device, and after a loss [`reopen_async`](Self::reopen_async) fails. Natively the device's handlers for
    /// uncaptured errors and for its loss are replaced by this crate's; a later error of the caller's own calls,
    /// outside an error scope, is then returned by the next call here. Features that the device was not opened with,
    /// such as `TIMESTAMP_QUERY`, are not used.
    ///
    /// ```no_run
    /// use pagepress::gpu::{Buffer, DeviceRequest, GpuDevice};
    /// use pagepress::wgpu;
    /// # fn example(device: wgpu::Device, queue: wgpu::Queue) -> pagepress::Result<()> {
    /// let gpu = GpuDevice::from_wgpu(device.clone(), queue, &DeviceRequest::default())?;
    /// let buffer = device.create_buffer(&wgpu::BufferDescriptor {
    ///     label: None,
    ///     // 64 bytes more than kernels use.
    ///     size: 4096 + 64,
    ///     usage: wgpu::BufferUsages::STORAGE
    ///         | wgpu::BufferUsages::COPY_SRC
    ///         | wgpu::BufferUsages::COPY_DST,
    ///     mapped_at_creation: false,
    /// });
    /// let shared = Buffer::from_wgpu(&gpu, buffer, 4096)?;
    /// # drop(shared);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for a device whose limits are below WebGPU's defaults.
    #[cfg(feature = "wgpu")]
    pub fn from_wgpu(
        device: ::wgpu::Device,
        queue: ::wgpu::Queue,
        request: &DeviceRequest,
    ) -> Result<Self> {
        let device = WgpuDevice::from_wgpu(device, queue, request)?;
        let reason = "it was handed over open";
        Ok(Self::of_engine(
            Engine::Wgpu(device),
            request.clone(),
            reason,
        ))
    }

    /// Wraps a `GPUDevice` of the page, which still owns it.
    #[cfg(web_module)]
    pub(crate) async fn from_js_async(device: &wasm_bindgen::JsValue) -> Result<Self> {
        let request = DeviceRequest::default();
        let device = WgpuDevice::from_js(device, &request).await?;
        let reason = "it was handed over open";
        Ok(Self::of_engine(Engine::Wgpu(device), request, reason))
    }

    /// Wraps a `GPUBuffer` of the page on this device: see [`WgpuDevice::buffer_from_js`].
    #[cfg(web_module)]
    pub(crate) fn buffer_from_js(&self, buffer: &wasm_bindgen::JsValue) -> Result<Buffer> {
        on_engine!(&self.engine, Engine, device => device.buffer_from_js(buffer).map(Buffer::from))
    }

    /// Creates a buffer for the page: see [`WgpuDevice::create_page_buffer`].
    #[cfg(web_pages)]
    pub(crate) fn create_page_buffer(
        &self,
        n_bytes: u64,
        usage: u32,
    ) -> Result<(wasm_bindgen::JsValue, Buffer)> {
        let Engine::Wgpu(device) = &self.engine;
        let (raw, buffer) = device.create_page_buffer(n_bytes, usage)?;
        Ok((raw, buffer.into()))
    }

    /// Writes to a buffer of the page: see [`WgpuDevice::write_page_buffer`].
    #[cfg(web_pages)]
    pub(crate) fn write_page_buffer(
        &self,
        buffer: &Buffer,
        bytes: &crate::js_bytes::JsBytes,
    ) -> Result<()> {
        let (Engine::Wgpu(device), Buffer::Wgpu(buffer)) = (&self.engine, buffer);
        device.write_page_buffer(buffer, bytes)
    }

    /// Returns the browser's `GPUDevice`.
    #[cfg(web_module)]
    pub(crate) fn raw_web(&self) -> wasm_bindgen::JsValue {
        on_engine!(&self.engine, Engine, device => device.raw_web())
    }

    /// Returns the bytes of the device's buffers that are in use, and of those in its pool.
    #[cfg(web_pages)]
    pub(crate) fn memory_bytes(&self) -> (u64, u64) {
        on_engine!(&self.engine, Engine, device => device.memory_bytes())
    }

    /// Returns the device of the wgpu engine, for use with wgpu itself.
    #[cfg(feature = "wgpu")]
    #[must_use]
    pub fn as_wgpu(&self) -> Option<&WgpuDevice> {
        match &self.engine {
            #[cfg(cuda_engine)]
            Engine::Cuda(_) => None,
            Engine::Wgpu(device) => Some(device),
        }
    }
}

/// Blocking forms. Native only.
#[cfg(not(target_arch = "wasm32"))]
impl GpuDevice {
    /// Blocks on [`new_async`](Self::new_async).
    ///
    /// # Errors
    /// See [`new_async`](Self::new_async).
    pub fn new() -> Result<Self> {
        super::runtime::block_on(Self::new_async())
    }

    /// Blocks on [`new_with_adapter_index_async`](Self::new_with_adapter_index_async).
    ///
    /// # Errors
    /// See [`new_with_adapter_index_async`](Self::new_with_adapter_index_async).
    pub fn new_with_adapter_index(index: usize) -> Result<Self> {
        super::runtime::block_on(Self::new_with_adapter_index_async(index))
    }

    /// Blocks on [`open_async`](Self::open_async).
    ///
    /// # Errors
    /// See [`open_async`](Self::open_async).
    pub fn open(request: &DeviceRequest) -> Result<Self> {
        super::runtime::block_on(Self::open_async(request))
    }

    /// [`list_adapters_async`](Self::list_adapters_async), blocking.
    #[must_use]
    pub fn list_adapters() -> Vec<GpuDeviceInfo> {
        super::runtime::block_on(Self::list_adapters_async())
    }

    /// [`is_available_async`](Self::is_available_async), blocking.
    #[must_use]
    pub fn is_available() -> bool {
        super::runtime::block_on(Self::is_available_async())
    }
}

impl Backend for GpuDevice {
    type Kernel = Kernel;
    type Buffer = Buffer;
    type HostBuffer = HostBuffer;
    type Stream = Stream;
    type Submission = Submission;

    fn name(&self) -> &'static str {
        on_engine!(&self.engine, Engine, device => device.name())
    }

    fn info(&self) -> &GpuDeviceInfo {
        on_engine!(&self.engine, Engine, device => device.info())
    }

    fn capabilities(&self) -> &Capabilities {
        on_engine!(&self.engine, Engine, device => device.capabilities())
    }

    async fn compile_kernel(&self, source: &KernelSource<'_>) -> Result<Kernel> {
        on_engine!(&self.engine, Engine, device => device.compile_kernel(source).await.map(Kernel::from))
    }

    fn allocate_memory(&self, n_bytes: u64) -> Result<Buffer> {
        on_engine!(&self.engine, Engine, device => device.allocate_memory(n_bytes).map(Buffer::from))
    }

    fn allocate_host(&self, n_bytes: u64, host_use: HostUse) -> Result<HostBuffer> {
        on_engine!(&self.engine, Engine, device => device.allocate_host(n_bytes, host_use).map(HostBuffer::from))
    }

    fn stream(&self) -> Stream {
        on_engine!(&self.engine, Engine, device => Stream::from(device.stream()))
    }

    async fn upload_async(&self, dst: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        let allocate = |n_bytes| self.allocate_host_uncleared(n_bytes, HostUse::Upload);
        upload(self, allocate, dst, offset, bytes).await
    }

    async fn download_async(&self, src: &Buffer, range: Range<u64>) -> Result<Vec<u8>> {
        let allocate = |n_bytes| self.allocate_host_uncleared(n_bytes, HostUse::Download);
        download(self, allocate, src, range).await
    }

    async fn synchronize_async(&self) -> Result<()> {
        on_engine!(&self.engine, Engine, device => device.synchronize_async().await)
    }
}
