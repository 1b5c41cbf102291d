//! A launch, whose arguments are bound as a group.

use super::groups::BoundRange;
use super::kernel::WgpuKernel;
use super::memory::WgpuBuffer;
use super::shared::Shared;

/// Memory with the parameters of launches, and where they begin there.
pub(super) type Params<'a> = (&'a wgpu::Buffer, u64);

/// A launch.
#[derive(Debug)]
pub(super) struct Launch {
    pub kernel: WgpuKernel,
    pub grid: [u32; 3],
    pub args: Vec<Bound>,
}

/// An argument.
#[derive(Debug)]
pub(super) enum Bound {
    Buffer {
        buffer: WgpuBuffer,
        offset: u64,
        n_bytes: u64,
    },
    /// A part of the parameters of all launches.
    Params { offset: u64, n_bytes: u64 },
}

impl Launch {
    /// Returns true if the kernel is the engine's, and its arguments, too.
    pub(super) fn may_join(&self) -> bool {
        let is_own = |arg: &Bound| match arg {
            Bound::Buffer { buffer, .. } => buffer.is_own(),
            Bound::Params { .. } => true,
        };
        !self.kernel.is_of_caller() && self.args.iter().all(is_own)
    }

    /// Records the launch in `pass`. The parameters of all launches are in memory from an offset on.
    pub(super) fn encode(
        &self,
        shared: &Shared,
        pass: &mut wgpu::ComputePass<'_>,
        params: Option<Params<'_>>,
    ) {
        let (kernel, grid) = (&self.kernel, self.grid);
        let Some((ranges, is_own)) = self.ranges(params) else {
            return;
        };
        let make = |ranges: &[BoundRange]| bind_group(shared, kernel, ranges);
        let group = match is_own {
            true => shared.groups.get(kernel.number(), ranges, make),
            false => make(&ranges),
        };
        pass.set_pipeline(kernel.pipeline());
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(grid[0], grid[1], grid[2]);
    }

    /// Returns the ranges to bind, and true if only the engine has their buffers.
    fn ranges(&self, params: Option<Params<'_>>) -> Option<(Vec<BoundRange>, bool)> {
        let mut ranges = Vec::with_capacity(self.args.len());
        let mut is_own = true;
        for arg in &self.args {
            let (buffer, offset, n_bytes) = match arg {
                Bound::Buffer {
                    buffer,
                    offset,
                    n_bytes,
                } => {
                    is_own &= buffer.is_own();
                    (buffer.handle()?, *offset, *n_bytes)
                }
                Bound::Params { offset, n_bytes } => {
                    let (buffer, start) = params?;
                    (buffer, start + offset, *n_bytes)
                }
            };
            ranges.push(BoundRange {
                buffer: buffer.clone(),
                offset,
                n_bytes,
            });
        }
        Some((ranges, is_own))
    }
}

fn bind_group(shared: &Shared, kernel: &WgpuKernel, ranges: &[BoundRange]) -> wgpu::BindGroup {
    let entries: Vec<_> = ranges
        .iter()
        .zip(0..)
        .map(|(range, binding)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &range.buffer,
                offset: range.offset,
                size: wgpu::BufferSize::new(range.n_bytes),
            }),
        })
        .collect();
    let descriptor = wgpu::BindGroupDescriptor {
        label: Some(kernel.entry()),
        layout: kernel.layout(),
        entries: &entries,
    };
    shared.device.create_bind_group(&descriptor)
}
