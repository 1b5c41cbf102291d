//! [`BindGroups`]: a cache of bind groups.
//!
//! Buffers come from a pool, so that equal calls bind equal ranges of equal buffers.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Capacity of the cache, sufficient for the bind groups of a transformer layer. The oldest is evicted.
const MAX_GROUPS: usize = 64;

/// A range of a buffer that is bound to a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoundRange {
    pub buffer: wgpu::Buffer,
    pub offset: u64,
    pub n_bytes: u64,
}

#[derive(Debug)]
struct Kept {
    /// Number of the kernel.
    kernel: u64,
    /// Bound ranges, in the order of the kernel's bindings.
    ranges: Vec<BoundRange>,
    group: wgpu::BindGroup,
}

/// The bind groups of a device.
#[derive(Debug, Default)]
pub(super) struct BindGroups(Mutex<Vec<Kept>>);

impl BindGroups {
    /// Returns the group for kernel number `kernel` with these ranges, from the cache or from `make`.
    pub(super) fn get(
        &self,
        kernel: u64,
        ranges: Vec<BoundRange>,
        make: impl FnOnce(&[BoundRange]) -> wgpu::BindGroup,
    ) -> wgpu::BindGroup {
        let mut groups = self.lock();
        let found = groups
            .iter()
            .find(|kept| kept.kernel == kernel && kept.ranges == ranges);
        if let Some(kept) = found {
            return kept.group.clone();
        }
        let group = make(&ranges);
        if groups.len() >= MAX_GROUPS {
            groups.remove(0);
        }
        groups.push(Kept {
            kernel,
            ranges,
            group: group.clone(),
        });
        group
    }

    /// Removes the groups that bind `buffer`, since a group keeps all its buffers alive.
    pub(super) fn forget(&self, buffer: &wgpu::Buffer) {
        self.lock()
            .retain(|kept| kept.ranges.iter().all(|range| range.buffer != *buffer));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use crate::Result;
    use crate::gpu::runtime::block_on;
    use crate::gpu::wgpu::{WgpuDevice, device};
    use crate::gpu::{Backend, DeviceRequest, EngineChoice, KernelArg, KernelSource, Waitable};
    use crate::kernels::Access;

    const WGSL: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn add(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }";

    async fn open() -> Result<WgpuDevice> {
        let request = DeviceRequest {
            engine: EngineChoice::Wgpu,
            allow_software: true,
            ..DeviceRequest::default()
        };
        Ok(device::open(&request).await?.device)
    }

    #[test]
    fn equal_launches_share_a_group_until_its_buffer_is_dropped() {
        let done: Result<()> = block_on(async {
            let device = open().await?;
            let n_groups = || device.0.groups.lock().len();
            let kernel = KernelSource::new(WGSL, "add", &[Access::ReadWrite]);
            let kernel = device.compile_kernel(&kernel).await?;
            for _ in 0..3 {
                // The pool returns the same memory each time.
                let data = device.allocate_memory(256)?;
                let args = [KernelArg::Buffer(&data)];
                let launch = device.launch_kernel(&kernel, [1, 1, 1], &args)?;
                launch.wait_async().await?;
                assert_eq!(n_groups(), 1);
            }
            let other = device.allocate_memory(512)?;
            let args = [KernelArg::Buffer(&other)];
            let launch = device.launch_kernel(&kernel, [1, 1, 1], &args)?;
            launch.wait_async().await?;
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
}
