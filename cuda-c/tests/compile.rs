//! Every kernel of `tests/in` compiles to valid IR, to WGSL that naga reads back, and to PTX.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a fault is a panic"
)]

use cuda_c::{CudaOptions, compile_cuda, kernels};

/// Returns the instantiation that tests compile of a kernel.
fn entry(name: &str, template: &[String]) -> String {
    if template.is_empty() {
        name.to_owned()
    } else {
        format!("{name}<float>")
    }
}

fn check(file: &str, source: &str, options: &CudaOptions<'_>) {
    let name = options.entry;
    let compiled = match compile_cuda(source, options) {
        Ok(compiled) => compiled,
        Err(error) => panic!("{file}: {name}: {error}"),
    };
    let wgsl = compiled.wgsl().unwrap();
    if std::env::var_os("PAGEPRESS_SHOW").is_some() {
        println!("// {file}: {name}\n{wgsl}");
    }
    assert!(
        wgsl.contains(&format!("fn {}(", compiled.entry)),
        "{file}: {name} is not {}\n{wgsl}",
        compiled.entry
    );
    let text = if options.subgroups {
        wgsl.replace("enable subgroups;", "")
    } else {
        wgsl.clone()
    };
    if let Err(error) = naga::front::wgsl::parse_str(&text) {
        panic!("{file}: {name}: {}", error.emit_to_string(&text));
    }
    let mut ptx = wgsl_ptx::PtxOptions::new(&compiled.entry);
    ptx.clear_workgroup = false;
    if let Err(error) = wgsl_ptx::compile_wgsl(&wgsl, &ptx) {
        panic!("{file}: {name}: {error}\n{wgsl}");
    }
}

#[test]
fn kernels_compile_to_every_language() {
    let mut n_kernels = 0;
    for path in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/in")).unwrap() {
        let path = path.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        for kernel in kernels(&source, &[]).unwrap() {
            let entry = entry(&kernel.name, &kernel.template);
            for subgroups in [false, true] {
                let block = if kernel.name == "matmul" {
                    [16, 16, 1]
                } else {
                    [64, 1, 1]
                };
                let options = CudaOptions::new(&entry)
                    .block(block)
                    .shared_bytes(1024)
                    .subgroups(subgroups);
                check(&file, &source, &options);
                n_kernels += 1;
            }
        }
    }
    assert!(n_kernels >= 16, "{n_kernels}");
}
