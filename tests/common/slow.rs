//! A slow kernel, for tests of work in flight.

use pagepress::Result;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, Buffer, GpuDevice, Kernel, KernelArg, KernelSource, Submission};
use pagepress::kernels::Access;

const SLOW: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @group(0) @binding(1) var<uniform> rounds: vec4<u32>;
    @compute @workgroup_size(64)
    fn slow(@builtin(global_invocation_id) id: vec3<u32>) {
        var x = id.x;
        for (var i = 0u; i < rounds.x; i++) { x = (x ^ (x >> 7u)) * 1664525u + 1013904223u; }
        data[id.x] = x;
    }";

/// Iterations of the kernel: at least a tenth of a second on any GPU.
const ROUNDS: u32 = 20_000_000;

/// The slow kernel, its device, and a buffer for its data.
pub struct Slow {
    device: GpuDevice,
    kernel: Kernel,
    pub data: Buffer,
}

impl Slow {
    pub fn new(device: &GpuDevice) -> Self {
        let bindings = [Access::ReadWrite, Access::Uniform];
        let source = KernelSource::new(SLOW, "slow", &bindings);
        Self {
            kernel: block_on(device.compile_kernel(&source)).unwrap(),
            data: device.allocate_memory(256).unwrap(),
            device: device.clone(),
        }
    }

    pub fn launch(&self, data: &Buffer) -> Result<Submission> {
        let args = [KernelArg::Buffer(data), KernelArg::Params(&[ROUNDS])];
        self.device.launch_kernel(&self.kernel, [1, 1, 1], &args)
    }

    pub fn result(&self, data: &Buffer) -> Vec<u8> {
        block_on(self.device.download_async(data, 0..256)).unwrap()
    }

    pub fn expected(&self) -> Vec<u8> {
        let end_of = |start: u32| {
            (0..ROUNDS).fold(start, |x, _| {
                (x ^ (x >> 7))
                    .wrapping_mul(1_664_525)
                    .wrapping_add(1_013_904_223)
            })
        };
        // In one thread each: a fold is a chain of dependent operations.
        let threads: Vec<_> = (0..64)
            .map(|lane| std::thread::spawn(move || end_of(lane)))
            .collect();
        let words = threads.into_iter().map(|thread| thread.join().unwrap());
        words.flat_map(u32::to_le_bytes).collect()
    }
}
