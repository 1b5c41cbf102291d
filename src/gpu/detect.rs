//! [`GpuBackend`]: detects the best device, for callers that need the engine's own handle.

#[cfg(cuda_engine)]
use super::cuda::CudaDevice;
use super::engine::Engine;
#[cfg(feature = "wgpu")]
use super::wgpu::WgpuDevice;
use super::{DeviceRequest, EngineChoice, GpuDevice};
use crate::Result;

/// Alias of the device of the CUDA engine.
#[cfg(cuda_engine)]
pub type CudaContext = CudaDevice;

/// Alias of the device of the wgpu engine.
#[cfg(feature = "wgpu")]
pub type WgpuContext = WgpuDevice;

/// An open device, as an enum over the engines. [`GpuDevice`] is the same without the distinction.
///
/// Two types have this name because the documents define both: this one, `pagepress::GpuBackend`, detects a device;
/// `pagepress::gpu::GpuBackend`, which is `pagepress::tensor::GpuBackend`, runs tensor operations on a GPU or the CPU.
///
/// ```no_run
/// use pagepress::GpuBackend;
/// match GpuBackend::auto_detect() {
///     Some(backend) => println!("{backend:?}"),
///     None => println!("no GPU"),
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum GpuBackend {
    /// An NVIDIA GPU through CUDA.
    #[cfg(cuda_engine)]
    Cuda(CudaContext),
    /// A GPU through wgpu: Vulkan, Metal, DX12 or WebGPU.
    #[cfg(feature = "wgpu")]
    Wgpu(WgpuContext),
}

impl GpuBackend {
    /// Opens the best hardware GPU: through CUDA where that is possible, else through wgpu. Returns `None` where there is none.
    pub async fn auto_detect_async() -> Option<Self> {
        let device = GpuDevice::new_async().await.ok()?;
        Some(match device.into_engine() {
            #[cfg(cuda_engine)]
            Engine::Cuda(device) => Self::Cuda(device),
            #[cfg(feature = "wgpu")]
            Engine::Wgpu(device) => Self::Wgpu(device),
        })
    }

    /// [`auto_detect_async`](Self::auto_detect_async), blocking. Native only.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn auto_detect() -> Option<Self> {
        super::runtime::block_on(Self::auto_detect_async())
    }
}

impl From<GpuBackend> for GpuDevice {
    fn from(backend: GpuBackend) -> Self {
        let (engine, choice) = match backend {
            #[cfg(cuda_engine)]
            GpuBackend::Cuda(device) => (Engine::Cuda(device), EngineChoice::Cuda),
            #[cfg(feature = "wgpu")]
            GpuBackend::Wgpu(device) => (Engine::Wgpu(device), EngineChoice::Wgpu),
        };
        let request = DeviceRequest {
            engine: choice,
            ..DeviceRequest::default()
        };
        Self::of_engine(engine, request, "it was handed over open")
    }
}

/// Returns true if there is a hardware GPU.
#[cfg(not(target_arch = "wasm32"))]
#[must_use]
pub fn gpu_available() -> bool {
    GpuDevice::is_available()
}

/// Returns true if there is a hardware GPU.
pub async fn gpu_available_async() -> bool {
    GpuDevice::is_available_async().await
}

#[cfg(cuda_engine)]
impl CudaDevice {
    /// Opens the first GPU.
    ///
    /// # Errors
    /// [`BackendUnavailable`](crate::Error::BackendUnavailable) with the reason.
    pub fn new() -> Result<Self> {
        Self::open(0)
    }
}

#[cfg(feature = "wgpu")]
impl WgpuDevice {
    /// Opens the best hardware GPU: discrete before integrated, never a software adapter.
    ///
    /// # Errors
    /// [`BackendUnavailable`](crate::Error::BackendUnavailable) with a reason for each candidate.
    pub async fn new_async() -> Result<Self> {
        Ok(super::wgpu::open(&DeviceRequest::default()).await?.device)
    }

    /// [`new_async`](Self::new_async), blocking. Native only.
    ///
    /// # Errors
    /// See [`new_async`](Self::new_async).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Result<Self> {
        super::runtime::block_on(Self::new_async())
    }
}
