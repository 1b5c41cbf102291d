//! Any text compiles or is refused as CUDA C; what compiles is written as WGSL.
#![no_main]

use cuda_c::{CudaOptions, compile_cuda, kernels};

libfuzzer_sys::fuzz_target!(|source: &str| {
    let Ok(found) = kernels(source, &[]) else {
        return;
    };
    for kernel in found.iter().take(2) {
        let entry = match kernel.template.len() {
            0 => kernel.name.clone(),
            _ => format!("{}<float>", kernel.name),
        };
        for subgroups in [false, true] {
            let options = CudaOptions::new(&entry)
                .block([32, 2, 1])
                .shared_bytes(256)
                .narrow_f64(true)
                .subgroups(subgroups);
            match compile_cuda(source, &options) {
                Ok(compiled) => drop(compiled.wgsl().expect("what compiles is written")),
                Err(error) => assert!(!error.message.contains("defect"), "{error}"),
            }
        }
    }
});
