//! `devices`: lists the engines and adapters, and the automatic choice among them.

use std::io::{self, Write};

use pagepress::batch::{Codec, CodecOptions};

use crate::failure::Failure;
use crate::output::{Output, SparseMode};

/// Prints the engines of this machine and the choice of `--backend auto`.
pub fn print() -> Result<(), Failure> {
    let mut output = Output::stdout(SparseMode::Never)?;
    print_engines(&mut output).map_err(Failure::stdout)?;
    let codec = Codec::new(CodecOptions::default()).map_err(|source| Failure::Engine { source })?;
    print_choice(&mut output, &codec).map_err(Failure::stdout)?;
    output.commit(None)
}

fn print_engines(output: &mut Output) -> io::Result<()> {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    writeln!(output, "cpu     {n_cores} cores")?;
    print_cuda(output)?;
    print_wgpu(output)
}

fn print_choice(output: &mut Output, codec: &Codec) -> io::Result<()> {
    let choice = codec.choice();
    let adapter = if choice.adapter.is_empty() {
        String::new()
    } else {
        format!(" ({})", choice.adapter)
    };
    let (engine, reason) = (choice.engine, &choice.reason);
    writeln!(output, "auto takes {engine}{adapter}: {reason}")?;
    for rejected in &choice.rejected {
        let (candidate, reason) = (&rejected.candidate, &rejected.reason);
        writeln!(output, "  not {candidate}: {reason}")?;
    }
    Ok(())
}

#[cfg(feature = "cuda")]
fn print_cuda(output: &mut Output) -> io::Result<()> {
    match pagepress::gpu::cuda::list() {
        Ok(gpus) => print_all(output, "cuda", &gpus),
        Err(error) => writeln!(output, "cuda    {error}"),
    }
}

#[cfg(not(feature = "cuda"))]
fn print_cuda(output: &mut Output) -> io::Result<()> {
    writeln!(output, "cuda    not in this build")
}

#[cfg(feature = "wgpu")]
fn print_wgpu(output: &mut Output) -> io::Result<()> {
    let mut adapters = pagepress::gpu::GpuDevice::list_adapters();
    adapters.retain(|info| info.engine == "wgpu");
    if adapters.is_empty() {
        let hint = "is a Vulkan, Metal or DirectX 12 driver installed?";
        writeln!(output, "wgpu    no adapter; {hint}")?;
    }
    print_all(output, "wgpu", &adapters)
}

#[cfg(not(feature = "wgpu"))]
fn print_wgpu(output: &mut Output) -> io::Result<()> {
    writeln!(output, "wgpu    not in this build")
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn print_all(
    output: &mut Output,
    engine: &str,
    gpus: &[pagepress::gpu::GpuDeviceInfo],
) -> io::Result<()> {
    for (index, info) in gpus.iter().enumerate() {
        let driver = if info.driver.is_empty() {
            String::new()
        } else {
            format!(", {}", info.driver)
        };
        writeln!(output, "{engine} {index}  {info}{driver}")?;
    }
    Ok(())
}
