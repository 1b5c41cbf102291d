//! Kernels of cooperative matrices on GPUs without them, software ones too: matrices are emulated in plain WGSL.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;
#[path = "common/emulated.rs"]
mod emulated;
#[path = "common/jobs.rs"]
mod jobs;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, EngineChoice, GpuDevice, KernelSource};
use pagepress::internals::Job;
use pagepress::internals::tensor::{Matrix, MatrixUnits, Product, matmul_half_job};
use pagepress::kernels::Slot;
use pagepress::tensor::{DType, Epilogue};

/// A GPU without asynchronous copies, with as little workgroup memory as the kernel needs: software GPUs have 32 KiB.
const UNITS: MatrixUnits = MatrixUnits {
    n_units: 2,
    workgroup_bytes: 28 << 10,
    has_warpgroups: false,
    copies_asynchronously: false,
};

/// Subgroups of the configuration for that GPU.
const N_SUBGROUPS: u32 = 4;

/// Returns a small whole number, and the bits of its half.
fn element(place: u64, seed: u32) -> (f32, u16) {
    const HALVES: [(f32, u16); 4] = [(0.0, 0), (1.0, 0x3c00), (-1.0, 0xbc00), (2.0, 0x4000)];
    let mixed = (place as u32 ^ seed).wrapping_mul(2_654_435_761);
    HALVES[(mixed >> 30) as usize]
}

fn halves(n: u64, seed: u32) -> Vec<u8> {
    (0..n)
        .flat_map(|place| element(place, seed).1.to_le_bytes())
        .collect()
}

/// Returns the place in memory of an element of a dense matrix.
fn place(matrix: &Matrix, row: u64, column: u64) -> u64 {
    match matrix.transposed {
        true => column * matrix.pitch + row,
        false => row * matrix.pitch + column,
    }
}

/// Runs a job of one launch, whose kernel has cooperative matrices; returns the result.
async fn run(device: &GpuDevice, job: &Job, what: &Product) -> Vec<f32> {
    let buffers = jobs::buffers_of(device, job);
    for (slot, matrix, seed) in [(Slot::A, &what.a, 1), (Slot::B, &what.b, 2)] {
        let bytes = halves(matrix.n, seed);
        let upload = device.upload_async(&buffers[&slot], 0, &bytes);
        upload.await.unwrap();
    }
    let [launch] = &job.launches[..] else {
        panic!("{} launches", job.launches.len());
    };
    let info = launch.kernel;
    let text = emulated::without_cooperative_matrices(info.wgsl, info.name, N_SUBGROUPS);
    let source = KernelSource::new(&text, info.name, info.bindings);
    jobs::run(device, source, launch, &buffers).await;
    let n_bytes = 4 * what.batch * what.m * what.n;
    let result = device.download_async(&buffers[&Slot::Out], 0..n_bytes);
    let result = result.await.unwrap();
    let (floats, _) = result.as_chunks::<4>();
    floats
        .iter()
        .map(|&bits| f32::from_le_bytes(bits))
        .collect()
}

#[test]
fn halves_are_multiplied_steps_ahead() {
    let device = common::engine::open(EngineChoice::Wgpu);
    if !device.capabilities().float16 {
        println!("skipped: kernels of {} have no halves", device.info());
        return;
    }
    // Tiles inside of the result and at its edges, and edges along all axes, where rows of the result do not begin at vectors.
    let whole_k = ([200, 136, 192], [false, false]);
    let cut = ([72, 75, 40], [true, true]);
    for ([m, n, k], transposed) in [whole_k, cut] {
        let [a, b] = [([m, k], transposed[0]), ([k, n], transposed[1])].map(
            |([rows, columns], transposed)| Matrix {
                transposed,
                pitch: if transposed { rows } else { columns },
                ..Matrix::dense(rows, columns, rows * columns)
            },
        );
        let what = Product {
            batch: 1,
            m,
            n,
            k,
            a,
            b,
        };
        let job = matmul_half_job(&what, DType::F16, Epilogue::default(), UNITS, 1 << 27);
        let job = job.unwrap().expect("the device multiplies halves");
        let found = block_on(run(&device, &job, &what));
        for row in 0..m {
            for column in 0..n {
                let terms = (0..k).map(|at| {
                    element(place(&what.a, row, at), 1).0 * element(place(&what.b, at, column), 2).0
                });
                let (expected, found): (f32, _) = (terms.sum(), found[(row * n + column) as usize]);
                assert_eq!(
                    found, expected,
                    "{transposed:?} [{row}, {column}] of {what:?}"
                );
            }
        }
    }
}
