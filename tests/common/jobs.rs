//! Runs jobs by hand.

use std::collections::HashMap;

use pagepress::gpu::{Backend, Buffer, GpuDevice, KernelArg, KernelSource, Waitable};
use pagepress::internals::Job;
use pagepress::kernels::{Arg, Launch, Slot};

/// The buffers of a job.
pub type Buffers = HashMap<Slot, Buffer>;

/// Allocates the buffers of a job.
pub fn buffers_of(device: &GpuDevice, job: &Job) -> Buffers {
    let buffers = job.buffers.iter();
    let allocate = |&(slot, n_bytes)| (slot, device.allocate_memory(n_bytes).unwrap());
    buffers.map(allocate).collect()
}

/// Runs a launch with the kernel of `source`.
pub async fn run(device: &GpuDevice, source: KernelSource<'_>, launch: &Launch, buffers: &Buffers) {
    let overrides = launch.overrides.iter();
    let overrides: Vec<(&str, f64)> = overrides.map(|&(n, v)| (n, v.into())).collect();
    let source = source.with_overrides(&overrides);
    let kernel = device.compile_kernel(&source).await.unwrap();
    let args: Vec<_> = launch
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Params(words) => KernelArg::Params(words),
            Arg::Buffer(slot) => KernelArg::Buffer(&buffers[slot]),
            Arg::Slice(slot, range) => KernelArg::Slice(&buffers[slot], range.clone()),
        })
        .collect();
    let launched = device.launch_kernel(&kernel, launch.grid, &args).unwrap();
    launched.wait_async().await.unwrap();
}
