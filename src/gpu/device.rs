//! [`GpuDevice`]: one device on whichever engine runs it.

use std::ops::Range;

use super::backend::{Backend, HostUse, KernelSource, download, upload};
use super::check;
use super::choice::{DeviceRequest, Rejected};
#[cfg(cuda_engine)]
use super::cuda::CudaDevice;
use super::handles::{Buffer, HostBuffer, Kernel, Stream, Submission, on_engine};
use super::id::DeviceId;
use super::info::{Capabilities, GpuDeviceInfo};
use super::open;
#[cfg(feature = "wgpu")]
use super::wgpu::WgpuDevice;
use crate::Result;

/// An open GPU. Cheap to clone; clones share kernels, memory pool and fate.
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

#[derive(Debug, Clone)]
pub(super) enum Engine {
    #[cfg(cuda_engine)]
    Cuda(CudaDevice),
    #[cfg(feature = "wgpu")]
    Wgpu(WgpuDevice),
}

impl GpuDevice {
    /// Opens the best hardware GPU: through CUDA where that is possible, else through wgpu.
    ///
    /// # Errors
    /// [`BackendUnavailable`](crate::Error::BackendUnavailable) with a reason for each candidate.
    pub async fn new_async() -> Result<Self> {
        Self::open_async(&DeviceRequest::default()).await
    }

    /// Opens the adapter at `index` of [`list_adapters_async`](Self::list_adapters_async), a software one too.
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
        // A device that the page lent is the page's to replace.
        #[cfg(web_module)]
        if self.as_wgpu().is_some_and(WgpuDevice::is_lent) {
            self.check()?;
            return Ok(self.clone());
        }
        Self::open_async(&self.request).await
    }

    /// All adapters: those of CUDA, then those of wgpu, hardware before software. A GPU can be in both. A browser shows
    /// at most one.
    pub async fn list_adapters_async() -> Vec<GpuDeviceInfo> {
        open::list_async().await
    }

    /// Whether there is a hardware GPU. Natively its driver is only asked for its list; a browser shows what its adapter
    /// is by a device alone, which is opened and closed again. Nothing is kept: a GPU may be plugged in later.
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

    /// The identity of this open device, which its clones share and no other device has, not even the same one
    /// [reopened](Self::reopen_async).
    #[must_use]
    pub fn id(&self) -> DeviceId {
        on_engine!(&self.engine, Engine, device => device.id())
    }

    /// Refuses a buffer that another device made.
    pub(crate) fn check_buffer(&self, buffer: &Buffer) -> Result<()> {
        check::same_device("buffer", self.id(), buffer)
    }

    /// Device memory that holds what was there before, perhaps of an earlier call: for what writes all of it.
    pub(crate) fn allocate_uncleared(&self, n_bytes: u64) -> Result<Buffer> {
        on_engine!(&self.engine, Engine, device => device.allocate_uncleared(n_bytes).map(Buffer::from))
    }

    /// Memory shared with the host that holds what was there before, likewise.
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
            // Memory shared with the host is new there, and zero.
            #[cfg(feature = "wgpu")]
            Engine::Wgpu(device) => device
                .allocate_host(n_bytes, host_use)
                .map(HostBuffer::from),
        }
    }

    /// For tests: empties the pools, then has `n_failing` allocations of the device fail after `n_before` that do not. Gives
    /// how many were asked for since the last such call.
    #[cfg(feature = "fault-injection")]
    #[doc(hidden)]
    pub fn fail_allocations(&self, n_before: u64, n_failing: u64) -> u64 {
        on_engine!(&self.engine, Engine, device => device.fail_allocations(n_before, n_failing))
    }

    /// Why this device was taken.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The adapters that were not, each with its reason.
    #[must_use]
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// Whether the device still answers.
    ///
    /// # Errors
    /// [`DeviceLost`](crate::Error::DeviceLost).
    pub fn check(&self) -> Result<()> {
        on_engine!(&self.engine, Engine, device => device.check())
    }

    /// Gives the device up; it is lost for all its clones.
    pub fn destroy(&self) {
        on_engine!(&self.engine, Engine, device => device.destroy());
    }

    /// The device of the CUDA engine, for use with other CUDA code.
    #[cfg(cuda_engine)]
    #[must_use]
    pub fn as_cuda(&self) -> Option<&CudaDevice> {
        match &self.engine {
            Engine::Cuda(device) => Some(device),
            #[cfg(feature = "wgpu")]
            Engine::Wgpu(_) => None,
        }
    }

    /// A page's own device, which is open and stays the page's.
    #[cfg(web_module)]
    pub(crate) async fn lent_async(device: &wasm_bindgen::JsValue) -> Result<Self> {
        let request = DeviceRequest::default();
        let device = WgpuDevice::lent(device, &request).await?;
        let reason = "it was handed over open";
        Ok(Self::of_engine(Engine::Wgpu(device), request, reason))
    }

    /// A page's own buffer on this device: see [`WgpuDevice::lend_buffer`].
    #[cfg(web_module)]
    pub(crate) fn lend_buffer(&self, buffer: &wasm_bindgen::JsValue) -> Result<Buffer> {
        on_engine!(&self.engine, Engine, device => device.lend_buffer(buffer).map(Buffer::from))
    }

    /// A new buffer for the page: see [`WgpuDevice::create_page_buffer`].
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

    /// Writes to a page's buffer: see [`WgpuDevice::write_page_buffer`].
    #[cfg(web_pages)]
    pub(crate) fn write_page_buffer(
        &self,
        buffer: &Buffer,
        bytes: &crate::js_bytes::JsBytes,
    ) -> Result<()> {
        let (Engine::Wgpu(device), Buffer::Wgpu(buffer)) = (&self.engine, buffer);
        device.write_page_buffer(buffer, bytes)
    }

    /// The browser's `GPUDevice`.
    #[cfg(web_module)]
    pub(crate) fn raw_web(&self) -> wasm_bindgen::JsValue {
        on_engine!(&self.engine, Engine, device => device.raw_web())
    }

    /// Bytes of the device's buffers that are in use, and of those that its pool keeps.
    #[cfg(web_pages)]
    pub(crate) fn memory_bytes(&self) -> (u64, u64) {
        on_engine!(&self.engine, Engine, device => device.memory_bytes())
    }

    /// The device of the wgpu engine, for use with wgpu itself.
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

/// The same, blocking. Native only.
#[cfg(not(target_arch = "wasm32"))]
impl GpuDevice {
    /// [`new_async`](Self::new_async), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn new() -> Result<Self> {
        super::runtime::block_on(Self::new_async())
    }

    /// [`new_with_adapter_index_async`](Self::new_with_adapter_index_async), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn new_with_adapter_index(index: usize) -> Result<Self> {
        super::runtime::block_on(Self::new_with_adapter_index_async(index))
    }

    /// [`open_async`](Self::open_async), blocking.
    ///
    /// # Errors
    /// As there.
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
