//! `devices`: what there is, and what would be taken.

use pagepress::batch::{Codec, CodecOptions};

use crate::failure::Failure;

/// Prints the engines of this machine and the choice of `--backend auto`.
pub fn print() -> Result<(), Failure> {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("cpu     {n_cores} cores");
    print_cuda();
    print_wgpu();
    let codec = Codec::new(CodecOptions::default()).map_err(|source| Failure::Engine { source })?;
    let choice = codec.choice();
    let adapter = if choice.adapter.is_empty() {
        String::new()
    } else {
        format!(" ({})", choice.adapter)
    };
    println!("auto takes {}{adapter}: {}", choice.engine, choice.reason);
    for rejected in &choice.rejected {
        println!("  not {}: {}", rejected.candidate, rejected.reason);
    }
    Ok(())
}

#[cfg(feature = "cuda")]
fn print_cuda() {
    match pagepress::gpu::cuda::list() {
        Ok(gpus) => print_all("cuda", &gpus),
        Err(error) => println!("cuda    {error}"),
    }
}

#[cfg(not(feature = "cuda"))]
fn print_cuda() {
    println!("cuda    not in this build");
}

#[cfg(feature = "wgpu")]
fn print_wgpu() {
    let mut adapters = pagepress::gpu::GpuDevice::list_adapters();
    adapters.retain(|info| info.engine == "wgpu");
    if adapters.is_empty() {
        println!("wgpu    no adapter; is a Vulkan, Metal or DirectX 12 driver installed?");
    }
    print_all("wgpu", &adapters);
}

#[cfg(not(feature = "wgpu"))]
fn print_wgpu() {
    println!("wgpu    not in this build");
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn print_all(engine: &str, gpus: &[pagepress::gpu::GpuDeviceInfo]) {
    for (index, info) in gpus.iter().enumerate() {
        let driver = if info.driver.is_empty() {
            String::new()
        } else {
            format!(", {}", info.driver)
        };
        println!("{engine} {index}  {info}{driver}");
    }
}
