//! Jobs of matrix products.

use super::matmul_parts::in_parts;
use super::{
    R, U, W, check_sizes, elements_of_binding, grid, kernel, padded_bytes, reduce_columns_job, span,
};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::ops::Reduction;
use crate::{Error, Result};

pub(super) static MATMUL: KernelInfo = kernel(
    "tensor_matmul",
    shader!("tensor_matmul.wgsl"),
    &[R, R, W, U],
);

pub(super) static NAIVE: KernelInfo = kernel(
    "tensor_matmul_naive",
    shader!("tensor_matmul_naive.wgsl"),
    &[R, R, W, U],
);

/// Layout of a matrix, or of a batch of matrices, in its buffer. Strides are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// Position of the first element.
    pub offset: u64,
    /// True if the elements of a column are contiguous, false if those of a row are.
    pub transposed: bool,
    /// Stride of rows; of columns if `transposed`.
    pub pitch: u64,
    /// Stride of matrices; 0 to use one matrix for all products.
    pub batch: u64,
    /// Number of elements of the buffer.
    pub n: u64,
}

impl Matrix {
    /// Returns the layout of contiguous row-major matrices at the start of a buffer of `n` elements.
    #[must_use]
    pub const fn dense(rows: u64, cols: u64, n: u64) -> Self {
        Self {
            offset: 0,
            transposed: false,
            pitch: cols,
            batch: rows * cols,
            n,
        }
    }

    fn is_aligned(&self, line: u64) -> bool {
        [self.offset, self.pitch, self.batch, line]
            .iter()
            .all(|n| n.is_multiple_of(4))
    }
}

/// A batch of products of `[m, k]` and `[k, n]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    /// Number of products.
    pub batch: u64,
    /// Number of rows of the first matrix and of the product.
    pub m: u64,
    /// Number of columns of the second matrix and of the product.
    pub n: u64,
    /// Number of columns of the first matrix and of rows of the second.
    pub k: u64,
    /// The first matrix.
    pub a: Matrix,
    /// The second matrix.
    pub b: Matrix,
}

impl Product {
    fn check(&self) -> Result<()> {
        let Self { batch, m, n, k, .. } = *self;
        check_sizes(&[&[batch, m, n], &[batch, k], &[self.a.n], &[self.b.n]])?;
        let is_inside = |matrix: &Matrix, rows, cols| {
            let (lines, length) = match matrix.transposed {
                true => (cols, rows),
                false => (rows, cols),
            };
            let axes = [(batch, matrix.batch), (lines, matrix.pitch), (length, 1)];
            matrix.offset.saturating_add(span(axes)) <= matrix.n
        };
        if is_inside(&self.a, m, k) && is_inside(&self.b, k, n) {
            return Ok(());
        }
        Err(Error::InvalidArgument {
            name: "product",
            value: format!("{batch} of [{m}, {k}] [{k}, {n}]"),
            expected: "matrices inside their buffers",
        })
    }
}

/// Tile configuration of a workgroup: invocations along n and m, and groups of four columns and rows per invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tiling {
    lanes: [u64; 2],
    groups: [u64; 2],
}

impl Tiling {
    const LARGE: Self = Self {
        lanes: [16, 16],
        groups: [2, 2],
    };
    const MEDIUM: Self = Self {
        lanes: [8, 16],
        groups: [2, 1],
    };
    const SMALL: Self = Self {
        lanes: [8, 8],
        groups: [1, 1],
    };

    /// Returns the numbers of columns and rows of a tile.
    const fn tile(self) -> [u64; 2] {
        [
            4 * self.lanes[0] * self.groups[0],
            4 * self.lanes[1] * self.groups[1],
        ]
    }

    fn n_tiles(self, what: &Product) -> u64 {
        let [cols, rows] = self.tile();
        what.n.div_ceil(cols) * what.m.div_ceil(rows) * what.batch
    }

    /// Returns the largest tiling with enough tiles to keep a large device busy.
    fn choose(what: &Product) -> Self {
        if Self::LARGE.n_tiles(what) >= 200 {
            Self::LARGE
        } else if Self::MEDIUM.n_tiles(what) >= 100 {
            Self::MEDIUM
        } else {
            Self::SMALL
        }
    }
}

/// Number of workgroups that keeps a large device busy.
const ENOUGH_TILES: u64 = 256;
/// Minimum and maximum length of a workgroup's slice of k. The maximum exists because software GPUs stop long loops.
const MIN_SLICE: u64 = 256;
pub(super) const MAX_SLICE: u64 = 1 << 16;

/// Returns the launches that compute [`Slot::Out`], `[batch, m, n]`, from `A` and `B`. `workgroup_bytes` is the
/// workgroup memory that one workgroup may use without a loss of occupancy. Buffers larger than a binding are processed
/// in parts.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for matrices that exceed their
/// buffers.
pub fn matmul_job(what: &Product, workgroup_bytes: u32, max_binding_bytes: u64) -> Result<Job> {
    what.check()?;
    let most = elements_of_binding(max_binding_bytes);
    let n_out = what.batch * what.m * what.n;
    let tiling = Tiling::choose(what);
    let wanted = ENOUGH_TILES
        .div_ceil(tiling.n_tiles(what))
        .min(what.k / MIN_SLICE);
    let slices = wanted.max(what.k.div_ceil(MAX_SLICE)).max(1);
    let k_slice = what.k.div_ceil(slices).next_multiple_of(16);
    let slices = what.k.div_ceil(k_slice);
    let buffers = vec![
        (Slot::A, padded_bytes(what.a.n)),
        (Slot::B, padded_bytes(what.b.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    if what.a.n.max(what.b.n).max(slices * n_out) > most {
        return Ok(Job {
            buffers,
            launches: in_parts(what, workgroup_bytes, most),
        });
    }
    let out = if slices == 1 { Slot::Out } else { Slot::Slices };
    let mut job = Job {
        buffers,
        launches: vec![launch(
            what,
            tiling,
            workgroup_bytes,
            [k_slice, slices],
            Args::whole(what.n, out),
        )],
    };
    if slices > 1 {
        job.buffers
            .push((Slot::Slices, padded_bytes(slices * n_out)));
        let size = [what.batch, slices, what.m * what.n];
        append_sum(&mut job, size, max_binding_bytes)?;
    }
    Ok(job)
}

/// Arguments of a launch, and the layout of its result.
pub(super) struct Args {
    pub(super) buffers: [Arg; 3],
    /// Offset of the result in its binding, in elements.
    pub(super) offset: u64,
    /// Stride of rows of the result.
    pub(super) pitch: u64,
    /// True if the result is added to the existing elements.
    pub(super) add: bool,
}

impl Args {
    /// Returns arguments of whole buffers, for a result with `n` columns.
    fn whole(n: u64, out: Slot) -> Self {
        Self {
            buffers: [Slot::A, Slot::B, out].map(Arg::Buffer),
            offset: 0,
            pitch: n,
            add: false,
        }
    }
}

/// Returns the launch of a product that is part of a larger one.
pub(super) fn part_launch(what: &Product, workgroup_bytes: u32, args: Args) -> Launch {
    let k_slice = what.k.next_multiple_of(16);
    let tiling = Tiling::choose(what);
    launch(what, tiling, workgroup_bytes, [k_slice, 1], args)
}

/// Returns the launch of one product of dense matrices with square tiles of 32, 64 or 128; `None` for other sizes of
/// tiles.
#[cfg(cuda_engine)]
pub(in crate::kernels) fn tiled_launch(what: &Product, tile: u64) -> Option<Launch> {
    let all = [Tiling::SMALL, Tiling::MEDIUM, Tiling::LARGE];
    let tiling = all.into_iter().find(|tiling| tiling.tile() == [tile; 2])?;
    let k_slice = what.k.next_multiple_of(16);
    let args = Args::whole(what.n, Slot::Out);
    Some(launch(what, tiling, 16 << 10, [k_slice, 1], args))
}

/// Returns the launch that computes [`Slot::Out`], `[m, n]`, from dense `A` and `B`, one element per invocation.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0.
pub fn matmul_naive_job(m: u64, n: u64, k: u64) -> Result<Job> {
    check_sizes(&[&[m, k], &[k, n], &[m, n]])?;
    Ok(Job {
        buffers: vec![
            (Slot::A, padded_bytes(m * k)),
            (Slot::B, padded_bytes(k * n)),
            (Slot::Out, padded_bytes(m * n)),
        ],
        launches: vec![naive_launch(m, n, k)],
    })
}

/// Returns the launch of [`matmul_naive_job`].
pub(in crate::kernels) fn naive_launch(m: u64, n: u64, k: u64) -> Launch {
    Launch {
        kernel: &NAIVE,
        overrides: Vec::new(),
        grid: grid((m * n).div_ceil(256)),
        args: vec![
            Arg::Buffer(Slot::A),
            Arg::Buffer(Slot::B),
            Arg::Buffer(Slot::Out),
            Arg::Params([m, n, k, 0].map(|n| n as u32).to_vec()),
        ],
    }
}

fn launch(
    what: &Product,
    tiling: Tiling,
    workgroup_bytes: u32,
    [k_slice, slices]: [u64; 2],
    args: Args,
) -> Launch {
    let [cols, rows] = tiling.tile();
    // Double buffering of both tiles.
    let two_stages = u64::from(workgroup_bytes) >= 2 * 16 * 4 * (rows + cols);
    let (tiles_m, tiles_n) = (what.m.div_ceil(rows), what.n.div_ceil(cols));
    let n_tiles = tiles_m * tiles_n * what.batch * slices;
    let line = |matrix: &Matrix, row: u64, column: u64| match matrix.transposed {
        true => column,
        false => row,
    };
    let words = [
        what.m,
        what.n,
        what.k,
        k_slice,
        slices,
        tiles_m,
        tiles_n,
        n_tiles,
        what.a.offset,
        what.b.offset,
        what.a.pitch,
        what.b.pitch,
        what.a.batch,
        what.b.batch,
        args.offset,
        args.pitch,
    ];
    let [a, b, out] = args.buffers;
    Launch {
        kernel: &MATMUL,
        overrides: vec![
            ("LANES_N", tiling.lanes[0] as u32),
            ("LANES_M", tiling.lanes[1] as u32),
            ("GROUPS_N", tiling.groups[0] as u32),
            ("GROUPS_M", tiling.groups[1] as u32),
            ("STAGES", 1 + u32::from(two_stages)),
            ("A_BY_K", (!what.a.transposed).into()),
            ("B_BY_K", what.b.transposed.into()),
            (
                "A_ALIGNED",
                what.a.is_aligned(line(&what.a, what.k, what.m)).into(),
            ),
            (
                "B_ALIGNED",
                what.b.is_aligned(line(&what.b, what.n, what.k)).into(),
            ),
            ("ADD", args.add.into()),
        ],
        grid: grid(n_tiles),
        args: vec![a, b, out, Arg::Params(words.map(|n| n as u32).to_vec())],
    }
}

/// Appends launches that add the slices of each product.
fn append_sum(job: &mut Job, size: [u64; 3], max_binding_bytes: u64) -> Result<()> {
    let sum = reduce_columns_job(Reduction::Sum, size, max_binding_bytes)?;
    // The input of the reduction is [`Slot::Slices`] instead of `A`.
    let scratch = |(slot, _): &(Slot, u64)| matches!(slot, Slot::Partials | Slot::FewerPartials);
    job.buffers.extend(sum.buffers.into_iter().filter(scratch));
    for mut launch in sum.launches {
        for arg in &mut launch.args {
            if *arg == Arg::Buffer(Slot::A) {
                *arg = Arg::Buffer(Slot::Slices);
            }
        }
        job.launches.push(launch);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(batch: u64, m: u64, n: u64, k: u64) -> Product {
        Product {
            batch,
            m,
            n,
            k,
            a: Matrix::dense(m, k, batch * m * k),
            b: Matrix::dense(k, n, batch * k * n),
        }
    }

    #[test]
    fn a_tile_has_a_block_for_each_invocation() {
        for tiling in [Tiling::LARGE, Tiling::MEDIUM, Tiling::SMALL] {
            let [cols, rows] = tiling.tile();
            assert_eq!(rows + cols, tiling.lanes[0] * tiling.lanes[1]);
            assert_eq!(rows % 32 + cols % 32, 0);
        }
    }

    #[test]
    fn long_sums_of_small_products_are_split() {
        assert_eq!(
            matmul_job(&product(1, 4096, 4096, 4096), 16_384, 1 << 30)
                .unwrap()
                .launches
                .len(),
            1
        );
        let job = matmul_job(&product(1, 16, 16, 65_536), 16_384, 1 << 30).unwrap();
        assert!(job.launches.len() >= 2);
        let partials = job.buffers.iter().find(|(slot, _)| *slot == Slot::Slices);
        assert_eq!(partials.map(|p| p.1), Some(256 * 1024));
    }
}
