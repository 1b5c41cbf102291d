//! [`Engine`]: the device of one of the engines.

#[cfg(cuda_engine)]
use super::cuda::CudaDevice;
#[cfg(feature = "wgpu")]
use super::wgpu::WgpuDevice;

/// A device, as an enum over the engines.
#[derive(Debug, Clone)]
pub(super) enum Engine {
    #[cfg(cuda_engine)]
    Cuda(CudaDevice),
    #[cfg(feature = "wgpu")]
    Wgpu(WgpuDevice),
}
