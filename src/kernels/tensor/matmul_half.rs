//! Jobs of products of 16-bit matrices on matrix units.

use super::matmul_staged::{Form, MatrixUnits, Staged, staged_job};
use super::{Product, R, U, W};
use crate::kernels::{Job, KernelInfo};
use crate::ops::{DType, Epilogue};
use crate::{Error, Result};

/// The kernel for engines whose copies to workgroup memory run asynchronously: CUDA. The compiler of NVIDIA's driver for Vulkan spills its registers.
const KERNEL: KernelInfo = super::kernel(
    "tensor_matmul_half",
    shader!("tensor_matmul_half.wgsl"),
    &[R, R, W, U],
);

/// The kernel for GPUs whose warpgroups multiply matrices in workgroup memory.
const GROUPS: KernelInfo = super::kernel(
    "tensor_matmul_warpgroup",
    shader!("tensor_matmul_warpgroup.wgsl"),
    &[R, R, W, U],
);

/// The kernel for other engines.
const AHEAD: KernelInfo = super::kernel(
    "tensor_matmul_half_ahead",
    shader!("tensor_matmul_half_ahead.wgsl"),
    &[R, R, W, U],
);

/// The kernels with an epilogue.
const FUSED: KernelInfo = super::kernel(
    "tensor_matmul_half",
    shader!("tensor_matmul_half.fused.wgsl"),
    &[R, R, W, U, R, R],
);
const FUSED_GROUPS: KernelInfo = super::kernel(
    "tensor_matmul_warpgroup",
    shader!("tensor_matmul_warpgroup.fused.wgsl"),
    &[R, R, W, U, R, R],
);

static HALF: KernelInfo = KERNEL;
static HALF_GROUPS: KernelInfo = GROUPS;
static HALF_AHEAD: KernelInfo = AHEAD;
static HALF_FUSED: [KernelInfo; 2] = [FUSED, FUSED_GROUPS];

/// The same for matrices of bfloat16, which the matrix units multiply instead of halves.
static BFLOAT16: KernelInfo = KERNEL.of_bfloat16();
static BFLOAT16_GROUPS: KernelInfo = GROUPS.of_bfloat16();
static BFLOAT16_AHEAD: KernelInfo = AHEAD.of_bfloat16();
static BFLOAT16_FUSED: [KernelInfo; 2] = [FUSED.of_bfloat16(), FUSED_GROUPS.of_bfloat16()];

/// Configurations, the fastest for large products first. The last one fits the workgroup memory of every GPU.
const FORMS: [Form; 10] = [
    Form::of_warpgroups([2, 256], 4, 64, 650),
    Form::of_warpgroups([2, 128], 6, 64, 560),
    Form::of_warpgroups([1, 128], 4, 64, 445),
    Form::of_warpgroups([1, 64], 4, 64, 355),
    Form::new([2, 4], [4, 4], 3, 64, 370),
    Form::new([2, 2], [4, 4], 3, 64, 302),
    Form::new([2, 2], [2, 4], 3, 64, 181),
    Form::new([2, 2], [2, 2], 3, 64, 146),
    Form::new([1, 2], [2, 2], 4, 64, 108),
    Form::new([2, 2], [4, 4], 2, 32, 250),
];

/// Configurations without asynchronous copies, with speeds on an H200 through Vulkan.
const AHEAD_FORMS: [Form; 2] = [Form::ahead([2, 4], 300), Form::ahead([2, 2], 170)];

/// Returns the kernel of a 16-bit type for engines without asynchronous copies.
const fn ahead(dtype: DType) -> Staged {
    Staged {
        kernel: match dtype {
            DType::BF16 => &BFLOAT16_AHEAD,
            _ => &HALF_AHEAD,
        },
        of_warpgroups: None,
        fused: None,
        rounds_first: false,
        dtype,
        unit: 4,
        pads: [8; 2],
        forms: &AHEAD_FORMS,
    }
}

/// Returns the kernels of a 16-bit type for engines with asynchronous copies.
const fn staged(dtype: DType) -> Staged {
    let (kernel, groups, fused) = match dtype {
        DType::BF16 => (&BFLOAT16, &BFLOAT16_GROUPS, &BFLOAT16_FUSED),
        _ => (&HALF, &HALF_GROUPS, &HALF_FUSED),
    };
    Staged {
        kernel,
        of_warpgroups: Some(groups),
        fused: Some([&fused[0], &fused[1]]),
        rounds_first: false,
        dtype,
        unit: 8,
        pads: [8; 2],
        forms: &FORMS,
    }
}

/// Returns the launch that computes [`Slot::Out`](crate::kernels::Slot::Out), `[batch, m, n]` of `f32`, from `A` and `B` of the 16-bit type
/// `dtype`, with an epilogue, on matrix units; `None` if a buffer exceeds a binding, and if the device has too little workgroup memory.
///
/// # Errors
/// [`Error::InvalidArgument`] for a length of 0, for matrices that exceed their buffers, and for factors that the kernel
/// cannot read in units of 16 bytes.
pub fn matmul_half_job(
    what: &Product,
    dtype: DType,
    epilogue: Epilogue<()>,
    units: MatrixUnits,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    if dtype == DType::F32 || !staged(dtype).takes(what) {
        return Err(Error::InvalidArgument {
            name: "product",
            value: format!("{what:?} of {dtype:?}"),
            expected: "16-bit elements in lines that start at multiples of 8",
        });
    }
    staged_job(
        what,
        kernels(dtype, units),
        epilogue,
        units,
        max_binding_bytes,
    )
}

/// Returns true if a device has a configuration for products of a 16-bit type.
#[must_use]
pub fn multiplies_halves(dtype: DType, units: MatrixUnits) -> bool {
    let kernels = kernels(dtype, units);
    kernels.forms.iter().any(|form| form.fits(kernels, units))
}

/// Returns the kernels of a 16-bit type for a device.
const fn kernels(dtype: DType, units: MatrixUnits) -> Staged {
    if units.copies_asynchronously {
        staged(dtype)
    } else {
        ahead(dtype)
    }
}

/// Returns the launch of one product of dense matrices of halves on matrix units, by warpgroups or by subgroups; `None` where k or n
/// is no multiple of 8.
#[cfg(cuda_engine)]
pub(in crate::kernels) fn half_launch(
    m: u64,
    n: u64,
    k: u64,
    by_warpgroups: bool,
) -> Option<crate::kernels::Launch> {
    super::matmul_staged::staged_launch(staged(DType::F16), m, n, k, by_warpgroups)
}

#[cfg(test)]
mod tests {
    use super::super::matmul_staged::choose;
    use super::*;

    const HALVES: Staged = staged(DType::F16);
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

    /// Returns rows and columns of a tile, and depth of a step, of the product of square matrices.
    fn tile(n: u64, units: MatrixUnits) -> Option<[u64; 3]> {
        let (form, _) = choose(HALVES, &dense(n, n, n), units)?;
        let [rows, columns] = form.tile();
        Some([rows, columns, form.depth])
    }

    /// A GPU through Vulkan.
    const VULKAN: MatrixUnits = MatrixUnits {
        workgroup_bytes: 48 << 10,
        copies_asynchronously: false,
        ..A100
    };

    /// Returns the value of an override of a job's first launch.
    fn override_of(job: &Job, name: &str) -> Option<u32> {
        let mut overrides = job.launches[0].overrides.iter();
        overrides.find(|(own, _)| *own == name).map(|&(_, n)| n)
    }

    #[test]
    fn without_asynchronous_copies_halves_have_a_kernel_of_their_own() {
        let job = |what: &Product, dtype, epilogue| {
            matmul_half_job(what, dtype, epilogue, VULKAN, 1 << 30).unwrap()
        };
        let none = Epilogue::default();
        let whole = job(&dense(4096, 4096, 4096), DType::F16, none).unwrap();
        assert_eq!(whole.launches.len(), 1);
        assert_eq!(whole.launches[0].kernel.name, "tensor_matmul_half_ahead");
        assert_eq!(override_of(&whole, "WHOLE"), Some(1));
        for (size, is_whole) in [
            ([4097, 4096, 4096], 1),
            ([4096, 4104, 4096], 1),
            ([4096, 4096, 4072], 0),
        ] {
            let [m, n, k] = size;
            let cut = job(&dense(m, n, k), DType::F16, none).unwrap();
            assert_eq!(override_of(&cut, "WHOLE"), Some(is_whole), "{size:?}");
        }
        // An epilogue takes a launch of its own.
        let bias = Epilogue {
            bias: Some(()),
            ..none
        };
        let finished = job(&dense(4096, 4096, 4096), DType::F16, bias).unwrap();
        assert_eq!(finished.launches.len(), 2);
        let of_bfloat16 = job(&dense(4096, 4096, 4096), DType::BF16, none).unwrap();
        assert!(of_bfloat16.launches[0].kernel.is_of_bfloat16());
        assert!(!whole.launches[0].kernel.is_of_bfloat16());
        assert!(multiplies_halves(DType::F16, VULKAN) && multiplies_halves(DType::BF16, VULKAN));
        let least = MatrixUnits {
            workgroup_bytes: 8 << 10,
            ..VULKAN
        };
        assert!(!multiplies_halves(DType::F16, least));
    }

    #[test]
    fn large_products_have_large_tiles_where_they_fit() {
        assert_eq!(tile(8192, A100), Some([128, 256, 64]));
        assert_eq!(tile(2048, A100), Some([128, 256, 64]));
        assert_eq!(tile(1024, A100), Some([64, 128, 64]));
        assert_eq!(tile(512, A100), Some([32, 64, 64]));
        let of = |workgroup_bytes| MatrixUnits {
            workgroup_bytes,
            ..A100
        };
        assert_eq!(tile(8192, of(163 << 10)), Some([128, 128, 64]));
        assert_eq!(tile(8192, of(48 << 10)), Some([128, 128, 32]));
        assert_eq!(tile(8192, of(32 << 10)), None);
    }

    #[test]
    fn warpgroups_multiply_where_the_device_has_them() {
        let form = |n| choose(HALVES, &dense(n, n, n), H100).unwrap().0;
        assert_eq!(form(8192), FORMS[0]);
        assert_eq!(form(2048), FORMS[0]);
        assert_eq!(form(1408), FORMS[1]);
        assert_eq!(form(1024), FORMS[2]);
        assert_eq!(form(512), FORMS[3]);
    }

    #[test]
    fn a_form_counts_the_workgroup_memory_that_it_takes() {
        // The longest rows: both factors along k.
        let [.., last] = FORMS;
        assert_eq!(last.workgroup_bytes(HALVES), 45_056);
        assert_eq!(FORMS[0].workgroup_bytes(HALVES), 192 << 10);
        assert!(FORMS.iter().all(|form| form.fits(HALVES, H100)));
    }

    #[test]
    fn long_sums_of_few_rows_are_split() {
        let slices = |m, k| {
            let job = matmul_half_job(
                &dense(m, 4096, k),
                DType::F16,
                Epilogue::default(),
                A100,
                1 << 30,
            );
            let launches = job.unwrap().unwrap().launches;
            let (_, length) = choose(HALVES, &dense(m, 4096, k), A100).unwrap();
            (length, launches.len())
        };
        assert_eq!(slices(16, 4096), (2048, 2));
        assert_eq!(slices(16, 256), (256, 1));
        assert_eq!(slices(4096, 4096), (4096, 1));
    }

    #[test]
    fn lines_start_at_units() {
        assert!(
            matmul_half_job(
                &dense(64, 64, 12),
                DType::F16,
                Epilogue::default(),
                H100,
                1 << 30
            )
            .is_err()
        );
        assert!(
            matmul_half_job(
                &dense(64, 64, 16),
                DType::F32,
                Epilogue::default(),
                H100,
                1 << 30
            )
            .is_err()
        );
        let bound = matmul_half_job(
            &dense(64, 64, 16),
            DType::BF16,
            Epilogue::default(),
            H100,
            1 << 10,
        );
        assert_eq!(bound, Ok(None));
    }
}
