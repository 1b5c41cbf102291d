//! Jobs of products of 16-bit matrices on matrix units.

use super::{Matrix, Product, R, U, W, grid, padded_bytes, padded_bytes_of};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::ops::DType;
use crate::{Error, Result};

/// The kernel. Only CUDA runs it: the compiler of NVIDIA's driver for Vulkan spills its registers.
const KERNEL: KernelInfo = super::kernel(
    "tensor_matmul_half",
    shader!("tensor_matmul_half.wgsl"),
    &[R, R, W, U],
);

static HALF: KernelInfo = KERNEL;

/// The same for matrices of bfloat16, which the matrix units multiply instead of halves.
static BFLOAT16: KernelInfo = KERNEL.of_bfloat16();

/// Elements of the units that the kernel copies: 16 bytes.
const UNIT: u64 = 8;

/// A device, as far as the choice of a kernel depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixUnits {
    /// Number of compute units, that is, of multiprocessors.
    pub n_units: u64,
    /// Workgroup memory that a workgroup may use, in bytes.
    pub workgroup_bytes: u64,
}

/// Configuration of a workgroup, whose subgroups compute 64 rows and columns each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    subgroups: [u64; 2],
    /// Steps in workgroup memory at once.
    stages: u64,
    /// Length of k of a step.
    depth: u64,
    /// Speed of large products in TFLOP/s, measured on an H100.
    speed: u64,
}

/// Configurations, the fastest for large products first.
const FORMS: [Form; 3] = [
    Form {
        subgroups: [2, 4],
        stages: 3,
        depth: 64,
        speed: 354,
    },
    Form {
        subgroups: [2, 2],
        stages: 3,
        depth: 64,
        speed: 334,
    },
    Form {
        subgroups: [2, 2],
        stages: 2,
        depth: 32,
        speed: 283,
    },
];

impl Form {
    const fn tile(self) -> [u64; 2] {
        [64 * self.subgroups[0], 64 * self.subgroups[1]]
    }

    /// Returns the number of bytes of workgroup memory for factors in any order.
    fn workgroup_bytes(self) -> u64 {
        let [rows, columns] = self.tile();
        // Rows are padded by a unit; there are most of them where k is contiguous.
        let lines = |n: u64| (n * (self.depth + UNIT)).max(self.depth * (n + UNIT));
        let edge = 1024 * self.subgroups[0] * self.subgroups[1];
        2 * self.stages * (lines(rows) + lines(columns)) + edge
    }

    /// Returns the time of a product, in units of no meaning.
    fn time(self, what: &Product, n_units: u64) -> u64 {
        let [rows, columns] = self.tile();
        let n_tiles = what.batch * what.m.div_ceil(rows) * what.n.div_ceil(columns);
        let turns = n_tiles.div_ceil(n_units.max(1));
        turns.saturating_mul(rows * columns * 1000) / self.speed
    }
}

/// Returns true if the kernel can read a factor: its contiguous lines start at multiples of 16 bytes, and those along k
/// end there.
#[must_use]
pub const fn takes_halves(matrix: &Matrix, is_along_k: bool, k: u64) -> bool {
    matrix.offset.is_multiple_of(UNIT)
        && matrix.pitch.is_multiple_of(UNIT)
        && matrix.batch.is_multiple_of(UNIT)
        && (!is_along_k || k.is_multiple_of(UNIT))
}

/// Returns the launch that computes [`Slot::Out`], `[batch, m, n]` of `f32`, from `A` and `B` of the 16-bit type
/// `dtype`, on matrix units; `None` if a buffer exceeds a binding or the device has too little workgroup memory.
///
/// # Errors
/// [`Error::InvalidArgument`] for a length of 0, for matrices that exceed their buffers, and for factors that
/// [`takes_halves`] refuses.
pub fn matmul_half_job(
    what: &Product,
    dtype: DType,
    units: MatrixUnits,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    what.check()?;
    let is_taken = takes_halves(&what.a, !what.a.transposed, what.k)
        && takes_halves(&what.b, what.b.transposed, what.k);
    if !is_taken || dtype == DType::F32 {
        return Err(Error::InvalidArgument {
            name: "product",
            value: format!("{what:?} of {dtype:?}"),
            expected: "16-bit elements in lines that start at multiples of 8",
        });
    }
    let n_out = what.batch * what.m * what.n;
    let buffers = vec![
        (Slot::A, padded_bytes_of(dtype, what.a.n)),
        (Slot::B, padded_bytes_of(dtype, what.b.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    let fitting = FORMS
        .into_iter()
        .filter(|form| form.workgroup_bytes() <= units.workgroup_bytes);
    let form = fitting.min_by_key(|form| form.time(what, units.n_units));
    let is_bound = buffers.iter().all(|(_, n)| *n <= max_binding_bytes);
    Ok(form.filter(|_| is_bound).map(|form| Job {
        buffers,
        launches: vec![launch(what, dtype, form)],
    }))
}

/// Returns the launch of one product of dense matrices of halves on matrix units; `None` where k or n is no multiple of
/// 8.
#[cfg(cuda_engine)]
pub(in crate::kernels) fn half_launch(m: u64, n: u64, k: u64) -> Option<Launch> {
    let what = Product {
        batch: 1,
        m,
        n,
        k,
        a: Matrix::dense(m, k, m * k),
        b: Matrix::dense(k, n, k * n),
    };
    let is_taken = takes_halves(&what.a, true, k) && takes_halves(&what.b, false, k);
    // The form that fits the workgroup memory of every GPU.
    is_taken.then(|| launch(&what, DType::F16, FORMS[2]))
}

fn launch(what: &Product, dtype: DType, form: Form) -> Launch {
    let [rows, columns] = form.tile();
    let (tiles_m, tiles_n) = (what.m.div_ceil(rows), what.n.div_ceil(columns));
    let n_tiles = tiles_m * tiles_n * what.batch;
    let (a, b) = (&what.a, &what.b);
    let words = [
        what.m,
        what.n,
        what.k,
        tiles_m,
        tiles_n,
        n_tiles,
        a.offset / UNIT,
        b.offset / UNIT,
        a.pitch / UNIT,
        b.pitch / UNIT,
        a.batch / UNIT,
        b.batch / UNIT,
    ];
    let args = [Slot::A, Slot::B, Slot::Out].map(Arg::Buffer);
    Launch {
        kernel: match dtype {
            DType::BF16 => &BFLOAT16,
            _ => &HALF,
        },
        overrides: vec![
            ("SUBGROUPS_M", form.subgroups[0] as u32),
            ("SUBGROUPS_N", form.subgroups[1] as u32),
            ("STAGES", form.stages as u32),
            ("TILE_K", form.depth as u32),
            ("A_BY_K", (!a.transposed).into()),
            ("B_BY_K", b.transposed.into()),
        ],
        grid: grid(n_tiles),
        args: args
            .into_iter()
            .chain([Arg::Params(words.map(|n| n as u32).to_vec())])
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H100: MatrixUnits = MatrixUnits {
        n_units: 132,
        workgroup_bytes: 227 << 10,
    };

    fn dense(m: u64, n: u64, k: u64) -> Product {
        Product {
            batch: 1,
            m,
            n,
            k,
            a: Matrix::dense(m, k, m * k),
            b: Matrix::dense(k, n, k * n),
        }
    }

    fn tile(what: &Product, units: MatrixUnits) -> Option<(u32, u32)> {
        let job = matmul_half_job(what, DType::F16, units, 1 << 30).ok()??;
        let overrides = &job.launches.first()?.overrides;
        Some((overrides[1].1, overrides[3].1))
    }

    #[test]
    fn large_products_have_large_tiles_where_they_fit() {
        assert_eq!(tile(&dense(8192, 8192, 8192), H100), Some((4, 64)));
        assert_eq!(tile(&dense(1024, 1024, 1024), H100), Some((2, 64)));
        let of = |workgroup_bytes| MatrixUnits {
            workgroup_bytes,
            ..H100
        };
        let large = dense(8192, 8192, 8192);
        assert_eq!(tile(&large, of(163 << 10)), Some((2, 64)));
        assert_eq!(tile(&large, of(48 << 10)), Some((2, 32)));
        assert_eq!(tile(&large, of(32 << 10)), None);
    }

    #[test]
    fn a_form_counts_the_workgroup_memory_that_it_takes() {
        // The longest rows: both factors along k.
        assert_eq!(FORMS[2].workgroup_bytes(), 45_056);
        assert!(FORMS[0].workgroup_bytes() <= 227 << 10);
    }

    #[test]
    fn lines_start_at_units() {
        assert!(matmul_half_job(&dense(64, 64, 12), DType::F16, H100, 1 << 30).is_err());
        assert!(matmul_half_job(&dense(64, 64, 16), DType::F32, H100, 1 << 30).is_err());
        let bound = matmul_half_job(&dense(64, 64, 16), DType::BF16, H100, 1 << 10);
        assert_eq!(bound, Ok(None));
    }
}
