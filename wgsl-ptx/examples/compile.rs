//! Compiles an entry point of a WGSL file and prints its PTX. Needs no GPU:
//!
//! ```sh
//! cargo run --package wgsl-ptx --example compile FILE.wgsl [ENTRY]
//! ```

use std::error::Error;

use wgsl_ptx::naga::ShaderStage;
use wgsl_ptx::{CompiledPtx, PtxOptions, compile_wgsl, front};

/// Compiles the entry point `entry` of a file, or its first `@compute` function.
fn compile(path: &str, entry: Option<String>) -> Result<CompiledPtx, Box<dyn Error>> {
    let wgsl = std::fs::read_to_string(path)?;
    let (module, _) = front::read(&wgsl)?;
    let mut entries = module.entry_points.into_iter();
    let first = entries.find(|entry| entry.stage == ShaderStage::Compute);
    let entry = entry
        .or(first.map(|entry| entry.name))
        .ok_or("the file has no @compute function")?;
    Ok(compile_wgsl(&wgsl, &PtxOptions::new(&entry))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: compile FILE.wgsl [ENTRY]")?;
    let ptx = compile(&path, arguments.next())?;
    eprintln!(
        "{}: {:?} invocations a workgroup, {} bytes of workgroup memory, {:?}",
        ptx.entry, ptx.workgroup_size, ptx.shared_bytes, ptx.params
    );
    print!("{}", ptx.text);
    Ok(())
}
