//! Invocations that diverge between barriers compute what they compute one at a time: random programs against an interpreter.
//!
//! A driver's compiler may assume that the invocations of a warp have converged after divergent control flow. Where they have
//! not, a barrier or a reduction includes only some of them, and words are read before they are written.
//!
//! `PAGEPRESS_PROGRAMS` is the number of programs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
mod program;

use std::process::ExitCode;

use common::pages::Random;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, EngineChoice, GpuDevice, KernelArg, KernelSource, Waitable};
use pagepress::kernels::Access;
use pagepress_test_harness::test;
use program::{Program, WORDS};

/// Programs, and workgroups of each, which differ in their input: on a GPU, where a fault may take thousands of workgroups to
/// show, and on a software adapter, which takes a tenth of a second to compile a program.
const HARDWARE: Size = Size {
    n_programs: 300,
    n_workgroups: 4096,
};
const SOFTWARE: Size = Size {
    n_programs: 30,
    n_workgroups: 16,
};

struct Size {
    n_programs: u64,
    n_workgroups: usize,
}

fn main() -> ExitCode {
    common::harness::run()
}

async fn output(
    device: &GpuDevice,
    source: &KernelSource<'_>,
    input: &[u32],
    n_workgroups: usize,
) -> pagepress::Result<Vec<u32>> {
    let kernel = device.compile_kernel(source).await?;
    let n_bytes = 4 * input.len() as u64;
    let from = device.allocate_memory(n_bytes)?;
    let to = device.allocate_memory(n_bytes)?;
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    device.upload_async(&from, 0, &bytes).await?;
    let args = [KernelArg::Buffer(&from), KernelArg::Buffer(&to)];
    let grid = [n_workgroups as u32, 1, 1];
    device
        .launch_kernel(&kernel, grid, &args)?
        .wait_async()
        .await?;
    let found = device.download_async(&to, 0..n_bytes).await?;
    let (words, _) = found.as_chunks();
    Ok(words.iter().map(|&word| u32::from_le_bytes(word)).collect())
}

/// Returns the seed if the device computes something else.
fn differs(device: &GpuDevice, seed: u64, n_workgroups: usize) -> Option<u64> {
    let program = Program::new(seed);
    let mut random = Random::new(!seed);
    let input: Vec<u32> = (0..WORDS * program.width * n_workgroups)
        .map(|_| random.next() as u32)
        .collect();
    let wgsl = program.wgsl();
    let bindings = [Access::Read, Access::ReadWrite];
    let mut source = KernelSource::new(&wgsl, "main", &bindings);
    if !seed.is_multiple_of(4) {
        // SAFETY: indexes are constants or those of invocations, and loops have constant trip counts.
        source = unsafe { source.without_checks() };
    }
    let found = block_on(output(device, &source, &input, n_workgroups)).expect("no result");
    (found != program.expected(&input)).then_some(seed)
}

fn check(engine: EngineChoice, n_threads: u64) {
    let device = common::engine::open(engine);
    let size = if device.info().is_software() {
        SOFTWARE
    } else {
        HARDWARE
    };
    let number = std::env::var("PAGEPRESS_PROGRAMS");
    let n = number.map_or(size.n_programs, |text| text.parse().expect("a number"));
    let different: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads)
            .map(|thread| {
                let device = &device;
                let seeds = (thread..n).step_by(n_threads as usize);
                scope.spawn(move || {
                    seeds
                        .filter_map(|seed| differs(device, seed, size.n_workgroups))
                        .collect()
                })
            })
            .collect();
        let found = threads.into_iter().map(|one| one.join().expect("a thread"));
        found.flat_map(|seeds: Vec<u64>| seeds).collect()
    });
    assert!(
        different.is_empty(),
        "{} of {n} programs differ: {different:?}",
        different.len()
    );
}

#[cfg(feature = "wgpu")]
#[test]
fn divergent_invocations_converge_at_barriers_through_wgpu() {
    check(EngineChoice::Wgpu, 2);
}

#[cfg(cuda_engine)]
#[test]
fn divergent_invocations_converge_at_barriers_through_cuda() {
    common::cuda::need_cuda();
    check(EngineChoice::Cuda, 16);
}
