//! Compiles the kernels of the crate, in every variant that jobs choose for the device, on the best Vulkan adapter.
//!
//! `compile_kernels WORD...` compiles those whose names, which state their overrides, contain one of the words, or all without words. It
//! prints each name to the error stream before it compiles the kernel, where drivers print their statistics:
//! `scripts/checks/compilers.mjs` runs this with the compilers of GPUs that are not there. `compile_kernels --list` prints the names only,
//! without compiling. With the environment variable `PAGEPRESS_ANY_DRIVER` it takes a driver that passes no conformance tests, too: wgpu
//! hides these from everybody else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a program of the tests"
)]

#[path = "../tests/common/launches.rs"]
mod launches;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, DeviceRequest, EngineChoice, GpuDevice, KernelSource};
use pagepress::internals::{Limits, limits_of};

fn main() -> Result<(), pagepress::Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let device = open()?;
    eprintln!("device: {}", device.info());
    let mut n_failed = 0;
    let limits = Limits {
        binding_bytes: launches::LARGE,
        ..limits_of(&device)
    };
    let mut launches = launches::launches_on(&[limits]);
    if words == ["--list"] {
        launches.keys().for_each(|name| eprintln!("kernel: {name}"));
        return Ok(());
    }
    launches.retain(|name, _| words.is_empty() || words.iter().any(|word| name.contains(word)));
    for (name, launch) in launches {
        eprintln!("kernel: {name}");
        let overrides: Vec<(&str, f64)> = launch
            .overrides
            .iter()
            .map(|&(name, value)| (name, f64::from(value)))
            .collect();
        let source = KernelSource::of(launch.kernel, &overrides);
        // SAFETY: the kernel is never launched.
        let source = unsafe { source.without_checks() };
        let source = match launch.kernel.fills_workgroup() {
            // SAFETY: the kernel is never launched.
            true => unsafe { source.without_clearing() },
            false => source,
        };
        let compiled = block_on(device.compile_kernel(&source));
        if let Err(error) = compiled {
            eprintln!("failed: {error}");
            n_failed += 1;
        }
    }
    eprintln!("all kernels: {n_failed} failed");
    Ok(())
}

/// Opens the best adapter as Pagepress does, or, with the variable, the first one of all.
fn open() -> Result<GpuDevice, pagepress::Error> {
    let request = DeviceRequest {
        engine: EngineChoice::Wgpu,
        ..DeviceRequest::default()
    };
    if std::env::var_os("PAGEPRESS_ANY_DRIVER").is_none() {
        return GpuDevice::open(&request);
    }
    let backends = wgpu::Backends::VULKAN;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: wgpu::InstanceFlags::ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapters = block_on(instance.enumerate_adapters(backends));
    let adapter = adapters.first().expect("an adapter");
    // As Pagepress asks for.
    let features = wgpu::Features::TIMESTAMP_QUERY
        | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | wgpu::Features::SHADER_F16
        | wgpu::Features::SHADER_INT64
        | wgpu::Features::SUBGROUP
        | wgpu::Features::SUBGROUP_BARRIER
        | wgpu::Features::PASSTHROUGH_SHADERS;
    let descriptor = wgpu::DeviceDescriptor {
        required_features: adapter.features() & features,
        required_limits: adapter.limits(),
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = block_on(adapter.request_device(&descriptor)).expect("a device");
    GpuDevice::from_wgpu(device, queue, &request)
}
