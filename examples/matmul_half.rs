//! The product of two matrices of halves on matrix units, from one WGSL source, through every engine that has them.
//!
//! `cargo run --release --all-features --example matmul_half [SIZE...]`

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, DeviceRequest, EngineChoice, GpuDevice, KernelArg, KernelSource, Waitable,
};
use pagepress::kernels::Access;

const WGSL: &str = include_str!("matmul_half.wgsl");
const BINDINGS: &[Access] = &[
    Access::Read,
    Access::Read,
    Access::ReadWrite,
    Access::Uniform,
];
/// Rows and columns that a workgroup computes.
const TILE: u32 = 128;
/// Launches that are timed; the fastest counts.
const RUNS: usize = 20;

type Failure = Box<dyn std::error::Error>;

/// Small whole numbers, so that sums are exact: the element at `i`, and its bits as a half.
fn element(i: u32) -> (f32, u16) {
    const HALVES: [(f32, u16); 4] = [(0.0, 0), (1.0, 0x3c00), (-1.0, 0xbc00), (2.0, 0x4000)];
    HALVES[(i.wrapping_mul(2_654_435_761) >> 30) as usize]
}

/// Multiplies matrices of `size` rows and columns; returns the time of the fastest launch in nanoseconds.
async fn multiply<B: Backend>(device: &B, size: u32) -> Result<u64, Failure> {
    if size == 0 || !size.is_multiple_of(TILE) {
        return Err(format!("size {size} is no multiple of {TILE}").into());
    }
    let source = KernelSource::new(WGSL, "matmul_half", BINDINGS);
    // SAFETY: sizes are multiples of the tile and the buffers below hold size * size elements, so that the kernel accesses no other;
    // it divides by constants, and its loops end after size / 32 steps.
    let kernel = device
        .compile_kernel(&unsafe { source.without_checks() })
        .await?;
    let n = u64::from(size).pow(2);
    let halves: Vec<u8> = (0..n as u32)
        .flat_map(|i| element(i).1.to_le_bytes())
        .collect();
    let (a, b) = (
        device.allocate_memory(2 * n)?,
        device.allocate_memory(2 * n)?,
    );
    let c = device.allocate_memory(4 * n)?;
    device.upload_async(&a, 0, &halves).await?;
    device.upload_async(&b, 0, &halves).await?;
    let params = [size; 3];
    let args = [
        KernelArg::Buffer(&a),
        KernelArg::Buffer(&b),
        KernelArg::Buffer(&c),
        KernelArg::Params(&params),
    ];
    let grid = [(size / TILE).pow(2), 1, 1];
    let mut best = u64::MAX;
    for _ in 0..RUNS {
        let time = device
            .launch_kernel(&kernel, grid, &args)?
            .wait_async()
            .await?;
        best = best.min(time.ok_or("the device has no timestamps")?);
    }
    let product = device.download_async(&c, 0..4 * n).await?;
    check(size, &product)?;
    Ok(best)
}

/// Compares elements of all tiles with sums on the CPU.
fn check(size: u32, product: &[u8]) -> Result<(), Failure> {
    let (floats, _) = product.as_chunks::<4>();
    for at in (0..size * size).step_by(6_151) {
        let (row, column) = (at / size, at % size);
        let terms = (0..size).map(|k| element(row * size + k).0 * element(k * size + column).0);
        let (expected, found) = (terms.sum::<f32>(), f32::from_le_bytes(floats[at as usize]));
        if expected != found {
            return Err(format!("({row}, {column}) is {found} instead of {expected}").into());
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<u32> = match arguments.is_empty() {
        true => vec![512, 1024, 2048, 4096],
        false => arguments
            .iter()
            .map(|size| size.parse())
            .collect::<Result<_, _>>()?,
    };
    for engine in [EngineChoice::Cuda, EngineChoice::Wgpu] {
        let request = DeviceRequest {
            engine,
            ..DeviceRequest::default()
        };
        let device = match GpuDevice::open(&request) {
            Ok(device) if device.capabilities().cooperative_matrices => device,
            Ok(device) => {
                println!("{}: no cooperative matrices of 16x16 halves", device.info());
                continue;
            }
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        println!("{}", device.info());
        for &size in &sizes {
            let ns = block_on(multiply(&device, size))?;
            let tflops = 2.0 * f64::from(size).powi(3) / ns as f64 / 1e3;
            println!("{size:5}: {tflops:6.1} TFLOP/s");
        }
    }
    Ok(())
}
