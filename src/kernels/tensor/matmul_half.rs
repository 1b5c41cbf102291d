//! Jobs of products of 16-bit matrices on matrix units, and what `matmul_tf32` has in common with them.

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

/// A kernel that stages tiles of its factors in workgroup memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Staged {
    pub(super) kernel: &'static KernelInfo,
    /// Type of the elements of both factors.
    pub(super) dtype: DType,
    /// Elements by which rows of tiles are padded, where these are along k and where they are not.
    pub(super) pads: [u64; 2],
    /// Configurations, the fastest for large products first. The last one fits the workgroup memory of every GPU.
    pub(super) forms: &'static [Form],
}

impl Staged {
    const fn of_halves(dtype: DType) -> Self {
        Self {
            kernel: match dtype {
                DType::BF16 => &BFLOAT16,
                _ => &HALF,
            },
            dtype,
            pads: [8; 2],
            forms: &FORMS,
        }
    }

    /// Returns true if the kernel can read both factors of a product.
    pub(super) const fn takes(self, what: &Product) -> bool {
        let unit = unit(self.dtype);
        takes_units(&what.a, !what.a.transposed, what.k, unit)
            && takes_units(&what.b, what.b.transposed, what.k, unit)
    }
}

/// Returns the number of elements of the units that a kernel copies: 16 bytes.
pub(super) const fn unit(dtype: DType) -> u64 {
    4 * dtype.per_word()
}

/// A device, as far as the choice of a kernel depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixUnits {
    /// Number of compute units, that is, of multiprocessors.
    pub n_units: u64,
    /// Workgroup memory that a workgroup may use, in bytes.
    pub workgroup_bytes: u64,
}

/// Configuration of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// Subgroups along m and n.
    subgroups: [u64; 2],
    /// Matrices of 16 by 16 elements of a subgroup.
    matrices: [u64; 2],
    /// Steps in workgroup memory at once.
    stages: u64,
    /// Length of k of a step.
    depth: u64,
    /// Speed of large products in TFLOP/s, measured on an H100.
    speed: u64,
}

const FORMS: [Form; 6] = [
    Form::new([2, 4], [4, 4], 3, 64, 370),
    Form::new([2, 2], [4, 4], 3, 64, 302),
    Form::new([2, 2], [2, 4], 3, 64, 181),
    Form::new([2, 2], [2, 2], 3, 64, 146),
    Form::new([1, 2], [2, 2], 4, 64, 108),
    Form::new([2, 2], [4, 4], 2, 32, 250),
];

impl Form {
    pub(super) const fn new(
        subgroups: [u64; 2],
        matrices: [u64; 2],
        stages: u64,
        depth: u64,
        speed: u64,
    ) -> Self {
        Self {
            subgroups,
            matrices,
            stages,
            depth,
            speed,
        }
    }

    pub(super) const fn tile(self) -> [u64; 2] {
        [
            16 * self.matrices[0] * self.subgroups[0],
            16 * self.matrices[1] * self.subgroups[1],
        ]
    }

    /// Returns the number of bytes of workgroup memory for factors in any order.
    fn workgroup_bytes(self, staged: Staged) -> u64 {
        let [rows, columns] = self.tile();
        let [along_k, across_k] = staged.pads;
        let lines = |n: u64| (n * (self.depth + along_k)).max(self.depth * (n + across_k));
        let edge = 1024 * self.subgroups[0] * self.subgroups[1];
        4 / staged.dtype.per_word() * self.stages * (lines(rows) + lines(columns)) + edge
    }

    /// Returns the estimated time in ns of a product in slices of k.
    fn time(self, what: &Product, k_slice: u64, n_units: u64) -> u64 {
        let [rows, columns] = self.tile();
        time(what, [columns, rows], self.speed, k_slice, n_units)
    }
}

/// Returns the fastest configuration that fits a device, and the length of its slices of k.
pub(super) fn choose(staged: Staged, what: &Product, units: MatrixUnits) -> Option<(Form, u64)> {
    let forms = staged.forms.iter().copied();
    let fitting = forms.filter(|form| form.workgroup_bytes(staged) <= units.workgroup_bytes);
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

/// Returns true if a kernel can read a factor in units of this number of elements: its contiguous lines start at multiples of
/// 16 bytes, and those along k end there.
#[must_use]
pub const fn takes_units(matrix: &Matrix, is_along_k: bool, k: u64, unit: u64) -> bool {
    matrix.offset.is_multiple_of(unit)
        && matrix.pitch.is_multiple_of(unit)
        && matrix.batch.is_multiple_of(unit)
        && (!is_along_k || k.is_multiple_of(unit))
}

/// Returns the launch that computes [`Slot::Out`], `[batch, m, n]` of `f32`, from `A` and `B` of the 16-bit type
/// `dtype`, on matrix units; `None` if a buffer exceeds a binding or the device has too little workgroup memory.
///
/// # Errors
/// [`Error::InvalidArgument`] for a length of 0, for matrices that exceed their buffers, and for factors that the kernel
/// cannot read in units of 16 bytes.
pub fn matmul_half_job(
    what: &Product,
    dtype: DType,
    units: MatrixUnits,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    let staged = Staged::of_halves(dtype);
    if dtype == DType::F32 || !staged.takes(what) {
        return Err(Error::InvalidArgument {
            name: "product",
            value: format!("{what:?} of {dtype:?}"),
            expected: "16-bit elements in lines that start at multiples of 8",
        });
    }
    staged_job(what, staged, units, max_binding_bytes)
}

/// Returns the job of a product that the kernel [takes](Staged::takes).
pub(super) fn staged_job(
    what: &Product,
    staged: Staged,
    units: MatrixUnits,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    what.check()?;
    let Some((form, k_slice)) = choose(staged, what, units) else {
        return Ok(None);
    };
    let n_out = what.batch * what.m * what.n;
    let slices = what.k.div_ceil(k_slice);
    let mut buffers = vec![
        (Slot::A, padded_bytes_of(staged.dtype, what.a.n)),
        (Slot::B, padded_bytes_of(staged.dtype, what.b.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    buffers.extend((slices > 1).then(|| (Slot::Slices, padded_bytes(slices * n_out))));
    if buffers.iter().any(|(_, n)| *n > max_binding_bytes) {
        return Ok(None);
    }
    let mut job = Job {
        buffers,
        launches: vec![launch(what, staged, form, k_slice)],
    };
    if slices > 1 {
        let size = [what.batch, slices, what.m * what.n];
        append_sum(&mut job, size, max_binding_bytes)?;
    }
    Ok(Some(job))
}

/// Returns the launch of one product of dense matrices of halves on matrix units; `None` where k or n is no multiple of
/// 8.
#[cfg(cuda_engine)]
pub(in crate::kernels) fn half_launch(m: u64, n: u64, k: u64) -> Option<Launch> {
    staged_launch(Staged::of_halves(DType::F16), m, n, k)
}

/// Returns the launch of one product of dense matrices in the last configuration of a kernel; `None` where it cannot read them.
#[cfg(cuda_engine)]
pub(super) fn staged_launch(staged: Staged, m: u64, n: u64, k: u64) -> Option<Launch> {
    let what = Product::dense(1, m, n, k);
    let &form = staged.forms.last()?;
    let k_slice = k.next_multiple_of(form.depth);
    staged
        .takes(&what)
        .then(|| launch(&what, staged, form, k_slice))
}

fn launch(what: &Product, staged: Staged, form: Form, k_slice: u64) -> Launch {
    let unit = unit(staged.dtype);
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
        a.offset / unit,
        b.offset / unit,
        a.pitch / unit,
        b.pitch / unit,
        a.batch / unit,
        b.batch / unit,
        k_slice,
        slices,
        0,
        0,
    ];
    let out = if slices == 1 { Slot::Out } else { Slot::Slices };
    let args = [Slot::A, Slot::B, out].map(Arg::Buffer);
    Launch {
        kernel: staged.kernel,
        overrides: vec![
            ("SUBGROUPS_M", form.subgroups[0] as u32),
            ("SUBGROUPS_N", form.subgroups[1] as u32),
            ("MATRICES_M", form.matrices[0] as u32),
            ("MATRICES_N", form.matrices[1] as u32),
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

    const HALVES: Staged = Staged::of_halves(DType::F16);
    const H100: MatrixUnits = MatrixUnits {
        n_units: 132,
        workgroup_bytes: 227 << 10,
    };

    fn dense(m: u64, n: u64, k: u64) -> Product {
        Product::dense(1, m, n, k)
    }

    const LARGE: [u64; 3] = [128, 256, 64];

    /// Rows and columns of a tile, and depth of a step.
    fn tile(what: &Product, units: MatrixUnits) -> Option<[u64; 3]> {
        let (form, _) = choose(HALVES, what, units)?;
        let [rows, columns] = form.tile();
        Some([rows, columns, form.depth])
    }

    #[test]
    fn large_products_have_large_tiles_where_they_fit() {
        assert_eq!(tile(&dense(8192, 8192, 8192), H100), Some(LARGE));
        assert_eq!(tile(&dense(2048, 2048, 2048), H100), Some(LARGE));
        assert_eq!(tile(&dense(1024, 1024, 1024), H100), Some([64, 128, 64]));
        assert_eq!(tile(&dense(512, 512, 512), H100), Some([32, 64, 64]));
        let of = |workgroup_bytes| MatrixUnits {
            workgroup_bytes,
            ..H100
        };
        let large = dense(8192, 8192, 8192);
        assert_eq!(tile(&large, of(163 << 10)), Some([128, 128, 64]));
        assert_eq!(tile(&large, of(48 << 10)), Some([128, 128, 32]));
        assert_eq!(tile(&large, of(32 << 10)), None);
    }

    #[test]
    fn long_sums_of_few_rows_are_split() {
        let slices = |m, k| {
            let job = matmul_half_job(&dense(m, 4096, k), DType::F16, H100, 1 << 30);
            let launches = job.unwrap().unwrap().launches;
            let (_, length) = choose(HALVES, &dense(m, 4096, k), H100).unwrap();
            (length, launches.len())
        };
        assert_eq!(slices(16, 4096), (2048, 2));
        assert_eq!(slices(16, 256), (256, 1));
        assert_eq!(slices(4096, 4096), (4096, 1));
    }

    #[test]
    fn a_form_counts_the_workgroup_memory_that_it_takes() {
        // The longest rows: both factors along k.
        assert_eq!(FORMS[5].workgroup_bytes(HALVES), 45_056);
        assert!(FORMS[0].workgroup_bytes(HALVES) <= 227 << 10);
    }

    #[test]
    fn lines_start_at_units() {
        assert!(matmul_half_job(&dense(64, 64, 12), DType::F16, H100, 1 << 30).is_err());
        assert!(matmul_half_job(&dense(64, 64, 16), DType::F32, H100, 1 << 30).is_err());
        let bound = matmul_half_job(&dense(64, 64, 16), DType::BF16, H100, 1 << 10);
        assert_eq!(bound, Ok(None));
    }
}
