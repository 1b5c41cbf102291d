//! Jobs of products on matrix units, whose kernels stage tiles of the factors in workgroup memory.

use super::matmul::append_sum;
use super::matmul_launch::fuse;
use super::matmul_time::{MIN_SLICE, SLICES, time};
use super::{Matrix, Product, grid, padded_bytes, padded_bytes_of};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::{DType, Epilogue};

/// A kernel that stages tiles of its factors in workgroup memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Staged {
    pub(super) kernel: &'static KernelInfo,
    /// The kernel of configurations of warpgroups.
    pub(super) of_warpgroups: Option<&'static KernelInfo>,
    /// The kernels with an epilogue: in place of `kernel`, and of `of_warpgroups`. `None` if an epilogue takes a launch of its own.
    pub(super) fused: Option<[&'static KernelInfo; 2]>,
    /// Warpgroups multiply rounded copies of the factors, which other launches make.
    pub(super) rounds_first: bool,
    /// Type of the elements of both factors.
    pub(super) dtype: DType,
    /// Elements of a unit, in which the kernel counts offsets and pitches.
    pub(super) unit: u64,
    /// Elements by which rows of tiles are padded, where these are along k and where they are not.
    pub(super) pads: [u64; 2],
    /// Configurations, the fastest for large products first. The last one fits the workgroup memory of every GPU.
    pub(super) forms: &'static [Form],
}

impl Staged {
    /// Returns true if the kernel can read both factors of a product.
    pub(super) const fn takes(self, what: &Product) -> bool {
        let unit = unit(self.dtype);
        takes_units(&what.a, !what.a.transposed, what.k, unit)
            && takes_units(&what.b, what.b.transposed, what.k, unit)
    }
}

/// Returns the number of elements of 16 bytes, at whose multiples the lines of factors begin.
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
    /// Warpgroups multiply matrices in workgroup memory.
    pub has_warpgroups: bool,
    /// Copies from storage to workgroup memory run asynchronously.
    pub copies_asynchronously: bool,
}

/// Terms of a step of [`Multipliers::Ahead`]; its kernel's loop has two steps.
const AHEAD_TERMS: u64 = 16;

/// The invocations that multiply a part of a workgroup's tile together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Multipliers {
    /// Subgroups, along m and n, of these numbers of matrices of 16 by 16 elements.
    Subgroups([u64; 2], [u64; 2]),
    /// Subgroups, along m and n, of 64 rows and columns each, whose next steps are on their way to registers.
    Ahead([u64; 2]),
    /// Warpgroups, along m, of 64 rows and this number of columns.
    Warpgroups(u64, u64),
}

/// Configuration of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    multipliers: Multipliers,
    /// Steps in workgroup memory at once.
    stages: u64,
    /// Length of k of a step.
    pub(super) depth: u64,
    /// Speed of large products in TFLOP/s, measured on an H100.
    speed: u64,
}

impl Form {
    pub(super) const fn new(
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

    /// Returns the configuration of these numbers of warpgroups and columns.
    pub(super) const fn of_warpgroups(
        [groups, columns]: [u64; 2],
        stages: u64,
        depth: u64,
        speed: u64,
    ) -> Self {
        Self {
            multipliers: Multipliers::Warpgroups(groups, columns),
            stages,
            depth,
            speed,
        }
    }

    /// Returns the configuration of these numbers of subgroups, of 64 rows and columns each, whose next steps are on their way to registers.
    pub(super) const fn ahead(subgroups: [u64; 2], speed: u64) -> Self {
        Self {
            multipliers: Multipliers::Ahead(subgroups),
            stages: 2,
            depth: 2 * AHEAD_TERMS,
            speed,
        }
    }

    pub(super) const fn is_of_warpgroups(self) -> bool {
        matches!(self.multipliers, Multipliers::Warpgroups(..))
    }

    /// Returns rows and columns of a workgroup's tile.
    pub(super) const fn tile(self) -> [u64; 2] {
        match self.multipliers {
            Multipliers::Subgroups(subgroups, matrices) => [
                16 * matrices[0] * subgroups[0],
                16 * matrices[1] * subgroups[1],
            ],
            Multipliers::Ahead(subgroups) => [64 * subgroups[0], 64 * subgroups[1]],
            Multipliers::Warpgroups(groups, columns) => [64 * groups, columns],
        }
    }

    /// Returns the number of bytes of workgroup memory for factors in any order.
    pub(super) fn workgroup_bytes(self, staged: Staged) -> u64 {
        let [rows, columns] = self.tile();
        let element = 4 / staged.dtype.per_word();
        let (subgroups, depth) = match self.multipliers {
            Multipliers::Subgroups(subgroups, _) => (subgroups, self.depth),
            Multipliers::Ahead(subgroups) => (subgroups, AHEAD_TERMS),
            Multipliers::Warpgroups(..) => {
                return element * self.stages * self.depth * (rows + columns);
            }
        };
        let [along_k, across_k] = staged.pads;
        let lines = |n: u64| (n * (depth + along_k)).max(depth * (n + across_k));
        let edge = 1024 * subgroups[0] * subgroups[1];
        element * self.stages * (lines(rows) + lines(columns)) + edge
    }

    /// Returns true if a device can run the configuration.
    pub(super) fn fits(self, staged: Staged, units: MatrixUnits) -> bool {
        let is_known = match self.multipliers {
            Multipliers::Subgroups(..) | Multipliers::Ahead(_) => true,
            Multipliers::Warpgroups(..) => units.has_warpgroups && staged.of_warpgroups.is_some(),
        };
        is_known && self.workgroup_bytes(staged) <= units.workgroup_bytes
    }

    /// Returns the overrides of the kernel for a product in slices of k.
    fn overrides(self, what: &Product, k_slice: u64) -> Vec<(&'static str, u32)> {
        let of_multipliers = match self.multipliers {
            Multipliers::Subgroups(subgroups, matrices) => vec![
                ("SUBGROUPS_M", subgroups[0]),
                ("SUBGROUPS_N", subgroups[1]),
                ("MATRICES_M", matrices[0]),
                ("MATRICES_N", matrices[1]),
                ("TILE_K", self.depth),
            ],
            Multipliers::Ahead(subgroups) => vec![
                ("SUBGROUPS_M", subgroups[0]),
                ("SUBGROUPS_N", subgroups[1]),
                ("WHOLE", what.k.is_multiple_of(k_slice).into()),
            ],
            Multipliers::Warpgroups(groups, columns) => {
                vec![("GROUPS", groups), ("TILE_N", columns)]
            }
        };
        let all = of_multipliers.into_iter().chain([("STAGES", self.stages)]);
        all.map(|(name, n)| (name, n as u32)).collect()
    }

    /// Returns the kernel with an epilogue, if there is one.
    fn fused_kernel(self, staged: Staged) -> Option<&'static KernelInfo> {
        let [of_subgroups, of_warpgroups] = staged.fused?;
        Some(match (self.multipliers, staged.of_warpgroups) {
            (Multipliers::Warpgroups(..), Some(_)) => of_warpgroups,
            _ => of_subgroups,
        })
    }

    /// Returns the estimated time in ns of a product in slices of k.
    fn time(self, what: &Product, staged: Staged, k_slice: u64, n_units: u64) -> u64 {
        let [rows, columns] = self.tile();
        let of_copies = match self.multipliers {
            // Two launches, and factors that are read and written at 2.5 TB/s.
            Multipliers::Warpgroups(..) if staged.rounds_first => {
                6000 + 2 * 4 * what.batch * what.k * (what.m + what.n) / 2500
            }
            _ => 0,
        };
        of_copies + time(what, [columns, rows], self.speed, k_slice, n_units)
    }
}

/// Returns the fastest configuration that fits a device, and the length of its slices of k.
pub(super) fn choose(staged: Staged, what: &Product, units: MatrixUnits) -> Option<(Form, u64)> {
    let forms = staged.forms.iter().copied();
    let fitting = forms.filter(|form| form.fits(staged, units));
    let all = fitting.flat_map(|form| {
        let lengths = SLICES.map(|slices| what.k.div_ceil(slices).next_multiple_of(form.depth));
        // The first length is that of all of k.
        let is_enough = move |&length: &u64| length >= MIN_SLICE.min(lengths[0]);
        lengths
            .into_iter()
            .filter(is_enough)
            .map(move |length| (form, length))
    });
    all.min_by_key(|(form, k_slice)| form.time(what, staged, *k_slice, units.n_units))
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

/// Returns the job of a product that the kernel [takes](Staged::takes), with an epilogue.
pub(super) fn staged_job(
    what: &Product,
    staged: Staged,
    epilogue: Epilogue<()>,
    units: MatrixUnits,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    what.check()?;
    match choose(staged, what, units) {
        Some(form) => job_of(what, staged, form, epilogue, max_binding_bytes),
        None => Ok(None),
    }
}

/// Returns the job of a product in a configuration, with slices of k of a length.
pub(super) fn job_of(
    what: &Product,
    staged: Staged,
    (form, k_slice): (Form, u64),
    epilogue: Epilogue<()>,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    let n_out = what.batch * what.m * what.n;
    let slices = what.k.div_ceil(k_slice);
    let mut buffers = vec![
        (Slot::A, padded_bytes_of(staged.dtype, what.a.n)),
        (Slot::B, padded_bytes_of(staged.dtype, what.b.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    let finish = what.finish(epilogue);
    let fused = match slices {
        1 if !epilogue.is_none() => form.fused_kernel(staged),
        _ => None,
    };
    let out = if slices == 1 && (epilogue.is_none() || fused.is_some()) {
        Slot::Out
    } else {
        buffers.push((Slot::Slices, padded_bytes(slices * n_out)));
        Slot::Slices
    };
    buffers.extend(finish.buffers());
    if buffers.iter().any(|(_, n)| *n > max_binding_bytes) {
        return Ok(None);
    }
    let mut job = Job {
        buffers,
        launches: vec![launch(what, staged, form, k_slice, out)],
    };
    if let ([only], Some(fused)) = (&mut job.launches[..], fused) {
        fuse(only, fused, finish);
    } else if !epilogue.is_none() {
        let sum = finish.sum(Slot::Slices, slices, Limits::WEBGPU);
        job.launches.push(sum);
    } else if slices > 1 {
        let size = [what.batch, slices, what.m * what.n];
        append_sum(&mut job, size, Limits::of_bindings(max_binding_bytes))?;
    }
    Ok(Some(job))
}

/// Returns the launch of one product of dense matrices in the first configuration of a kernel or, unless `is_first`, in the last one;
/// `None` where it cannot read them.
#[cfg(cuda_engine)]
pub(super) fn staged_launch(
    staged: Staged,
    m: u64,
    n: u64,
    k: u64,
    is_first: bool,
) -> Option<Launch> {
    let what = Product::dense(1, m, n, k);
    let form = if is_first {
        staged.forms.first()
    } else {
        staged.forms.last()
    };
    let &form = form?;
    let k_slice = k.next_multiple_of(form.depth);
    staged
        .takes(&what)
        .then(|| launch(&what, staged, form, k_slice, Slot::Out))
}

fn launch(what: &Product, staged: Staged, form: Form, k_slice: u64, out: Slot) -> Launch {
    let unit = staged.unit;
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
    let args = [Slot::A, Slot::B, out].map(Arg::Buffer);
    let mut overrides = form.overrides(what, k_slice);
    overrides.extend([
        ("A_BY_K", (!a.transposed).into()),
        ("B_BY_K", b.transposed.into()),
    ]);
    Launch {
        kernel: match (form.multipliers, staged.of_warpgroups) {
            (Multipliers::Warpgroups(..), Some(kernel)) => kernel,
            _ => staged.kernel,
        },
        overrides,
        grid: grid(n_tiles),
        args: args
            .into_iter()
            .chain([Arg::Params(words.map(|n| n as u32).to_vec())])
            .collect(),
    }
}
