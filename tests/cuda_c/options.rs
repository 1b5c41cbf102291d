//! How the front end compiles a case.

use cuda_c::CudaOptions;

use crate::case::Case;

/// Options of the front end for a case.
pub fn options(case: &Case) -> CudaOptions<'_> {
    let mut options = CudaOptions::new(case.entry);
    options.block = case.block;
    options.shared_bytes = case.shared_bytes;
    options.defines = &case.defines;
    options.narrow_f64 = case.narrow_f64;
    options.float16 = case.needs_float16();
    options.int64 = case.needs_int64();
    options
}
