//! Names the engines of this build for `cfg`, since a feature alone does not say it: `cuda` means nothing on wasm32.

fn main() {
    let has = |name: &str| std::env::var_os(name).is_some();
    let wasm = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    let cuda = has("CARGO_FEATURE_CUDA") && !wasm;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(cuda_engine)");
    println!("cargo::rustc-check-cfg=cfg(gpu_engine)");
    if cuda {
        println!("cargo::rustc-cfg=cuda_engine");
    }
    if cuda || has("CARGO_FEATURE_WGPU") {
        println!("cargo::rustc-cfg=gpu_engine");
    }
}
