//! An open wgpu device and its [`Backend`] implementation.

use std::sync::Arc;

use super::ENGINE;
#[cfg(not(target_arch = "wasm32"))]
use super::adapter;
#[cfg(target_arch = "wasm32")]
use super::adapter_web;
#[cfg(not(target_arch = "wasm32"))]
use super::choose;
use super::compile::compile;
use super::fault::Faults;
use super::host::WgpuHostBuffer;
use super::kernel::WgpuKernel;
use super::limits;
#[cfg(target_arch = "wasm32")]
use super::listener;
use super::memory::{MAX_POOLED_BYTES, WgpuBuffer};
use super::queries::FreeQueries;
use super::shared::Shared;
use super::stream::WgpuStream;
use super::submission::WgpuSubmission;
use crate::gpu::backend::{Backend, HostUse, KernelSource};
use crate::gpu::budget::Budget;
use crate::gpu::choice::{DeviceRequest, LimitTier, Rejected};
use crate::gpu::id::DeviceId;
use crate::gpu::info::{Capabilities, DeviceKind, GpuDeviceInfo};
use crate::gpu::pipeline_cache::PipelineCache;
use crate::gpu::pool::Pool;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::watch;
use crate::kernels::Registers;
use crate::kernels::pace::LONGEST_SUBMISSION;
use crate::{Error, Result};

/// A wgpu device; clones share it.
#[derive(Debug, Clone)]
pub struct WgpuDevice(pub(super) Arc<Shared>);

/// A newly opened device, the reason for it, and the rejected candidates.
#[derive(Debug)]
pub(crate) struct Opened {
    pub device: WgpuDevice,
    pub reason: String,
    pub rejected: Vec<Rejected>,
}

/// Returns descriptions of all adapters, best first: the order that [`DeviceRequest::adapter_index`] counts.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn list() -> Vec<GpuDeviceInfo> {
    let adapters = adapter::list().await;
    adapters
        .iter()
        .map(|adapter| adapter::describe(&adapter.get_info()))
        .collect()
}

/// Opens the device that `request` describes: the first of the allowed adapters, best first, that can be opened.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn open(request: &DeviceRequest) -> Result<Opened> {
    let adapters = adapter::list().await;
    let infos: Vec<GpuDeviceInfo> = adapters
        .iter()
        .map(|a| adapter::describe(&a.get_info()))
        .collect();
    let mut failed = choose::Failed::new();
    for index in choose::candidates(&infos, request)? {
        match open_allowed(&adapters[index], infos[index].clone(), request).await {
            Ok(device) => {
                return Ok(Opened {
                    device,
                    reason: choose::reason(&infos, request, index, &failed),
                    rejected: choose::rejected(&infos, request, index, &failed),
                });
            }
            Err(Error::BackendUnavailable { reason, .. }) => failed.push((index, reason)),
            Err(other) => failed.push((index, other.to_string())),
        }
    }
    Err(choose::none_opened(&failed))
}

/// Opens an adapter. A browser reports only for the opened device that it is a software one.
pub(super) async fn open_allowed(
    adapter: &wgpu::Adapter,
    info: GpuDeviceInfo,
    request: &DeviceRequest,
) -> Result<WgpuDevice> {
    let device = open_adapter(adapter, info, request).await?;
    if device.0.info.is_software() && !request.allow_software && request.adapter_index.is_none() {
        let reason = format!(
            "only a software adapter found ({}) and it was not allowed",
            device.0.info
        );
        device.destroy();
        return Err(Error::BackendUnavailable {
            backend: ENGINE,
            reason,
        });
    }
    Ok(device)
}

async fn open_adapter(
    adapter: &wgpu::Adapter,
    info: GpuDeviceInfo,
    request: &DeviceRequest,
) -> Result<WgpuDevice> {
    #[cfg(feature = "fault-injection")]
    crate::gpu::open_faults::fault(ENGINE)?;
    let features = limits::features(adapter, request);
    let limits = limits::wanted(&adapter.limits(), request.limits);
    if let Some(low) = limits::missing(&limits) {
        return Err(Error::BackendUnavailable {
            backend: ENGINE,
            reason: format!("{info}: the adapter is {low}"),
        });
    }
    let experimental = if features.intersects(wgpu::Features::all_experimental_mask()) {
        // SAFETY: the only experimental feature among `features` is cooperative matrices, and `compile` refuses kernels that use
        // them unless their author guaranteed in an `unsafe` call that they need no checks.
        unsafe { wgpu::ExperimentalFeatures::enabled() }
    } else {
        wgpu::ExperimentalFeatures::disabled()
    };
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("pagepress"),
        required_features: features,
        required_limits: limits.clone(),
        experimental_features: experimental,
        ..wgpu::DeviceDescriptor::default()
    };
    let capabilities = limits::capabilities(&limits, features, request);
    // Kernels of bfloat16 are SPIR-V of this crate.
    #[cfg(vulkan_engine)]
    let with_bfloat16 = (capabilities.cooperative_matrices && capabilities.spirv_passthrough)
        .then(|| super::bfloat16::open(adapter, &descriptor))
        .flatten();
    #[cfg(not(vulkan_engine))]
    let with_bfloat16 = None;
    let has_bfloat16 = with_bfloat16.is_some();
    let opened = match with_bfloat16 {
        Some(opened) => opened,
        None => adapter.request_device(&descriptor).await.map_err(|error| {
            Error::BackendUnavailable {
                backend: ENGINE,
                reason: format!("{info}: {error}"),
            }
        })?,
    };
    #[cfg(vulkan_engine)]
    let has_elements = capabilities.cooperative_matrices
        && capabilities.spirv_passthrough
        && capabilities.float16
        && info.subgroup_size == (32, 32)
        && super::matrix_elements::are_ordered(&opened.0, &opened.1);
    #[cfg(not(vulkan_engine))]
    let has_elements = false;
    let capabilities = Capabilities {
        bfloat16_matrices: has_bfloat16,
        matrix_elements: has_elements,
        clears_workgroups: limits::clears_workgroups(adapter),
        ..capabilities
    };
    Ok(WgpuDevice::of(
        opened,
        info,
        &limits,
        capabilities,
        request,
        false,
    ))
}

impl WgpuDevice {
    /// Wraps an open device of wgpu. An external one, which the caller owns, is not destroyed here.
    pub(super) fn of(
        (device, queue): (wgpu::Device, wgpu::Queue),
        info: GpuDeviceInfo,
        limits: &wgpu::Limits,
        capabilities: Capabilities,
        request: &DeviceRequest,
        is_external: bool,
    ) -> Self {
        let faults = Arc::new(Faults::default());
        #[cfg(not(target_arch = "wasm32"))]
        faults.listen(&device);
        #[cfg(target_arch = "wasm32")]
        let (info, listener) = (
            adapter_web::describe_web(&device, info),
            listener::listen(&device, &faults, is_external),
        );
        let budget = Budget::new(request.memory_limit);
        let capabilities = Capabilities {
            free_memory_bytes: budget.free_of(None),
            min_subgroup: info.subgroup_size.0,
            registers: match request.limits {
                LimitTier::Lowest | LimitTier::FewestRegisters => Registers::Fewest,
                _ => info.registers(),
            },
            longest_submission: request
                .longest_submission
                .or_else(|| (info.kind != DeviceKind::Discrete).then_some(LONGEST_SUBMISSION)),
            ..capabilities
        };
        let may_leave_out_checks = limits::leaves_out_checks(request);
        Self(Arc::new(Shared {
            id: DeviceId::new(),
            is_external,
            #[cfg(target_arch = "wasm32")]
            _listener: listener,
            timestamp_period_ns: queue.get_timestamp_period(),
            device,
            queue,
            budget,
            max_allocation: limits.max_buffer_size / 4 * 4,
            #[cfg(not(target_arch = "wasm32"))]
            wait_limit: watch::limit(request, info.is_software()),
            #[cfg(not(target_arch = "wasm32"))]
            n_done: Arc::default(),
            #[cfg(target_arch = "wasm32")]
            prompt: super::prompt::Prompt::new(&info),
            info,
            capabilities,
            may_leave_out_checks,
            faults,
            pool: Pool::new(MAX_POOLED_BYTES),
            queries: FreeQueries::default(),
            kernels: PipelineCache::default(),
            groups: Arc::default(),
            joined: super::joined::Joined::default(),
        }))
    }

    /// Returns the identity of this open device.
    #[must_use]
    pub fn id(&self) -> DeviceId {
        self.0.id
    }

    /// Returns wgpu's device, for use with wgpu itself.
    #[must_use]
    pub fn raw_device(&self) -> &wgpu::Device {
        &self.0.device
    }

    /// Returns wgpu's queue, for use with wgpu itself.
    #[must_use]
    pub fn raw_queue(&self) -> &wgpu::Queue {
        self.0.submit_joined();
        &self.0.queue
    }

    /// Returns the number of kernels compiled so far.
    #[must_use]
    pub fn n_kernels(&self) -> usize {
        self.0.kernels.n_kernels()
    }

    /// Checks that the device was not lost.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] with the driver's words.
    pub fn check(&self) -> Result<()> {
        self.0.let_go();
        self.0.faults.check()
    }

    /// Allocates memory with unspecified contents.
    pub(crate) fn allocate_uncleared(&self, n_bytes: u64) -> Result<WgpuBuffer> {
        WgpuBuffer::uncleared(&self.0, n_bytes)
    }

    /// Makes allocations fail: see [`GpuDevice::fail_allocations`](crate::gpu::GpuDevice::fail_allocations).
    #[cfg(feature = "fault-injection")]
    pub(crate) fn fail_allocations(&self, n_before: u64, n_failing: u64) -> u64 {
        self.0.clear_pool();
        self.0.budget.fail(n_before, n_failing)
    }

    /// Destroys the device: everything submitted later fails with [`Error::DeviceLost`].
    pub fn destroy(&self) {
        // Calls in flight fail from here on, before wgpu reports the reason.
        self.0.faults.note_lost("the device was given up".into());
        if self.0.is_external {
            return;
        }
        self.0.device.destroy();
        self.0.let_go();
    }
}

impl Backend for WgpuDevice {
    type Kernel = WgpuKernel;
    type Buffer = WgpuBuffer;
    type HostBuffer = WgpuHostBuffer;
    type Stream = WgpuStream;
    type Submission = WgpuSubmission;

    fn name(&self) -> &'static str {
        ENGINE
    }

    fn info(&self) -> &GpuDeviceInfo {
        &self.0.info
    }

    fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    async fn compile_kernel(&self, source: &KernelSource<'_>) -> Result<WgpuKernel> {
        compile(&self.0, source).await
    }

    fn allocate_memory(&self, n_bytes: u64) -> Result<WgpuBuffer> {
        WgpuBuffer::cleared(&self.0, n_bytes)
    }

    fn allocate_host(&self, n_bytes: u64, host_use: HostUse) -> Result<WgpuHostBuffer> {
        WgpuHostBuffer::new(&self.0, n_bytes, host_use)
    }

    fn stream(&self) -> WgpuStream {
        WgpuStream::new(&self.0)
    }

    async fn synchronize_async(&self) -> Result<()> {
        self.0.work_done(None).await
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::runtime::block_on;
    use crate::gpu::{EngineChoice, KernelArg, Waitable};
    use crate::kernels::Access;

    const WGSL: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn add(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }";

    /// Opens a device and compiles the kernel.
    async fn open_with_kernel() -> Result<(WgpuDevice, WgpuKernel)> {
        let request = DeviceRequest {
            engine: EngineChoice::Wgpu,
            allow_software: true,
            ..DeviceRequest::default()
        };
        let device = open(&request).await?.device;
        let source = KernelSource::new(WGSL, "add", &[Access::ReadWrite]);
        let kernel = device.compile_kernel(&source).await?;
        Ok((device, kernel))
    }

    async fn run(device: &WgpuDevice, kernel: &WgpuKernel, data: &WgpuBuffer) -> Result<()> {
        let args = [KernelArg::Buffer(data)];
        let launch = device.launch_kernel(kernel, [1, 1, 1], &args)?;
        launch.wait_async().await.map(drop)
    }

    #[test]
    fn equal_launches_share_a_group_until_its_buffer_is_dropped() {
        let done: Result<()> = block_on(async {
            let (device, kernel) = open_with_kernel().await?;
            let n_groups = || device.0.groups.len();
            for _ in 0..3 {
                // The pool returns the same memory each time.
                let data = device.allocate_memory(256)?;
                run(&device, &kernel, &data).await?;
                assert_eq!(n_groups(), 1);
            }
            let other = device.allocate_memory(512)?;
            run(&device, &kernel, &other).await?;
            assert_eq!(n_groups(), 2);
            device.0.pool.clear();
            assert_eq!(n_groups(), 1, "the group of freed memory is kept");
            // A buffer whose raw handle has been exposed is freed, not pooled.
            assert!(other.raw().is_some());
            drop(other);
            assert_eq!(n_groups(), 0);
            Ok(())
        });
        done.expect("a GPU, a software one will do");
    }

    #[test]
    fn a_device_that_measured_launches_is_freed_with_its_last_handle() {
        let found: Result<_> = block_on(async {
            let (device, kernel) = open_with_kernel().await?;
            let data = device.allocate_memory(256)?;
            for _ in 0..2 {
                run(&device, &kernel, &data).await?;
            }
            Ok(Arc::downgrade(&device.0))
        });
        let device = found.expect("a GPU, a software one will do");
        assert!(device.upgrade().is_none(), "something keeps the device");
    }
}
