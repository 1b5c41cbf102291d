//! [`WgpuSubmission`]: submitted work, and waiting for it.

use std::ops::Range;
use std::sync::Arc;

use super::shared::Shared;
use super::timer::Timer;
use crate::Result;
use crate::gpu::backend::Waitable;
use crate::gpu::id::{DeviceId, Owned};
use crate::gpu::times::{Busy, DeviceTimes};

/// Work that was submitted to the device.
#[derive(Debug)]
pub struct WgpuSubmission {
    pub(super) shared: Arc<Shared>,
    pub(super) index: wgpu::SubmissionIndex,
    pub(super) timer: Option<Timer>,
}

impl Owned for WgpuSubmission {
    fn device_id(&self) -> DeviceId {
        self.shared.id
    }
}

impl Waitable for WgpuSubmission {
    async fn wait_async(self) -> Result<Option<u64>> {
        let length = |span: &Range<u64>| span.end - span.start;
        match self.wait_times_async().await?.kernels {
            Busy::Spans(spans) if !spans.is_empty() => Ok(Some(spans.iter().map(length).sum())),
            _ => Ok(None),
        }
    }

    async fn wait_times_async(self) -> Result<DeviceTimes> {
        let shared = &self.shared;
        if let Some(timer) = self.timer {
            let measured = timer.read(shared.timestamp_period_ns).await?;
            timer.give_back(&shared.queries);
            return Ok(measured);
        }
        shared.work_done(Some(self.index)).await?;
        Ok(DeviceTimes::default())
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;
    use crate::gpu::runtime::block_on;
    use crate::gpu::{
        Backend, DeviceRequest, EngineChoice, KernelArg, KernelSource, Recorder, wgpu,
    };
    use crate::kernels::Access;

    const LONG: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn spin(@builtin(global_invocation_id) id: vec3<u32>) {
            for (var i = 0u; i < 60000u; i++) { data[id.x] = data[id.x] * 1664525u + i; }
        }";

    #[test]
    fn a_wait_ends_before_later_work_does() {
        let done: Result<()> = block_on(async {
            let request = DeviceRequest {
                engine: EngineChoice::Wgpu,
                allow_software: true,
                ..DeviceRequest::default()
            };
            let device = wgpu::open(&request).await?.device;
            let source = KernelSource::new(LONG, "spin", &[Access::ReadWrite]);
            let kernel = device.compile_kernel(&source).await?;
            let data = device.allocate_memory(64 << 10)?;
            // Without launches nothing is timed, so that only the device tells that it is done.
            let first = device.stream().submit_timed()?;
            let args = [KernelArg::Buffer(&data)];
            let later = device.launch_kernel(&kernel, [1 << 8, 1, 1], &args)?;
            let wait = pin!(first.wait_async());
            let answer = wait.poll(&mut Context::from_waker(Waker::noop()));
            assert!(answer.is_ready(), "it waits for another submission");
            later.wait_async().await.map(drop)
        });
        done.expect("a GPU, a software one will do");
    }
}
