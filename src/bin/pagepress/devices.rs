//! `devices`: what there is, and what would be taken.

use pagepress::batch::{Codec, CodecOptions};

use crate::failure::Failure;

/// Prints the engines of this machine and the choice of `--backend auto`.
pub fn print() -> Result<(), Failure> {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("cpu     {n_cores} cores");
    print_adapters();
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

#[cfg(feature = "wgpu")]
fn print_adapters() {
    let adapters = pagepress::gpu::GpuDevice::list_adapters();
    if adapters.is_empty() {
        println!("wgpu    no adapter; is a Vulkan, Metal or DirectX 12 driver installed?");
    }
    for (index, info) in adapters.iter().enumerate() {
        let driver = if info.driver.is_empty() {
            String::new()
        } else {
            format!(", {}", info.driver)
        };
        println!("wgpu {index}  {info}{driver}");
    }
}

#[cfg(not(feature = "wgpu"))]
fn print_adapters() {
    println!("wgpu    not in this build");
}
