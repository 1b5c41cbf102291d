//! Names the engines of this build for `cfg`, since a feature alone does not say it: `cuda` means nothing on wasm32.
//! For wasm32 it also takes out of the shaders what only readers need.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let has = |name: &str| env::var_os(name).is_some();
    let wasm = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    let cuda = has("CARGO_FEATURE_CUDA") && !wasm;
    let web = has("CARGO_FEATURE__WEB") && wasm;
    let wgpu = has("CARGO_FEATURE_WGPU");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(cuda_engine)");
    println!("cargo::rustc-check-cfg=cfg(gpu_engine)");
    println!("cargo::rustc-check-cfg=cfg(web)");
    println!("cargo::rustc-check-cfg=cfg(web_engine)");
    println!("cargo::rustc-check-cfg=cfg(web_files)");
    println!("cargo::rustc-check-cfg=cfg(web_module)");
    println!("cargo::rustc-check-cfg=cfg(web_pages)");
    println!("cargo::rustc-check-cfg=cfg(web_tensor)");
    println!("cargo::rustc-check-cfg=cfg(lz4_only)");
    println!("cargo::rustc-check-cfg=cfg(pagepress_forced_instructions)");
    if cuda {
        println!("cargo::rustc-cfg=cuda_engine");
    }
    if cuda || wgpu {
        println!("cargo::rustc-cfg=gpu_engine");
    }
    // wgpu in a browser.
    if wasm && wgpu {
        println!("cargo::rustc-cfg=web_engine");
    }
    // The surfaces for JavaScript: any, and those that other parts of the crate have something for.
    if web {
        println!("cargo::rustc-cfg=web");
    }
    for (feature, name) in [
        ("CARGO_FEATURE_WEB_FILES", "web_files"),
        ("CARGO_FEATURE_WEB_GPU", "web_pages"),
        ("CARGO_FEATURE_WEB_TENSOR", "web_tensor"),
    ] {
        if web && has(feature) {
            println!("cargo::rustc-cfg={name}");
        }
    }
    // Those that drive a GPU.
    if web && (has("CARGO_FEATURE_WEB_GPU") || has("CARGO_FEATURE_WEB_TENSOR")) {
        println!("cargo::rustc-cfg=web_module");
    }
    // Modules of the package without a GPU.
    if web && !wgpu {
        println!("cargo::rustc-cfg=lz4_only");
    }
    if wasm {
        strip_shaders()?;
    }
    Ok(())
}

/// Writes the shaders to `OUT_DIR` without comments, indentation and the spaces beside punctuation: what a page loads.
fn strip_shaders() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    println!("cargo::rerun-if-changed=shaders");
    for entry in fs::read_dir("shaders")? {
        let path = entry?.path();
        let (Some(name), Some("wgsl")) =
            (path.file_name(), path.extension().and_then(|e| e.to_str()))
        else {
            continue;
        };
        fs::write(
            Path::new(&out).join(name),
            strip(&fs::read_to_string(&path)?),
        )?;
    }
    Ok(())
}

/// Lines stay lines, since a line comment is all that WGSL has in these files that ends with one.
fn strip(wgsl: &str) -> String {
    let mut out = String::new();
    for line in wgsl.lines() {
        let code = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        let mut code = words.join(" ");
        for mark in [",", ";", ":", "(", ")", "{", "}"] {
            code = code
                .replace(&format!(" {mark}"), mark)
                .replace(&format!("{mark} "), mark);
        }
        if !code.is_empty() {
            out.push_str(&code);
            out.push('\n');
        }
    }
    out
}
