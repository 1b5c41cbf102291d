//! One kernel of your own, on every GPU and through every engine that the machine has, compared with the CPU.
//!
//! `cargo run --release --all-features --example user_kernel`

use pagepress::gpu::{Backend, DeviceRequest, GpuDevice, KernelArg, KernelSource, Waitable};
use pagepress::kernels::Access;

/// Steps that each number takes to 1 when it is halved if even, else tripled plus one.
const WGSL: &str = "
override WIDTH: u32 = 64u;

struct Params { n: u32 }
@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn collatz(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.n { return; }
    var value = numbers[id.x];
    var n_steps = 0u;
    for (; value > 1u; n_steps++) {
        value = select(value / 2u, 3u * value + 1u, value % 2u == 1u);
    }
    steps[id.x] = n_steps;
}
";

/// Bindings 0, 1 and 2 of the kernel.
const BINDINGS: &[Access] = &[Access::Read, Access::ReadWrite, Access::Uniform];

/// The kernel's twin.
fn collatz(mut value: u32) -> u32 {
    let mut n_steps = 0;
    while value > 1 {
        value = match value % 2 {
            1 => 3 * value + 1,
            _ => value / 2,
        };
        n_steps += 1;
    }
    n_steps
}

/// Runs the kernel on any engine.
async fn on<B: Backend>(
    backend: &B,
    numbers: &[u32],
) -> pagepress::Result<(Vec<u32>, Option<u64>)> {
    let width = backend.capabilities().max_workgroup_invocations.min(256);
    let overrides = [("WIDTH", f64::from(width))];
    let source = KernelSource::new(WGSL, "collatz", BINDINGS).with_overrides(&overrides);
    let kernel = backend.compile_kernel(&source).await?;
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let n_bytes = bytes.len() as u64;
    let (input, output) = (
        backend.allocate_memory(n_bytes)?,
        backend.allocate_memory(n_bytes)?,
    );
    backend.upload_async(&input, 0, &bytes).await?;
    let n = numbers.len() as u32;
    let args = [
        KernelArg::Buffer(&input),
        KernelArg::Buffer(&output),
        KernelArg::Params(&[n]),
    ];
    let launched = backend.launch_kernel(&kernel, [n.div_ceil(width), 1, 1], &args)?;
    let kernel_ns = launched.wait_async().await?;
    let bytes = backend.download_async(&output, 0..n_bytes).await?;
    let (words, _) = bytes.as_chunks::<4>();
    let steps = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    Ok((steps, kernel_ns))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    use pagepress::gpu::runtime::block_on;
    let numbers: Vec<u32> = (1..=100_000).collect();
    let expected: Vec<u32> = numbers.iter().copied().map(collatz).collect();
    let adapters = GpuDevice::list_adapters();
    if adapters.is_empty() {
        return Err("no adapter found; install a Vulkan driver".into());
    }
    for (index, adapter) in adapters.iter().enumerate() {
        let device = GpuDevice::open(&DeviceRequest {
            adapter_index: Some(index),
            ..DeviceRequest::default()
        })?;
        let (steps, kernel_ns) = block_on(on(&device, &numbers))?;
        if steps != expected {
            return Err(format!("{adapter}: not what the CPU finds").into());
        }
        let time = kernel_ns.map_or("no clock".into(), |ns| format!("{:.3} ms", ns as f64 / 1e6));
        println!(
            "{} on {adapter}: the same as on the CPU; {time}",
            device.name()
        );

        // A mistake in a kernel comes with its place.
        let broken = WGSL.replace("value / 2u", "value / 2.0");
        let source = KernelSource::new(&broken, "collatz", BINDINGS);
        match block_on(device.compile_kernel(&source)) {
            Err(error) => println!("{error}\n"),
            Ok(_) => return Err("a broken kernel compiled".into()),
        }
    }
    Ok(())
}
