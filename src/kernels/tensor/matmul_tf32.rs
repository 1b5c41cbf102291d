//! Jobs of products of f32 matrices on matrix units, which round the factors to TF32.

use super::matmul_rounded::round_first;
use super::matmul_staged::{Form, MatrixUnits, Staged, choose, job_of};
use super::{Product, R, U, W};
use crate::kernels::{Job, KernelInfo};
use crate::ops::{DType, Epilogue};
use crate::{Error, Result};

/// The kernel. WGSL for other engines has no TF32.
static TF32: KernelInfo = super::kernel(
    "tensor_matmul_tf32",
    shader!("tensor_matmul_tf32.wgsl"),
    &[R, R, W, U],
)
.of_tf32();

/// The kernel with an epilogue.
static FUSED: KernelInfo = super::kernel(
    "tensor_matmul_tf32",
    shader!("tensor_matmul_tf32.fused.wgsl"),
    &[R, R, W, U, R, R],
)
.of_tf32();

/// The kernels for GPUs whose warpgroups multiply matrices in workgroup memory. They multiply rounded copies of the factors.
static GROUPS: KernelInfo = super::kernel(
    "tensor_matmul_tf32_warpgroup",
    shader!("tensor_matmul_tf32_warpgroup.wgsl"),
    &[R, R, W, U],
)
.of_tf32();
static FUSED_GROUPS: KernelInfo = super::kernel(
    "tensor_matmul_tf32_warpgroup",
    shader!("tensor_matmul_tf32_warpgroup.fused.wgsl"),
    &[R, R, W, U, R, R],
)
.of_tf32();

const STAGED: Staged = Staged {
    kernel: &TF32,
    of_warpgroups: Some(&GROUPS),
    fused: Some([&FUSED, &FUSED_GROUPS]),
    rounds_first: true,
    dtype: DType::F32,
    unit: 4,
    pads: [4, 8],
    forms: &FORMS,
};

/// Configurations, the fastest for large products first. The last one fits the workgroup memory of every GPU.
const FORMS: [Form; 7] = [
    Form::of_warpgroups([2, 256], 4, 32, 350),
    Form::of_warpgroups([2, 128], 6, 32, 304),
    Form::new([2, 2], [4, 4], 3, 32, 164),
    Form::new([2, 2], [2, 4], 3, 32, 128),
    Form::new([2, 2], [2, 2], 3, 32, 97),
    Form::new([1, 2], [2, 2], 4, 32, 75),
    Form::new([1, 2], [4, 4], 3, 16, 50),
];

/// Returns the launch that computes [`Slot::Out`](crate::kernels::Slot::Out), `[batch, m, n]`, from `A` and `B`, all of `f32`, with an
/// epilogue, on matrix units, which round the factors to TF32; `None` if a buffer exceeds a binding or the device has too little
/// workgroup memory.
///
/// # Errors
/// [`Error::InvalidArgument`] for a length of 0, for matrices that exceed their buffers, and for factors whose contiguous
/// lines do not start at multiples of four elements.
pub fn matmul_tf32_job(
    what: &Product,
    epilogue: Epilogue<()>,
    units: MatrixUnits,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    if !STAGED.takes(what) {
        return Err(Error::InvalidArgument {
            name: "product",
            value: format!("{what:?}"),
            expected: "lines that start at multiples of 4",
        });
    }
    what.check()?;
    for has_warpgroups in [true, false] {
        let units = MatrixUnits {
            has_warpgroups: has_warpgroups && units.has_warpgroups,
            ..units
        };
        let job = match choose(STAGED, what, units) {
            Some((form, k_slice)) if form.is_of_warpgroups() => {
                round_first(what, max_binding_bytes, |rounded| {
                    job_of(
                        rounded,
                        STAGED,
                        (form, k_slice),
                        epilogue,
                        max_binding_bytes,
                    )
                })?
            }
            Some(form) => job_of(what, STAGED, form, epilogue, max_binding_bytes)?,
            None => None,
        };
        // Copies may exceed a binding where the factors do not.
        if job.is_some() {
            return Ok(job);
        }
    }
    Ok(None)
}

/// Returns the launch of one product of dense matrices on matrix units; `None` where k or n is no multiple of 4.
#[cfg(cuda_engine)]
pub(in crate::kernels) fn tf32_launch(m: u64, n: u64, k: u64) -> Option<crate::kernels::Launch> {
    super::matmul_staged::staged_launch(STAGED, m, n, k, false)
}

#[cfg(test)]
mod tests {
    use super::super::Matrix;
    use super::*;

    const A100: MatrixUnits = MatrixUnits {
        n_units: 132,
        workgroup_bytes: 227 << 10,
        has_warpgroups: false,
        copies_asynchronously: true,
    };
    const H100: MatrixUnits = MatrixUnits {
        has_warpgroups: true,
        ..A100
    };

    fn dense(m: u64, n: u64, k: u64) -> Product {
        Product::dense(1, m, n, k)
    }

    /// Rows and columns of a tile, and depth of a step.
    fn tile(what: &Product, workgroup_bytes: u64) -> Option<[u64; 3]> {
        let units = MatrixUnits {
            workgroup_bytes,
            ..A100
        };
        let (form, k_slice) = choose(STAGED, what, units)?;
        let [rows, columns] = form.tile();
        Some([rows, columns, k_slice])
    }

    #[test]
    fn large_products_have_large_tiles_where_they_fit() {
        let large = dense(8192, 8192, 8192);
        assert_eq!(tile(&large, 227 << 10), Some([128, 128, 8192]));
        assert_eq!(tile(&large, 163 << 10), Some([128, 128, 8192]));
        assert_eq!(tile(&large, 100 << 10), Some([64, 128, 8192]));
        assert_eq!(tile(&large, 48 << 10), Some([64, 128, 8192]));
        assert_eq!(tile(&large, 32 << 10), None);
        let small = dense(512, 512, 512);
        assert_eq!(tile(&small, 227 << 10), Some([32, 64, 512]));
    }

    #[test]
    fn lines_start_at_units() {
        assert!(matmul_tf32_job(&dense(64, 64, 6), Epilogue::default(), H100, 1 << 30).is_err());
        assert!(matmul_tf32_job(&dense(64, 66, 8), Epilogue::default(), H100, 1 << 30).is_err());
        let bound = matmul_tf32_job(&dense(64, 64, 16), Epilogue::default(), H100, 1 << 10);
        assert_eq!(bound, Ok(None));
        let sliced = matmul_tf32_job(&dense(16, 512, 4096), Epilogue::default(), A100, 1 << 30);
        assert_eq!(sliced.unwrap().unwrap().launches.len(), 2);
    }

    #[test]
    fn warpgroups_multiply_large_products_in_rounded_copies() {
        let names = |n, max_binding_bytes| {
            let job = matmul_tf32_job(
                &dense(n, n, n),
                Epilogue::default(),
                H100,
                max_binding_bytes,
            );
            let launches = job.unwrap().unwrap().launches;
            let names = launches.iter().map(|launch| launch.kernel.name);
            names.collect::<Vec<_>>()
        };
        let rounded = [
            "tensor_round_tf32",
            "tensor_round_tf32",
            "tensor_matmul_tf32_warpgroup",
        ];
        assert_eq!(names(4096, 1 << 30), rounded);
        assert_eq!(names(512, 1 << 30), ["tensor_matmul_tf32"]);
    }

    #[test]
    fn products_whose_copies_exceed_a_binding_are_multiplied_without() {
        let mut what = dense(8192, 2048, 2049);
        what.a = Matrix {
            transposed: true,
            pitch: 8192,
            ..what.a
        };
        // Lines of 2,049 terms have 2,052 in a copy.
        let (factor, copy) = (4 * 8192 * 2049, 4 * 8192 * 2052);
        let n_launches = |max_binding_bytes| {
            let job = matmul_tf32_job(&what, Epilogue::default(), H100, max_binding_bytes);
            job.unwrap().map(|job| job.launches.len())
        };
        assert_eq!(n_launches(copy), Some(3));
        assert_eq!(n_launches(copy - 4), Some(1));
        assert_eq!(n_launches(factor), Some(1));
        assert_eq!(n_launches(factor - 4), None);
    }
}
