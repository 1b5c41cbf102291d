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

    /// Returns the number of groups in the cache.
    #[cfg(all(test, not(target_arch = "wasm32")))]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
