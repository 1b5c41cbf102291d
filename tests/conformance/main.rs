//! One suite for every engine and every way to open it: bytes and statuses equal those of the CPU twin.
//!
//! `PAGEPRESS_CONFORMANCE_PAGES` is the number of generated pages for each page size and level (software GPUs are
//! slow). With `PAGEPRESS_FEW_CALLS` calls are tested with two page sizes at level fast, and kernels still with all sizes and
//! levels. `PAGEPRESS_CORPUS` is a folder of files that are compressed too. Where CUDA finds no GPU its part is ignored,
//! or fails if `PAGEPRESS_REQUIRE_CUDA` is set.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod corrupt;
mod crossed;
mod dictionary;
mod dictionary_calls;
mod dictionary_edges;
mod foreign;
mod guarded;
mod mutated;
mod pages;
mod subject;

use std::process::ExitCode;

use pagepress_test_harness::test;

fn main() -> ExitCode {
    let outcome = common::harness::run();
    common::devices::close();
    outcome
}

/// Defines the suite for one way to open an engine.
macro_rules! conformance {
    ($name:ident, $request:expr, $share:expr) => {
        mod $name {
            use pagepress::gpu::*;
            use pagepress_test_harness::test;

            use crate::subject::Subject;

            fn subject() -> [Subject; 1] {
                Subject::open(stringify!($name), &$request, $share)
            }

            #[test]
            fn compressed_pages_equal_the_twins() {
                subject()
                    .iter_mut()
                    .for_each(crate::pages::compressed_pages_equal_the_twins);
            }

            #[test]
            fn every_tail_length_equals_the_twins() {
                subject()
                    .iter_mut()
                    .for_each(crate::pages::every_tail_length_equals_the_twins);
            }

            #[test]
            fn short_pages_of_few_words_equal_the_twins() {
                subject()
                    .iter_mut()
                    .for_each(crate::pages::short_pages_of_few_words_equal_the_twins);
            }

            #[test]
            fn batches_may_be_cut_anywhere() {
                subject()
                    .iter()
                    .for_each(crate::pages::batches_may_be_cut_anywhere);
            }

            #[test]
            fn pinned_pages_equal_the_twins() {
                subject()
                    .iter()
                    .for_each(crate::pages::pinned_pages_equal_the_twins);
            }

            #[test]
            fn resident_pages_equal_the_twins() {
                subject()
                    .iter()
                    .for_each(crate::pages::resident_pages_equal_the_twins);
            }

            #[test]
            fn corrupt_blocks_have_the_twins_status() {
                subject()
                    .iter()
                    .for_each(crate::corrupt::corrupt_blocks_have_the_twins_status);
            }

            #[test]
            fn corrupt_tables_have_the_twins_status() {
                subject()
                    .iter_mut()
                    .for_each(crate::corrupt::corrupt_tables_have_the_twins_status);
            }

            #[test]
            fn foreign_blocks_are_decompressed() {
                subject()
                    .iter()
                    .for_each(crate::foreign::foreign_blocks_are_decompressed);
            }

            #[test]
            fn matches_reach_into_a_dictionary() {
                subject()
                    .iter()
                    .for_each(crate::dictionary::matches_reach_into_a_dictionary);
            }

            #[test]
            fn pages_are_compressed_with_a_dictionary() {
                subject()
                    .iter()
                    .for_each(crate::dictionary::pages_are_compressed_with_a_dictionary);
            }

            #[test]
            fn pages_at_the_edges_of_a_dictionary() {
                subject()
                    .iter()
                    .for_each(crate::dictionary_edges::pages_at_the_edges_of_a_dictionary);
            }

            #[test]
            fn calls_with_a_dictionary_equal_the_twins() {
                subject()
                    .iter()
                    .for_each(crate::dictionary_calls::calls_with_a_dictionary_equal_the_twins);
            }

            #[test]
            fn mutated_pages_have_the_twins_status() {
                subject()
                    .iter()
                    .for_each(crate::mutated::mutated_pages_have_the_twins_status);
            }

            #[test]
            fn every_call_writes_what_others_read() {
                subject()
                    .iter_mut()
                    .for_each(crate::crossed::every_call_writes_what_others_read);
            }

            #[test]
            fn blocks_and_frames_of_liblz4_are_read() {
                subject()
                    .iter_mut()
                    .for_each(crate::crossed::blocks_and_frames_of_liblz4_are_read);
            }
        }
    };
}

use pagepress::gpu::{DeviceRequest, EngineChoice};

fn through(engine: EngineChoice) -> DeviceRequest {
    DeviceRequest {
        engine,
        ..DeviceRequest::default()
    }
}

#[cfg(feature = "wgpu")]
conformance!(wgpu, crate::through(EngineChoice::Wgpu), 1);
#[cfg(feature = "wgpu")]
conformance!(
    wgpu_default_limits,
    DeviceRequest {
        limits: LimitTier::WebGpuDefault,
        ..crate::through(EngineChoice::Wgpu)
    },
    8
);
#[cfg(feature = "wgpu")]
conformance!(
    wgpu_lowest_limits,
    DeviceRequest {
        limits: LimitTier::Lowest,
        ..crate::through(EngineChoice::Wgpu)
    },
    8
);
#[cfg(feature = "wgpu")]
conformance!(
    wgpu_fewest_registers,
    DeviceRequest {
        limits: LimitTier::FewestRegisters,
        ..crate::through(EngineChoice::Wgpu)
    },
    8
);
#[cfg(feature = "wgpu")]
conformance!(
    wgpu_checked,
    DeviceRequest {
        runtime_checks: RuntimeChecks::Always,
        ..crate::through(EngineChoice::Wgpu)
    },
    8
);
#[cfg(feature = "wgpu")]
conformance!(
    wgpu_without_passthrough,
    DeviceRequest {
        spirv_passthrough: SpirvPassthrough::Never,
        ..crate::through(EngineChoice::Wgpu)
    },
    8
);
#[cfg(feature = "wgpu")]
conformance!(
    wgpu_with_staging,
    DeviceRequest {
        shared_memory: SharedMemory::Never,
        ..crate::through(EngineChoice::Wgpu)
    },
    8
);
#[cfg(cuda_engine)]
conformance!(cuda, crate::through(EngineChoice::Cuda), 1);
#[cfg(cuda_engine)]
conformance!(
    cuda_default_limits,
    DeviceRequest {
        limits: LimitTier::WebGpuDefault,
        ..crate::through(EngineChoice::Cuda)
    },
    8
);
#[cfg(cuda_engine)]
conformance!(
    cuda_lowest_limits,
    DeviceRequest {
        limits: LimitTier::Lowest,
        ..crate::through(EngineChoice::Cuda)
    },
    8
);
#[cfg(cuda_engine)]
conformance!(
    cuda_checked,
    DeviceRequest {
        runtime_checks: RuntimeChecks::Always,
        ..crate::through(EngineChoice::Cuda)
    },
    8
);

/// Runs the same calls on the CPU, and on a codec that uses a GPU only if it is measured to be faster.
#[test]
fn every_call_of_the_cpu_writes_what_others_read() {
    crossed::every_call_of_the_cpu_writes_what_others_read();
}

#[cfg(feature = "wgpu")]
#[test]
fn corpora_equal_the_twins_through_wgpu() {
    let [mut subject] = subject::Subject::open("wgpu", &through(EngineChoice::Wgpu), 1);
    corpus::corpora_equal_the_twins(&mut subject);
}

#[cfg(cuda_engine)]
#[test]
fn corpora_equal_the_twins_through_cuda() {
    let [mut subject] = subject::Subject::open("cuda", &through(EngineChoice::Cuda), 1);
    corpus::corpora_equal_the_twins(&mut subject);
}
