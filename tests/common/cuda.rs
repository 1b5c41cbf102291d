//! Whether there is CUDA to test.

/// Whether CUDA finds a GPU. Without one this says so, and fails if `PAGEPRESS_REQUIRE_CUDA` is set.
pub fn cuda_is_there() -> bool {
    match pagepress::gpu::cuda::list() {
        Ok(_) => true,
        Err(error) => {
            let required = std::env::var_os("PAGEPRESS_REQUIRE_CUDA").is_some();
            assert!(!required, "PAGEPRESS_REQUIRE_CUDA is set: {error}");
            eprintln!("not tested: {error}");
            false
        }
    }
}
