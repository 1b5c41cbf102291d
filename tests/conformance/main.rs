//! One suite for every engine and every way to it: the bytes are those of the CPU twin, the statuses too.
//!
//! `PAGEPRESS_CONFORMANCE_PAGES` is the number of generated pages for each page size and level (software GPUs are
//! slow); `PAGEPRESS_CORPUS` is a folder of files that are compressed too.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod corrupt;
mod pages;
mod subject;

/// The suite on one way to an engine.
macro_rules! conformance {
    ($name:ident, $request:expr, $share:expr) => {
        mod $name {
            use pagepress::gpu::*;

            use crate::subject::Subject;

            fn subject() -> Subject {
                Subject::open(stringify!($name), &$request, $share)
            }

            #[test]
            fn compressed_pages_equal_the_twins() {
                crate::pages::compressed_pages_equal_the_twins(&mut subject());
            }

            #[test]
            fn every_tail_length_equals_the_twins() {
                crate::pages::every_tail_length_equals_the_twins(&mut subject());
            }

            #[test]
            fn batches_may_be_cut_anywhere() {
                crate::pages::batches_may_be_cut_anywhere(&subject());
            }

            #[test]
            fn resident_pages_equal_the_twins() {
                crate::pages::resident_pages_equal_the_twins(&subject());
            }

            #[test]
            fn corrupt_blocks_have_the_twins_status() {
                crate::corrupt::corrupt_blocks_have_the_twins_status(&subject());
            }

            #[test]
            fn corrupt_tables_have_the_twins_status() {
                crate::corrupt::corrupt_tables_have_the_twins_status(&mut subject());
            }
        }
    };
}

use pagepress::gpu::DeviceRequest;

conformance!(wgpu, DeviceRequest::default(), 1);
conformance!(
    wgpu_default_limits,
    DeviceRequest {
        limits: LimitTier::WebGpuDefault,
        ..DeviceRequest::default()
    },
    8
);
conformance!(
    wgpu_checked,
    DeviceRequest {
        runtime_checks: RuntimeChecks::Always,
        ..DeviceRequest::default()
    },
    8
);
conformance!(
    wgpu_without_passthrough,
    DeviceRequest {
        spirv_passthrough: SpirvPassthrough::Never,
        ..DeviceRequest::default()
    },
    8
);

#[test]
fn corpora_equal_the_twins() {
    corpus::corpora_equal_the_twins(&mut subject::Subject::open(
        "wgpu",
        &DeviceRequest::default(),
        1,
    ));
}
