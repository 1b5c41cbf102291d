//! Jobs of products of 16-bit matrices on matrix units.

use super::matmul::append_sum;
use super::matmul_time::{MIN_SLICE, SLICES, time};
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

/// The kernel for GPUs whose warpgroups multiply matrices in workgroup memory.
const GROUPS: KernelInfo = super::kernel(
    "tensor_matmul_warpgroup",
    shader!("tensor_matmul_warpgroup.wgsl"),
    &[R, R, W, U],
);

static GROUPS_HALF: KernelInfo = GROUPS;

static GROUPS_BFLOAT16: KernelInfo = GROUPS.of_bfloat16();

/// Elements of the units that the kernel copies: 16 bytes.
const UNIT: u64 = 8;

/// A device, as far as the choice of a kernel depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixUnits {
    /// Number of compute units, that is, of multiprocessors.
    pub n_units: u64,
    /// Workgroup memory that a workgroup may use, in bytes.
    pub workgroup_bytes: u64,
    /// Warpgroups multiply matrices in workgroup memory.
    pub has_warpgroups: bool,
}

/// The invocations that multiply a part of a workgroup's tile together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Multipliers {
    /// Subgroups, along m and n, of these numbers of matrices of 16 by 16 elements.
    Subgroups([u64; 2], [u64; 2]),
    /// Warpgroups, along m, of 64 rows and this number of columns.
    Warpgroups(u64, u64),
}

/// Configuration of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    multipliers: Multipliers,
    /// Steps in workgroup memory at once.
    stages: u64,
    /// Length of k of a step.
    depth: u64,
    /// Speed of large products in TFLOP/s, measured on an H100.
    speed: u64,
}

/// Configurations, the fastest for large products first. The last one fits the workgroup memory of every GPU.
const FORMS: [Form; 10] = [
    Form::of_warpgroups(2, 256, 4, 650),
    Form::of_warpgroups(2, 128, 6, 560),
    Form::of_warpgroups(1, 128, 4, 445),
    Form::of_warpgroups(1, 64, 4, 355),
    Form::of_subgroups([2, 4], [4, 4], 3, 64, 370),
    Form::of_subgroups([2, 2], [4, 4], 3, 64, 302),
    Form::of_subgroups([2, 2], [2, 4], 3, 64, 181),
    Form::of_subgroups([2, 2], [2, 2], 3, 64, 146),
    Form::of_subgroups([1, 2], [2, 2], 4, 64, 108),
    Form::of_subgroups([2, 2], [4, 4], 2, 32, 250),
];

impl Form {
    const fn of_subgroups(
        subgroups: [u64; 2],
        matrices: [u64; 2],
        stages: u64,
        depth: u64,
        speed: u64,
    ) -> Self {
        Self {
            multipliers: Multipliers::Subgroups(subgroups, matrices),
            stages,
            depth,
            speed,
        }
    }

    const fn of_warpgroups(groups: u64, columns: u64, stages: u64, speed: u64) -> Self {
        Self {
            multipliers: Multipliers::Warpgroups(groups, columns),
            stages,
            depth: 64,
            speed,
        }
    }

    /// Returns rows and columns of a workgroup's tile.
    const fn tile(self) -> [u64; 2] {
        match self.multipliers {
            Multipliers::Subgroups(subgroups, matrices) => [
                16 * matrices[0] * subgroups[0],
                16 * matrices[1] * subgroups[1],
            ],
            Multipliers::Warpgroups(groups, columns) => [64 * groups, columns],
        }
    }

    /// Returns the number of bytes of workgroup memory for factors in any order.
    fn workgroup_bytes(self) -> u64 {
        let [rows, columns] = self.tile();
        let Multipliers::Subgroups(subgroups, _) = self.multipliers else {
            return 2 * self.stages * self.depth * (rows + columns);
        };
        // Rows are padded by a unit; there are most of them where k is contiguous.
        let lines = |n: u64| (n * (self.depth + UNIT)).max(self.depth * (n + UNIT));
        let edge = 1024 * subgroups[0] * subgroups[1];
        2 * self.stages * (lines(rows) + lines(columns)) + edge
    }

    fn fits(self, units: MatrixUnits) -> bool {
        let is_there = match self.multipliers {
            Multipliers::Subgroups(..) => true,
            Multipliers::Warpgroups(..) => units.has_warpgroups,
        };
        is_there && self.workgroup_bytes() <= units.workgroup_bytes
    }

    /// Returns the kernel for a 16-bit type, and its overrides.
    fn kernel(self, dtype: DType) -> (&'static KernelInfo, Vec<(&'static str, u32)>) {
        let is_bfloat16 = dtype == DType::BF16;
        let (kernel, mut overrides) = match self.multipliers {
            Multipliers::Subgroups(subgroups, matrices) => (
                if is_bfloat16 { &BFLOAT16 } else { &HALF },
                vec![
                    ("SUBGROUPS_M", subgroups[0]),
                    ("SUBGROUPS_N", subgroups[1]),
                    ("MATRICES_M", matrices[0]),
                    ("MATRICES_N", matrices[1]),
                    ("STAGES", self.stages),
                    ("TILE_K", self.depth),
                ],
            ),
            Multipliers::Warpgroups(groups, columns) => (
                if is_bfloat16 {
                    &GROUPS_BFLOAT16
                } else {
                    &GROUPS_HALF
                },
                vec![
                    ("GROUPS", groups),
                    ("TILE_N", columns),
                    ("STAGES", self.stages),
                ],
            ),
        };
        let overrides = overrides.drain(..).map(|(name, n)| (name, n as u32));
        (kernel, overrides.collect())
    }

    /// Returns the estimated time in ns of a product in slices of k.
    fn time(self, what: &Product, k_slice: u64, n_units: u64) -> u64 {
        let [rows, columns] = self.tile();
        time(what, [columns, rows], self.speed, k_slice, n_units)
    }
}

/// Returns the fastest configuration that fits a device, and the length of its slices of k.
fn choose(what: &Product, units: MatrixUnits) -> Option<(Form, u64)> {
    let fitting = FORMS.into_iter().filter(|form| form.fits(units));
    let all = fitting.flat_map(|form| {
        let lengths = SLICES.map(|slices| what.k.div_ceil(slices).next_multiple_of(form.depth));
        // The first length is that of all of k.
        let is_enough = move |&length: &u64| length >= MIN_SLICE.min(lengths[0]);
        lengths
            .into_iter()
            .filter(is_enough)
            .map(move |length| (form, length))
    });
    all.min_by_key(|(form, k_slice)| form.time(what, *k_slice, units.n_units))
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
    let Some((form, k_slice)) = choose(what, units) else {
        return Ok(None);
    };
    let n_out = what.batch * what.m * what.n;
    let slices = what.k.div_ceil(k_slice);
    let mut buffers = vec![
        (Slot::A, padded_bytes_of(dtype, what.a.n)),
        (Slot::B, padded_bytes_of(dtype, what.b.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    buffers.extend((slices > 1).then(|| (Slot::Slices, padded_bytes(slices * n_out))));
    if buffers.iter().any(|(_, n)| *n > max_binding_bytes) {
        return Ok(None);
    }
    let mut job = Job {
        buffers,
        launches: vec![launch(what, dtype, form, k_slice)],
    };
    if slices > 1 {
        let size = [what.batch, slices, what.m * what.n];
        append_sum(&mut job, size, max_binding_bytes)?;
    }
    Ok(Some(job))
}

/// Returns the launch of one product of dense matrices of halves on matrix units, by warpgroups or by subgroups; `None` where k or n
/// is no multiple of 8.
#[cfg(cuda_engine)]
pub(in crate::kernels) fn half_launch(
    m: u64,
    n: u64,
    k: u64,
    by_warpgroups: bool,
) -> Option<Launch> {
    let what = Product::dense(1, m, n, k);
    let is_taken = takes_halves(&what.a, true, k) && takes_halves(&what.b, false, k);
    let [first, .., last] = FORMS;
    let form = if by_warpgroups { first } else { last };
    is_taken.then(|| launch(&what, DType::F16, form, k.next_multiple_of(form.depth)))
}

fn launch(what: &Product, dtype: DType, form: Form, k_slice: u64) -> Launch {
    let [rows, columns] = form.tile();
    let (tiles_m, tiles_n) = (what.m.div_ceil(rows), what.n.div_ceil(columns));
    let slices = what.k.div_ceil(k_slice);
    let n_tiles = tiles_m * tiles_n * what.batch * slices;
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
        k_slice,
        slices,
        0,
        0,
    ];
    let out = if slices == 1 { Slot::Out } else { Slot::Slices };
    let args = [Slot::A, Slot::B, out].map(Arg::Buffer);
    let (kernel, mut overrides) = form.kernel(dtype);
    overrides.extend([
        ("A_BY_K", (!a.transposed).into()),
        ("B_BY_K", b.transposed.into()),
    ]);
    Launch {
        kernel,
        overrides,
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

    const A100: MatrixUnits = MatrixUnits {
        n_units: 132,
        workgroup_bytes: 227 << 10,
        has_warpgroups: false,
    };
    const H100: MatrixUnits = MatrixUnits {
        has_warpgroups: true,
        ..A100
    };

    fn dense(m: u64, n: u64, k: u64) -> Product {
        Product::dense(1, m, n, k)
    }

    /// Rows and columns of a tile, and depth of a step.
    fn tile(what: &Product, units: MatrixUnits) -> Option<[u64; 3]> {
        let (form, _) = choose(what, units)?;
        let [rows, columns] = form.tile();
        Some([rows, columns, form.depth])
    }

    #[test]
    fn large_products_have_large_tiles_where_they_fit() {
        let square = |n| dense(n, n, n);
        assert_eq!(tile(&square(8192), A100), Some([128, 256, 64]));
        assert_eq!(tile(&square(2048), A100), Some([128, 256, 64]));
        assert_eq!(tile(&square(1024), A100), Some([64, 128, 64]));
        assert_eq!(tile(&square(512), A100), Some([32, 64, 64]));
        let of = |workgroup_bytes| MatrixUnits {
            workgroup_bytes,
            ..A100
        };
        assert_eq!(tile(&square(8192), of(163 << 10)), Some([128, 128, 64]));
        assert_eq!(tile(&square(8192), of(48 << 10)), Some([128, 128, 32]));
        assert_eq!(tile(&square(8192), of(32 << 10)), None);
    }

    #[test]
    fn warpgroups_multiply_where_the_device_has_them() {
        let form = |n| choose(&dense(n, n, n), H100).unwrap().0;
        assert_eq!(form(8192), FORMS[0]);
        assert_eq!(form(2048), FORMS[0]);
        assert_eq!(form(1408).tile(), [128, 128]);
        assert_eq!(form(1024).tile(), [64, 128]);
        assert_eq!(form(512).tile(), [64, 64]);
    }

    #[test]
    fn long_sums_of_few_rows_are_split() {
        let slices = |m, k| {
            let job = matmul_half_job(&dense(m, 4096, k), DType::F16, A100, 1 << 30);
            let launches = job.unwrap().unwrap().launches;
            (choose(&dense(m, 4096, k), A100).unwrap().1, launches.len())
        };
        assert_eq!(slices(16, 4096), (2048, 2));
        assert_eq!(slices(16, 256), (256, 1));
        assert_eq!(slices(4096, 4096), (4096, 1));
    }

    #[test]
    fn a_form_counts_the_workgroup_memory_that_it_takes() {
        // The longest rows: both factors along k.
        let [.., last] = FORMS;
        assert_eq!(last.workgroup_bytes(), 45_056);
        assert!(FORMS.iter().all(|form| form.fits(H100)));
    }

    #[test]
    fn lines_start_at_units() {
        assert!(matmul_half_job(&dense(64, 64, 12), DType::F16, H100, 1 << 30).is_err());
        assert!(matmul_half_job(&dense(64, 64, 16), DType::F32, H100, 1 << 30).is_err());
        let bound = matmul_half_job(&dense(64, 64, 16), DType::BF16, H100, 1 << 10);
        assert_eq!(bound, Ok(None));
    }
}
