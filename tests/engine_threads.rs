//! Threads that wait for the work of one device at once.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, EngineChoice, GpuDevice, KernelArg, KernelSource, Waitable};
use pagepress::kernels::Access;

/// Each word becomes the next term of a sequence, `params.turns` times.
const WGSL: &str = "
struct Params { turns: u32 }
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64)
fn turn(@builtin(global_invocation_id) id: vec3<u32>) {
    var word = words[id.x];
    for (var i = 0u; i < params.turns; i++) {
        word = word * 1664525u + 1013904223u;
    }
    words[id.x] = word;
}";

const WORDS: usize = 4096;
const THREADS: u32 = 8;
const LAUNCHES: u32 = 60;
/// Turns of the longest launch, which takes some milliseconds on a software GPU.
const TURNS: u32 = 20_000;

/// Launches the kernel with other numbers of turns each time, and checks the first and the last word.
async fn work(device: &GpuDevice, thread: u32) {
    let source = KernelSource::new(WGSL, "turn", &[Access::ReadWrite, Access::Uniform]);
    let kernel = device.compile_kernel(&source).await.unwrap();
    let words = device.allocate_memory(4 * WORDS as u64).unwrap();
    let mut expected = 0u32;
    for launch in 0..LAUNCHES {
        let turns = (launch * 7919 + thread * 104_729) % TURNS;
        let args = [KernelArg::Buffer(&words), KernelArg::Params(&[turns])];
        let grid = [WORDS as u32 / 64, 1, 1];
        let launched = device.launch_kernel(&kernel, grid, &args).unwrap();
        launched.wait_async().await.unwrap();
        for _ in 0..turns {
            expected = expected.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
    }
    let found = device.download_async(&words, 0..4 * WORDS as u64).await;
    let (found, _) = found.as_ref().unwrap().as_chunks();
    let ends = [found[0], found[WORDS - 1]].map(u32::from_le_bytes);
    assert_eq!(ends, [expected; 2], "thread {thread}");
}

#[test]
fn threads_wait_for_one_device_at_once() {
    let device = common::engine::open(EngineChoice::Wgpu);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let device = &device;
            scope.spawn(move || block_on(work(device, thread)));
        }
    });
}
