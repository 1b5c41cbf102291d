//! Compiled kernels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::gpu::backend::KernelSource;
use crate::gpu::id::{DeviceId, Owned};
use crate::kernels::Access;

/// A compiled kernel.
#[derive(Debug, Clone)]
pub struct WgpuKernel(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    /// Unique number of the kernel in this process.
    number: u64,
    device: DeviceId,
    entry: String,
    bindings: Vec<Access>,
    /// True for a kernel of the caller.
    is_of_caller: bool,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl WgpuKernel {
    /// Wraps the pipeline that was made of `source`.
    pub(super) fn new(
        device: DeviceId,
        source: &KernelSource<'_>,
        pipeline: wgpu::ComputePipeline,
        layout: wgpu::BindGroupLayout,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(Arc::new(Compiled {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            device,
            entry: source.entry.to_owned(),
            bindings: source.bindings.to_vec(),
            is_of_caller: source.is_checked(),
            pipeline,
            layout,
        }))
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    pub(super) fn entry(&self) -> &str {
        &self.0.entry
    }

    pub(super) fn bindings(&self) -> &[Access] {
        &self.0.bindings
    }

    /// Returns true if the kernel is the caller's, so that a launch may turn out to be invalid.
    pub(super) fn is_of_caller(&self) -> bool {
        self.0.is_of_caller
    }

    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.0.pipeline
    }

    pub(super) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.0.layout
    }
}

impl Owned for WgpuKernel {
    fn device_id(&self) -> DeviceId {
        self.0.device
    }
}
