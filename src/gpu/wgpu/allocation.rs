//! [`Charged`]: a buffer of wgpu.

use std::sync::Arc;

use super::groups::BindGroups;
use crate::gpu::budget::Charge;

/// A buffer with its charge to the device's budget.
#[derive(Debug)]
pub(super) struct Charged {
    buffer: wgpu::Buffer,
    charge: Option<Charge>,
    /// True to destroy the buffer on drop. Natively wgpu frees it with its last reference; a browser would wait for the
    /// garbage collector.
    #[cfg(target_arch = "wasm32")]
    is_destroyed: bool,
    /// The cache of bind groups, which may hold the buffer.
    groups: Option<Arc<BindGroups>>,
}

impl Drop for Charged {
    fn drop(&mut self) {
        if let Some(groups) = &self.groups {
            groups.forget(&self.buffer);
        }
        #[cfg(target_arch = "wasm32")]
        if self.is_destroyed {
            self.buffer.destroy();
        }
    }
}

impl Charged {
    /// Wraps a buffer that this crate created.
    pub(super) fn new(buffer: wgpu::Buffer, charge: Charge, groups: &Arc<BindGroups>) -> Self {
        Self {
            buffer,
            charge: Some(charge),
            groups: Some(Arc::clone(groups)),
            #[cfg(target_arch = "wasm32")]
            is_destroyed: true,
        }
    }

    /// Wraps a buffer that the caller owns and frees.
    pub(super) fn external(buffer: wgpu::Buffer) -> Self {
        Self {
            buffer,
            charge: None,
            groups: None,
            #[cfg(target_arch = "wasm32")]
            is_destroyed: false,
        }
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Drops the reference without destroying the buffer, which the caller may still use.
    pub(super) fn leave(mut self) {
        self.charge = None;
        #[cfg(target_arch = "wasm32")]
        {
            self.is_destroyed = false;
        }
    }
}
