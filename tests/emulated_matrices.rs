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
use pagepress::internals::tensor::{
    AttentionSize, Heads, Matrix, MatrixUnits, Product, attention_half_job, matmul_half_job,
};
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

/// Runs a job of one launch, whose kernel has cooperative matrices, with `n` halves in each of the slots; returns the result, `n_out`
/// numbers.
async fn run(device: &GpuDevice, job: &Job, given: &[(Slot, u64)], n_out: u64) -> Vec<f32> {
    let buffers = jobs::buffers_of(device, job);
    for (&(slot, n), seed) in given.iter().zip(1..) {
        let bytes = halves(n, seed);
        let upload = device.upload_async(&buffers[&slot], 0, &bytes);
        upload.await.unwrap();
    }
    let [launch] = &job.launches[..] else {
        panic!("{} launches", job.launches.len());
    };
    let info = launch.kernel;
    // Software GPUs have smaller subgroups. Without a vote, sums are scaled in each step.
    let wgsl = info.wgsl.replace("subgroupAny(any(", "(true || any(");
    let text = emulated::without_cooperative_matrices(&wgsl, info.name, N_SUBGROUPS);
    let source = KernelSource::new(&text, info.name, info.bindings);
    jobs::run(device, source, launch, &buffers).await;
    let n_bytes = 4 * n_out;
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
        let found = block_on(run(&device, &job, &[(Slot::A, a.n), (Slot::B, b.n)], m * n));
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

/// Returns attention of one batch as the CPU computes it in double precision: `[n_q, heads, dim]`.
fn attention(what: &AttentionSize) -> Vec<f64> {
    let dim = what.dim as usize;
    let row = |place: u64, seed| -> Vec<f64> {
        let elements =
            (0..what.dim).map(|column| element(what.dim * place + column, seed).0.into());
        elements.collect()
    };
    let mut out = Vec::new();
    for query in 0..what.n_q {
        for head in 0..what.heads {
            let key_head = head * what.key_heads / what.heads;
            let q = row(head * what.n_q + query, 1);
            let end = what.n_k - if what.causal { what.n_q - 1 - query } else { 0 };
            let begin = what.window.map_or(0, |window| end.saturating_sub(window));
            let mut total = 0.0;
            let mut sums = vec![0.0; dim];
            for key in begin..end {
                let k = row(key_head * what.n_k + key, 2);
                let score: f64 = q.iter().zip(&k).map(|(x, y)| x * y).sum();
                let weight = (f64::from(what.scale) * score).exp();
                total += weight;
                let v = row(key_head * what.n_k + key, 3);
                sums.iter_mut()
                    .zip(v)
                    .for_each(|(sum, v)| *sum += weight * v);
            }
            out.extend(sums.iter().map(|sum| sum / total));
        }
    }
    out
}

#[test]
fn attention_of_halves_without_asynchronous_copies() {
    let device = common::engine::open(EngineChoice::Wgpu);
    if !device.capabilities().float16 || !device.capabilities().subgroups {
        println!("skipped: {} has no halves or no subgroups", device.info());
        return;
    }
    // One configuration, since lavapipe compiles it for half a minute: rows and keys that fill no workgroup and no step, heads that share
    // keys, and columns that are not staged.
    let (heads, key_heads, n_q, n_k, dim) = (2, 1, 75, 150, 40);
    let what = AttentionSize {
        batch: 1,
        heads,
        key_heads,
        n_q,
        n_k,
        dim,
        causal: true,
        window: Some(50),
        scale: 0.25,
    };
    let place = |n_heads: u64, rows: u64| Heads {
        offset: 0,
        batch: n_heads * rows * dim,
        head: rows * dim,
        row: dim,
        n: n_heads * rows * dim,
    };
    let keys = place(key_heads, n_k);
    let places = [place(heads, n_q), keys, keys];
    let types = [DType::F16, DType::F32];
    let job = attention_half_job(&what, types, places, UNITS, 1 << 27);
    let job = job.unwrap().expect("the device multiplies halves");
    let slots = [Slot::A, Slot::B, Slot::Values];
    let given: Vec<_> = slots.into_iter().zip(places.map(|place| place.n)).collect();
    let found = block_on(run(&device, &job, &given, heads * n_q * dim));
    for (place, (found, expected)) in found.into_iter().zip(attention(&what)).enumerate() {
        let off = (f64::from(found) - expected).abs();
        assert!(off < 2e-3, "{place} of {what:?}: {found}, {expected}");
    }
}
