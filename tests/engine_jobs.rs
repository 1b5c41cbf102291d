//! Jobs of the kernel table, launched by hand: variants of the kernels that the engine would not choose here.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;
#[path = "common/jobs.rs"]
mod jobs;

use common::pages::mixed;
use pagepress::Error;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, EngineChoice, GpuDevice, KernelSource};
use pagepress::internals::Job;
use pagepress::internals::lz4::{compress_job, decompress_job};
use pagepress::internals::{Limits, Registers};
use pagepress::kernels::{ComputeUnits, Slot};
use pagepress::lz4::{Level, compress_pages};

/// Limits of a device whose compute units have enough workgroup memory to stage small pages in it.
const ROOMY: Limits = Limits {
    compute_units: Some(ComputeUnits {
        n: 2,
        workgroup_bytes: 228 << 10,
    }),
    ..Limits::WEBGPU
};

/// Runs a compression and returns the packed blocks.
async fn run(device: &GpuDevice, job: &Job, pages: &[u8]) -> Vec<u8> {
    let buffers = jobs::buffers_of(device, job);
    let mut words = pages.to_vec();
    words.resize(pages.len().next_multiple_of(4), 0xa5);
    device
        .upload_async(&buffers[&Slot::Pages], 0, &words)
        .await
        .unwrap();
    for launch in &job.launches {
        let source = KernelSource::of(launch.kernel, &[]);
        jobs::run(device, source, launch, &buffers).await;
    }
    let sums = device
        .download_async(&buffers[&Slot::Places], 0..4)
        .await
        .unwrap();
    let n_words = u32::from_le_bytes([sums[0], sums[1], sums[2], sums[3]]);
    device
        .download_async(&buffers[&Slot::Packed], 0..4 * u64::from(n_words))
        .await
        .unwrap()
}

#[test]
fn pages_copied_to_workgroup_memory_give_the_same_blocks() {
    let device = common::engine::open(EngineChoice::Wgpu);
    // One size and level only: software GPUs need a minute to compile the kernel.
    let (page_size, level) = (4096, Level::Fast);
    let pages = mixed(60 * 4096 - 124, 1);
    let job = compress_job(pages.len() as u64, page_size, level, ROOMY, 0).expect("sizes of a job");
    let parse = job.launches.iter().find(|l| l.kernel.name == "lz4_parse");
    let overrides = &parse.expect("pages are parsed").overrides;
    assert!(overrides.iter().any(|(name, _)| *name == "STAGED_WORDS"));
    let expected = compress_pages(&pages, page_size, level).unwrap().packed;
    let found = block_on(run(&device, &job, &pages));
    assert!(found.starts_with(&expected));
}

#[test]
fn level_high_with_pages_in_workgroup_memory_gives_the_same_blocks() {
    let device = common::engine::open(EngineChoice::Wgpu);
    let (page_size, level) = (4096, Level::High);
    let limits = [Registers::Usual, Registers::Fewest].map(|registers| Limits {
        workgroup_bytes: 32 << 10,
        registers,
        ..ROOMY
    });
    // Words of several kinds, one bucket for most positions, one byte only, and last pages with and without searchable positions.
    let mut kinds = vec![mixed(40 * page_size as usize, 3)];
    kinds.push(b"abababac".repeat(1500));
    kinds.push((0..9000u32).map(|i| (i % 255 / 254) as u8).collect());
    for tail in [1, 12, 13, 255, 256, 1023, 1035, 1036, 1100, 4095] {
        kinds.push(mixed(page_size as usize + tail, tail as u64));
    }
    for pages in kinds {
        let n_bytes = pages.len() as u64;
        let expected = compress_pages(&pages, page_size, level).unwrap().packed;
        for limits in limits {
            let job = compress_job(n_bytes, page_size, level, limits, 0).expect("sizes of a job");
            let staging = job.launches.iter().flat_map(|launch| &launch.overrides);
            assert_eq!(staging.filter(|one| **one == ("STAGES", 1)).count(), 2);
            let found = block_on(run(&device, &job, &pages));
            assert!(
                found.starts_with(&expected),
                "{n_bytes} {:?}",
                limits.registers
            );
        }
    }
}

#[test]
fn workgroups_of_subgroups_of_64_give_the_same_blocks() {
    let device = common::engine::open(EngineChoice::Wgpu);
    let limits = Limits {
        subgroup: 64,
        ..Limits::WEBGPU
    };
    for (page_size, level) in [
        (4096, Level::Fast),
        (4096, Level::High),
        (16_384, Level::High),
    ] {
        let pages = mixed(70 * page_size as usize - 124, 1);
        let job = compress_job(pages.len() as u64, page_size, level, limits, 0).expect("a job");
        let widths = job.launches.iter().flat_map(|launch| &launch.overrides);
        assert!(widths.into_iter().any(|one| *one == ("WIDTH", 64)));
        let expected = compress_pages(&pages, page_size, level).unwrap().packed;
        let found = block_on(run(&device, &job, &pages));
        assert!(found.starts_with(&expected), "{page_size} {level:?}");
    }
}

#[test]
fn sizes_that_no_job_has_are_refused() {
    let refused = |page_size, n_bytes| {
        let compress = compress_job(n_bytes, page_size, Level::Fast, Limits::WEBGPU, 0);
        for outcome in [
            compress,
            decompress_job(n_bytes, page_size, 100, Limits::WEBGPU, 0),
        ] {
            let error = outcome.expect_err("no job has these sizes");
            assert!(matches!(error, Error::InvalidArgument { .. }), "{error}");
        }
    };
    for page_size in [0, 1, 4095, 4097, 5000, 1 << 17, u32::MAX] {
        refused(page_size, 40_960);
    }
    for n_bytes in [0, (1 << 32) + 4096, 4096 * ((1 << 20) + 1), u64::MAX] {
        refused(4096, n_bytes);
    }
    for packed_bytes in [0, 1 << 34, u64::MAX] {
        decompress_job(40_960, 4096, packed_bytes, Limits::WEBGPU, 0)
            .expect_err("the kernel counts words in 32 bits");
    }
}
