//! The programs of `wgsl-ptx/tests/in` compute the committed results on every available engine.
//!
//! `PAGEPRESS_WRITE_RESULTS=1` writes the results of the wgpu engine to `wgsl-ptx/tests/results`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;
#[path = "../wgsl-ptx/tests/common/programs.rs"]
mod programs;

use std::process::ExitCode;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, Capabilities, EngineChoice, GpuDeviceInfo, KernelArg, KernelSource, Waitable,
};
use pagepress::kernels::Access;
use pagepress_test_harness::test;
use programs::{Program, input, programs};

fn main() -> ExitCode {
    common::harness::run()
}

async fn run<B: Backend>(device: &B, program: &Program) -> pagepress::Result<Vec<u32>> {
    let bindings = [Access::Read, Access::ReadWrite, Access::Uniform];
    let n_bindings = if program.n_uniform_words > 0 { 3 } else { 2 };
    let mut source = KernelSource::new(&program.wgsl, "main", &bindings[..n_bindings]);
    let is_unchecked = match program.needs.as_deref() {
        Some("cooperative") => device.name() != "cuda",
        Some("warpgroups") => true,
        _ => false,
    };
    if is_unchecked {
        // SAFETY: no access of the programs with cooperative matrices or warpgroups is out of bounds with the buffers below.
        source = unsafe { source.without_checks() };
    }
    let is_of_warpgroups = program.needs.as_deref() == Some("warpgroups");
    if program.has_tf32() || is_of_warpgroups && program.name.ends_with("_tf32") {
        source = source.with_floats_as_tf32();
    }
    let kernel = device.compile_kernel(&source).await?;
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let in_bytes = bytes(&input());
    let source = device.allocate_memory(in_bytes.len() as u64)?;
    device.upload_async(&source, 0, &in_bytes).await?;
    let n_bytes = 4 * u64::from(program.n_output_words);
    let target = device.allocate_memory(n_bytes)?;
    device
        .upload_async(&target, 0, &vec![0xff; n_bytes as usize])
        .await?;
    let uniform = program.uniform();
    let args = [
        KernelArg::Buffer(&source),
        KernelArg::Buffer(&target),
        KernelArg::Params(&uniform),
    ];
    device
        .launch_kernel(&kernel, program.grid, &args[..n_bindings])?
        .wait_async()
        .await?;
    let found = device.download_async(&target, 0..n_bytes).await?;
    Ok(found
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect())
}

/// Returns true if the device can run the program; prints the name of a program that it cannot run.
fn is_for(program: &Program, capabilities: &Capabilities, is_cuda: bool) -> bool {
    let can = match program.needs.as_deref() {
        None => true,
        Some("subgroups") => capabilities.subgroups,
        Some("int64") => capabilities.int64,
        Some("float16") => capabilities.float16,
        Some("cooperative") => capabilities.cooperative_matrices,
        Some("tf32") => capabilities.tf32_matrices,
        // The wgpu engine enables this feature on no device; naga's SPIR-V cannot pass pointers into variables.
        Some("float64" | "pointers") => is_cuda,
        Some(other) => panic!("{}: what is {other}?", program.name),
    };
    if !can {
        eprintln!("{}: not on this device", program.name);
    }
    can
}

/// Returns the first word that is known to be wrong on the device, and why: faults below this crate (`docs/rust.md`, limits).
fn known_fault(program: &Program, device: &GpuDeviceInfo) -> Option<(usize, &'static str)> {
    if device.api != "vulkan" || !device.name.contains("NVIDIA") {
        return None;
    }
    match program.name.as_str() {
        "integers_64" => Some((184, "the driver saturates the low word of u64(f32)")),
        "workgroup" => Some((37, "naga gives array<bool> a stride of one byte")),
        _ => None,
    }
}

fn check<B: Backend>(device: &B) {
    let is_cuda = device.name() == "cuda";
    let write = std::env::var_os("PAGEPRESS_WRITE_RESULTS").is_some() && !is_cuda;
    let mut failures = Vec::new();
    let mut n_run = 0;
    for program in programs() {
        if !is_for(&program, device.capabilities(), is_cuda) {
            continue;
        }
        n_run += 1;
        match block_on(run(device, &program)) {
            Ok(found) => {
                if write {
                    program.write(&found);
                }
                let known = known_fault(&program, device.info());
                match (program.compare(&found), known) {
                    (Err(difference), Some((word, why)))
                        if difference.contains(&format!(": word {word} is ")) =>
                    {
                        eprintln!("known: {difference}: {why}");
                    }
                    (Ok(()), Some((_, why))) => {
                        failures.push(format!("{}: fixed: {why}", program.name))
                    }
                    (compared, _) => failures.extend(compared.err()),
                }
            }
            Err(error) => failures.push(format!("{}: {error}", program.name)),
        }
    }
    assert!(n_run > 20, "only {n_run} programs ran");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check_through(engine: EngineChoice) {
    check(&common::engine::open(engine));
}

#[cfg(feature = "wgpu")]
#[test]
fn every_program_gives_the_committed_results_through_wgpu() {
    check_through(EngineChoice::Wgpu);
}

/// wgpu checks no bounds of cooperative matrices, so a safe call must not compile them.
#[cfg(feature = "wgpu")]
#[test]
fn cooperative_matrices_with_bounds_checks_are_refused_through_wgpu() {
    let device = common::engine::open(EngineChoice::Wgpu);
    let found = programs().into_iter().find(|one| one.name == "cooperative");
    let program = found.expect("tests/in/cooperative.wgsl");
    let bindings = [Access::Read, Access::ReadWrite];
    let source = KernelSource::new(&program.wgsl, "main", &bindings);
    let error = block_on(device.compile_kernel(&source)).expect_err("compiled");
    assert!(error.to_string().contains("without_checks"), "{error}");
}

#[cfg(cuda_engine)]
#[test]
fn every_program_gives_the_committed_results_through_cuda() {
    common::cuda::need_cuda();
    check_through(EngineChoice::Cuda);
}

/// Warpgroups multiply only in kernels without checks, which no safe call compiles.
#[cfg(cuda_engine)]
#[test]
fn products_of_warpgroups_give_the_committed_results() {
    common::cuda::need_cuda();
    let device = common::engine::open(EngineChoice::Cuda);
    if !device.capabilities().warpgroup_matrices {
        eprintln!("no products of warpgroups on this device");
        return;
    }
    for name in ["warpgroups", "warpgroups_left", "warpgroups_tf32"] {
        let found = programs().into_iter().find(|one| one.name == name);
        let mut program = found.expect("a program of warpgroups in tests/in");
        program.needs = Some("warpgroups".to_owned());
        let words = block_on(run(&device, &program)).unwrap();
        program.compare(&words).unwrap();
    }
}
