//! Kernels in CUDA C compute what references in Rust expect, on every available engine.
//!
//! `kernels` has a kernel for each construct of the subset and the classic ones, `programs` has whole files with host
//! code. Where CUDA finds no GPU its part is ignored, or fails if `PAGEPRESS_REQUIRE_CUDA` is set.
//! `PAGEPRESS_CUDA_CASE` runs one case by its name. `PAGEPRESS_WRITE_CUDA_CASES` is a file to which all cases are
//! written with their WGSL, for a browser. `agreement` compares with `nvcc` where it is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod accuracy;
#[cfg(cuda_engine)]
mod agreement;
mod arithmetic;
mod atomics;
mod case;
mod classics_discrete;
mod classics_grid;
mod classics_linear;
mod classics_lists;
mod classics_models;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod device;
mod export;
mod functions;
mod half;
mod headers;
mod inputs;
mod language;
mod long;
mod math;
#[cfg(cuda_engine)]
mod nvcc;
mod options;
mod pointers;
mod programs;
mod shared;
#[cfg(cuda_engine)]
mod sources;
mod uniform;
mod warps;

use std::collections::BTreeSet;
use std::process::ExitCode;

use pagepress::gpu::{DeviceRequest, EngineChoice};
use pagepress_test_harness::test;

use case::Case;

fn main() -> ExitCode {
    common::harness::run()
}

fn through(engine: EngineChoice) -> DeviceRequest {
    DeviceRequest {
        engine,
        allow_software: true,
        ..DeviceRequest::default()
    }
}

/// Defines a test of each theme's cases for one way to open an engine.
macro_rules! suite {
    ($name:ident, $request:expr, [$($theme:ident),* $(,)?]) => {
        mod $name {
            use pagepress_test_harness::test;
            $(
                #[test]
                fn $theme() {
                    crate::device::check(stringify!($name), &$request, crate::$theme::cases());
                }
            )*
        }
    };
}

/// Defines the suite of an engine, and the list of all cases.
macro_rules! themes {
    ($($theme:ident),* $(,)?) => {
        fn all_cases() -> Vec<Case> {
            [$($theme::cases()),*].concat()
        }

        #[cfg(feature = "wgpu")]
        suite!(wgpu, crate::through(pagepress::gpu::EngineChoice::Wgpu), [$($theme),*]);
        #[cfg(cuda_engine)]
        suite!(cuda, crate::through(pagepress::gpu::EngineChoice::Cuda), [$($theme),*]);
    };
}

themes!(
    accuracy,
    arithmetic,
    atomics,
    classics_discrete,
    classics_grid,
    classics_linear,
    classics_lists,
    classics_models,
    control,
    functions,
    half,
    headers,
    language,
    long,
    math,
    pointers,
    programs,
    shared,
    uniform,
    warps,
);

/// A file without a case would never run.
#[test]
fn every_file_has_a_case() {
    let cases = all_cases();
    for folder in ["kernels", "programs"] {
        let path = format!("{}/tests/cuda_c/{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut n_files = 0;
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let has_case = cases.iter().any(|case| case.source == text);
            assert!(has_case, "{} has no case", path.display());
            n_files += 1;
        }
        assert!(n_files >= 10, "{n_files} files in {folder}");
    }
}

#[test]
fn names_of_cases_are_unique() {
    let cases = all_cases();
    let keys: BTreeSet<_> = cases.iter().map(|case| (case.name, case.entry)).collect();
    assert_eq!(keys.len(), cases.len());
}

#[test]
fn cases_are_written_for_a_browser_if_asked() {
    if let Some(path) = std::env::var_os("PAGEPRESS_WRITE_CUDA_CASES") {
        // WebGPU has 16-bit floats on some devices only, and no 64-bit integers.
        let mut cases = all_cases();
        cases.retain(|case| !case.needs_float16() && !case.needs_int64());
        std::fs::write(path, export::json(&cases)).unwrap();
    }
}
