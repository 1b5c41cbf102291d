//! The kernels of matrix products and their like as PTX, for the sizes asked for; no GPU is needed.
//!
//! `cargo run --features cuda --example gemm_kernel`

use pagepress::kernels::{
    Arg, AttentionKernel, GemmKernel, Kernel, LayerNormKernel, QuantizedGemmKernel, SoftmaxKernel,
};
use pagepress::tensor::Quantization;

fn main() -> pagepress::Result<()> {
    let kernels: [(&str, Box<dyn Kernel>); 8] = [
        (
            "naive product",
            Box::new(GemmKernel::naive(1024, 1024, 1024)),
        ),
        (
            "product by tiles of 32",
            Box::new(GemmKernel::tiled(1024, 1024, 1024, 32)),
        ),
        (
            "product by tiles of 128",
            Box::new(GemmKernel::tiled(1024, 1024, 1024, 128)),
        ),
        (
            "product with weights of 4 bits",
            Box::new(QuantizedGemmKernel::new(Quantization::Q4K, 32, 4096, 4096)),
        ),
        ("softmax", Box::new(SoftmaxKernel::new(1024, 1000))),
        ("layer norm", Box::new(LayerNormKernel::new(1024, 768))),
        (
            "attention",
            Box::new(AttentionKernel::flash(2048, 64).with_heads(8, 8).causal()),
        ),
        (
            "product by tiles of 7",
            Box::new(GemmKernel::tiled(1024, 1024, 1024, 7)),
        ),
    ];
    for (what, kernel) in &kernels {
        let compiled = match kernel.compile(80) {
            Ok(compiled) => compiled,
            Err(error) => {
                println!("{what}: {error}\n");
                continue;
            }
        };
        let launch = kernel.launch()?;
        println!("{what}: {}", compiled.entry);
        println!("  {} lines of PTX", compiled.text.lines().count());
        println!(
            "  grid {:?}, block {:?}",
            launch.grid, compiled.workgroup_size
        );
        println!("  {} bytes of shared memory", compiled.shared_bytes);
        for arg in &launch.args {
            match arg {
                Arg::Params(words) => println!("  by value: {words:?}"),
                Arg::Buffer(slot) | Arg::Slice(slot, _) => {
                    println!("  address and bytes of {slot:?}");
                }
            }
        }
        println!();
    }
    let ptx = GemmKernel::tiled(1024, 1024, 1024, 32).emit_ptx()?;
    let head: Vec<&str> = ptx.lines().take(24).collect();
    println!("{}\n…", head.join("\n"));
    Ok(())
}
