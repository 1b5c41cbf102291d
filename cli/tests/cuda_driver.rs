//! CUDA drivers that cannot be used: none, one that is too old, one without a GPU. A stub of NVIDIA's library is built
//! here and put on the library path.
#![cfg(all(feature = "cuda", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::process::Command;

use common::command::{Folder, Run, run_with};

/// A driver that only reports its version.
const STAND_IN: &str = r#"
    macro_rules! calls { ($($name:ident)*) => { $(
        #[unsafe(no_mangle)] pub extern "C" fn $name() -> u32 { NOT_INITIALIZED }
    )* } }
    const NOT_INITIALIZED: u32 = 3;
    fn number(name: &str) -> u32 {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn cuDriverGetVersion(version: *mut i32) -> u32 {
        unsafe { *version = number("STAND_IN_VERSION") as i32 };
        0
    }
    #[unsafe(no_mangle)]
    pub extern "C" fn cuInit(_: u32) -> u32 { number("STAND_IN_INIT") }
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn cuDeviceGetCount(count: *mut i32) -> u32 {
        unsafe { *count = 0 };
        0
    }
    calls! {
        cuCtxPopCurrent_v2 cuCtxPushCurrent_v2 cuCtxSynchronize cuDeviceGet cuDeviceGetAttribute cuDeviceGetName cuDeviceGetPCIBusId
        cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxRetain cuEventCreate
        cuEventDestroy_v2 cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuFuncSetAttribute cuGetErrorString
        cuLaunchKernelEx cuMemAlloc_v2 cuMemFreeHost cuMemFree_v2 cuMemGetInfo_v2 cuMemHostAlloc cuMemcpyDtoDAsync_v2
        cuMemcpyDtoHAsync_v2 cuMemcpyHtoDAsync_v2 cuMemsetD8Async cuModuleGetFunction cuModuleLoadDataEx cuModuleUnload cuStreamCreate
        cuStreamDestroy_v2 cuStreamGetCtx cuStreamWaitEvent
    }
"#;

/// Builds `source` as the driver's library in `folder`.
fn build(folder: &Folder, source: &str) {
    folder.write("driver.rs", source.as_bytes());
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .current_dir(folder.root())
        .args(["--edition", "2024", "--crate-type", "cdylib", "driver.rs"])
        .args(["-A", "non_snake_case", "-o", "libcuda.so"])
        .output()
        .expect("rustc runs");
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{errors}");
}

fn run(folder: &Folder, arguments: &[&str], version: &str, init: &str) -> Run {
    let environment = [
        ("LD_LIBRARY_PATH", folder.root().to_str().unwrap()),
        ("STAND_IN_VERSION", version),
        ("STAND_IN_INIT", init),
        // Software GPUs are tested elsewhere.
        ("VK_ICD_FILENAMES", "/nowhere.json"),
        ("VK_DRIVER_FILES", "/nowhere.json"),
    ];
    run_with(folder.root(), arguments, &environment)
}

/// Asserts that `--backend cuda` fails with `words`, `devices` prints them, and `auto` works.
fn is_refused(folder: &Folder, version: &str, init: &str, words: &str) {
    folder.write("file", b"pages, pages, pages");
    let forced = ["compress", "-f", "file", "--backend", "cuda"];
    let failed = run(folder, &forced, version, init).fails(1);
    assert!(failed.errors.contains(words), "{}", failed.errors);
    let listed = run(folder, &["devices"], version, init).succeeds().text();
    assert!(listed.contains(words), "{listed}");
    let auto = ["compress", "-f", "file"];
    run(folder, &auto, version, init).succeeds();
}

#[test]
fn unusable_drivers_are_reported_with_the_reason() {
    let folder = Folder::new();
    build(&folder, STAND_IN);
    is_refused(&folder, "11040", "0", "supports CUDA 11.4, 12.0 is needed");
    is_refused(&folder, "13000", "100", "finds no NVIDIA GPU");
    is_refused(&folder, "13000", "0", "finds no NVIDIA GPU");
    is_refused(&folder, "13000", "34", "install the NVIDIA driver");
    is_refused(&folder, "13000", "999", "error 999 (CUDA_ERROR_UNKNOWN)");
    build(&folder, &STAND_IN.replace("cuStreamWaitEvent", ""));
    is_refused(&folder, "13000", "0", "has no cuStreamWaitEvent");
}
