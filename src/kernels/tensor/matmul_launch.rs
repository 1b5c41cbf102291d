//! Launches of matrix products, and the layouts that describe them.

use super::epilogue::Finish;
use super::matmul_tiling::{TileLimits, Tiling};
use super::{R, THREADS, U, W, check_sizes, grid, kernel, span};
use crate::kernels::{Arg, KernelInfo, Launch, Limits, Registers, Slot};
use crate::ops::Epilogue;
use crate::{Error, Result};

pub(super) static MATMUL: KernelInfo = kernel(
    "tensor_matmul",
    shader!("tensor_matmul.wgsl"),
    &[R, R, W, U],
);

/// The kernel with an epilogue.
pub(super) static FUSED: KernelInfo = kernel(
    "tensor_matmul",
    shader!("tensor_matmul.fused.wgsl"),
    &[R, R, W, U, R, R],
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
    /// Returns a batch of products of contiguous row-major matrices.
    #[cfg(any(test, cuda_engine))]
    pub(in crate::kernels) const fn dense(batch: u64, m: u64, n: u64, k: u64) -> Self {
        Self {
            batch,
            m,
            n,
            k,
            a: Matrix::dense(m, k, batch * m * k),
            b: Matrix::dense(k, n, batch * k * n),
        }
    }

    /// Returns the number of multiply-adds.
    #[must_use]
    pub const fn terms(&self) -> u64 {
        let of_one = self.m.saturating_mul(self.n).saturating_mul(self.k);
        of_one.saturating_mul(self.batch)
    }

    /// Returns the result and its epilogue.
    pub(super) const fn finish(&self, epilogue: Epilogue<()>) -> Finish {
        Finish {
            size: [self.batch, self.m, self.n],
            epilogue,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
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

/// Maximum length of a workgroup's slice of k, since software GPUs stop long loops.
pub(super) const MAX_SLICE: u64 = 1 << 16;

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
    pub(super) fn whole(n: u64, out: Slot) -> Self {
        Self {
            buffers: [Slot::A, Slot::B, out].map(Arg::Buffer),
            offset: 0,
            pitch: n,
            add: false,
        }
    }
}

/// Returns the launch of a product that is part of a larger one.
pub(super) fn part_launch(what: &Product, limits: TileLimits, args: Args) -> Launch {
    let (tiling, k_slice) = limits.choose_whole(what);
    launch(what, tiling, limits, k_slice, args)
}

/// Returns the launch of one product of dense matrices with square tiles of 32, 64 or 128; `None` for other sizes of
/// tiles.
#[cfg(cuda_engine)]
pub(in crate::kernels) fn tiled_launch(what: &Product, tile: u64) -> Option<Launch> {
    let tiling = super::matmul_tiling::SQUARE
        .into_iter()
        .find(|it| it.tile() == [tile; 2])?;
    let k_slice = what.k.next_multiple_of(16);
    let args = Args::whole(what.n, Slot::Out);
    let limits = TileLimits::of(Limits::WEBGPU);
    Some(launch(what, tiling, limits, k_slice, args))
}

/// Returns the launch that computes [`Slot::Out`], `[m, n]`, from dense `A` and `B`, one element per invocation.
pub(in crate::kernels) fn naive_launch([m, n, k]: [u64; 3], limits: Limits) -> Launch {
    let threads = limits.width(THREADS);
    Launch {
        kernel: &NAIVE,
        overrides: vec![("THREADS", threads)],
        grid: grid((m * n).div_ceil(threads.into())),
        args: vec![
            Arg::Buffer(Slot::A),
            Arg::Buffer(Slot::B),
            Arg::Buffer(Slot::Out),
            Arg::Params([m, n, k, 0].map(|n| n as u32).to_vec()),
        ],
    }
}

/// Returns a launch with an epilogue, of products whose k is not sliced.
pub(super) fn fused_launch(
    what: &Product,
    tiling: Tiling,
    limits: TileLimits,
    k_slice: u64,
    epilogue: Epilogue<()>,
) -> Launch {
    let args = Args::whole(what.n, Slot::Out);
    let mut launch = launch(what, tiling, limits, k_slice, args);
    fuse(&mut launch, &FUSED, what.finish(epilogue));
    launch
}

/// Replaces the kernel of a launch by one with an epilogue.
pub(super) fn fuse(launch: &mut Launch, kernel: &'static KernelInfo, finish: Finish) {
    launch.kernel = kernel;
    launch.overrides.extend(finish.overrides());
    launch.args.extend(finish.args(Slot::A));
}

/// Returns a launch with slices of k of `k_slice` terms each.
pub(super) fn launch(
    what: &Product,
    tiling: Tiling,
    limits: TileLimits,
    k_slice: u64,
    args: Args,
) -> Launch {
    let [cols, rows] = tiling.tile();
    let slices = what.k.div_ceil(k_slice);
    // Double buffering of both tiles.
    let has_two = u64::from(limits.workgroup_bytes) >= 2 * tiling.step_bytes();
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
            ("GROUPS_K", tiling.groups_k as u32),
            (
                "STAGES",
                1 + u32::from(has_two && limits.registers > Registers::Fewest),
            ),
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
            limits.registers.ahead(),
        ],
        grid: grid(n_tiles),
        args: vec![a, b, out, Arg::Params(words.map(|n| n as u32).to_vec())],
    }
}
