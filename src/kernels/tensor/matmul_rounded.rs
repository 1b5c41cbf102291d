//! Rounded copies of the factors of a product, which warpgroups multiply as TF32.

use super::{Matrix, Product, R, U, W, grid, padded_bytes};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};

static ROUND: KernelInfo = super::kernel(
    "tensor_round_tf32",
    shader!("tensor_round_tf32.wgsl"),
    &[R, W, U],
);

/// Elements of a vector, and lines and terms of a workgroup's tile.
const VECTOR: u64 = 4;
const TILE: u64 = 64;

/// A factor as lines along the terms of the product.
#[derive(Debug, Clone, Copy)]
struct Lines {
    factor: Matrix,
    /// Lines of a matrix, and their terms.
    n: u64,
    k: u64,
    /// Number of matrices: 1 if all products have the same.
    batch: u64,
    /// The lines are contiguous in the factor.
    by_k: bool,
}

impl Lines {
    const fn left(what: &Product) -> Self {
        Self::of(what, what.a, what.m, !what.a.transposed)
    }

    const fn right(what: &Product) -> Self {
        Self::of(what, what.b, what.n, what.b.transposed)
    }

    const fn of(what: &Product, factor: Matrix, n: u64, by_k: bool) -> Self {
        Self {
            factor,
            n,
            k: what.k,
            batch: if factor.batch == 0 { 1 } else { what.batch },
            by_k,
        }
    }

    /// Returns the number of elements from a line of the copy to the next.
    const fn pitch(self) -> u64 {
        self.k.next_multiple_of(VECTOR)
    }

    /// Returns the copy, whose columns are contiguous if `transposed`.
    const fn copy(self, transposed: bool) -> Matrix {
        let of_one = self.n * self.pitch();
        Matrix {
            offset: 0,
            transposed,
            pitch: self.pitch(),
            batch: if self.factor.batch == 0 { 0 } else { of_one },
            n: self.batch * of_one,
        }
    }

    /// Returns the launch that rounds the factor.
    fn launch(self, [factor, copy]: [Slot; 2]) -> Launch {
        let (tiles_k, tiles_n) = (self.pitch().div_ceil(TILE), self.n.div_ceil(TILE));
        let n_tiles = tiles_k * tiles_n * self.batch;
        let words = [
            self.n,
            self.k,
            tiles_k,
            tiles_n,
            n_tiles,
            self.factor.offset / VECTOR,
            self.factor.pitch / VECTOR,
            self.factor.batch / VECTOR,
            self.pitch() / VECTOR,
            0,
            0,
            0,
        ];
        Launch {
            kernel: &ROUND,
            overrides: vec![("BY_K", self.by_k.into())],
            grid: grid(n_tiles),
            args: vec![
                Arg::Buffer(factor),
                Arg::Buffer(copy),
                Arg::Params(words.map(|n| n as u32).to_vec()),
            ],
        }
    }
}

/// Returns the job of a product of rounded copies of the factors: `job` returns that of the product with the copies as its factors. `None` if
/// it does, or if a factor exceeds a binding.
pub(super) fn round_first(
    what: &Product,
    max_binding_bytes: u64,
    job: impl FnOnce(&Product) -> Result<Option<Job>>,
) -> Result<Option<Job>> {
    let (left, right) = (Lines::left(what), Lines::right(what));
    let rounded = Product {
        a: left.copy(false),
        b: right.copy(true),
        ..*what
    };
    let factors = [
        (Slot::A, padded_bytes(what.a.n)),
        (Slot::B, padded_bytes(what.b.n)),
    ];
    if factors.iter().any(|(_, n)| *n > max_binding_bytes) {
        return Ok(None);
    }
    let Some(mut job) = job(&rounded)? else {
        return Ok(None);
    };
    for (slot, _) in &mut job.buffers {
        *slot = copy_of(*slot);
    }
    for arg in job.launches.iter_mut().flat_map(|launch| &mut launch.args) {
        if let Arg::Buffer(slot) = arg {
            *slot = copy_of(*slot);
        }
    }
    job.buffers.splice(0..0, factors);
    let rounds = [
        left.launch([Slot::A, Slot::RoundedA]),
        right.launch([Slot::B, Slot::RoundedB]),
    ];
    job.launches.splice(0..0, rounds);
    Ok(Some(job))
}

/// Returns the copy of a factor, and other buffers themselves.
const fn copy_of(slot: Slot) -> Slot {
    match slot {
        Slot::A => Slot::RoundedA,
        Slot::B => Slot::RoundedB,
        other => other,
    }
}
