//! Every compute entry point of a folder of WGSL compiles, or the error has a reason and a position. `PAGEPRESS_WGSL`
//! names the folder, such as naga's test inputs; by default, the shaders of the crate are compiled. The counts are
//! printed.
#![cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../wgsl-ptx/tests/common/ptxas.rs"]
mod ptxas;

use std::path::PathBuf;

use pagepress::ptx::{Error, PtxOptions, compile_wgsl};

fn sources() -> Vec<PathBuf> {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/shaders").into();
    let folder = std::env::var_os("PAGEPRESS_WGSL").unwrap_or_else(own);
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut wgsl: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == "wgsl"))
        .collect();
    wgsl.sort();
    wgsl
}

/// Words of errors that concern the whole kernel and have no position.
const WITHOUT_PLACE: [&str; 2] = ["override", "bytes of parameters"];

#[test]
fn every_compute_shader_compiles_or_says_why_and_where() {
    let ptxas = ptxas::ptxas();
    let (mut n_compiled, mut n_refused, mut wrong) = (0, 0, Vec::new());
    for path in sources() {
        let wgsl = std::fs::read_to_string(&path).unwrap();
        let Ok(module) = naga::front::wgsl::parse_str(&wgsl) else {
            println!("{}: no WGSL for naga", path.display());
            continue;
        };
        let compute = module
            .entry_points
            .iter()
            .filter(|entry| entry.stage == naga::ShaderStage::Compute);
        for entry in compute {
            let name = format!("{} {}", path.file_stem().unwrap().display(), entry.name);
            let options = PtxOptions {
                sm: 90,
                ..PtxOptions::new(&entry.name)
            };
            match compile_wgsl(&wgsl, &options) {
                Ok(compiled) => {
                    n_compiled += 1;
                    let assembled = ptxas
                        .as_ref()
                        .map(|ptxas| ptxas::assemble(ptxas, &name, &compiled.text));
                    if let Some(Err(error)) = assembled {
                        wrong.push(format!("{name} does not assemble: {error}"));
                    }
                }
                Err(Error::KernelCompile { message, .. }) => {
                    n_refused += 1;
                    println!("{name}: {message}");
                    let has_place = message.starts_with(|c: char| c.is_ascii_digit());
                    if !has_place && !WITHOUT_PLACE.iter().any(|part| message.contains(part)) {
                        wrong.push(format!("{name}: where? {message}"));
                    }
                }
                Err(other) => wrong.push(format!("{name}: {other}")),
            }
        }
    }
    println!("{n_compiled} entry points compiled, {n_refused} refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_compiled > 0);
}
