//! The document's quick start with CUDA, which needs no GPU. `emit_ptx` is fallible because some sizes have no kernel.

#[test]
fn quick_start_with_cuda() {
    fn main() -> pagepress::Result<String> {
        use pagepress::kernels::{GemmKernel, Kernel};
        #[allow(unused_imports, reason = "as it stands there")]
        use pagepress::ptx::{PtxKernel, PtxModule, PtxType};

        // Generate optimized GEMM kernel
        let kernel = GemmKernel::tiled(1024, 1024, 1024, 32);
        let ptx = kernel.emit_ptx()?;

        // PTX can be loaded via CUDA driver API
        println!("{}", ptx);
        Ok(ptx)
    }
    let ptx = main().unwrap();
    assert!(
        ptx.contains(".visible .entry tensor_matmul("),
        "{}",
        &ptx[..500]
    );
}
