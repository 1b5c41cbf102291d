//! Operations on tensors of `f32` as [`Job`](super::Job)s.
//!
//! Sizes are in elements, and fit a `u32` in each launch. A buffer of n elements has [`padded_bytes`] bytes, since kernels
//! take four elements at a time.

mod attention;
mod convolve;
mod elementwise;
mod matmul;
mod matmul_parts;
mod norm;
mod quantized;
mod reduce;
mod rotary;
mod softmax;

use super::{Access, Arg, KernelInfo, Slot};

#[cfg(cuda_engine)]
pub(super) use attention::attention_launch;
pub use attention::{AttentionSize, Heads, attention_job};
pub use convolve::{Convolution, convolve2d_job};
pub use elementwise::{Elementwise, MAX_STEPS, Source, Strided, elementwise_job};
pub use matmul::{Matrix, Product, matmul_job, matmul_naive_job};
pub use norm::norm_job;
pub use quantized::matmul_quantized_job;
pub use reduce::{reduce_columns_job, reduce_rows_job};
pub use rotary::{Rotary, rotary_job};
pub use softmax::{SoftmaxLimits, softmax_job};
#[cfg(cuda_engine)]
pub(super) use {
    matmul::{naive_launch, tiled_launch},
    norm::norm_launch,
    softmax::softmax_launch,
};

/// All kernels of tensors.
pub const KERNELS: [&KernelInfo; 13] = [
    &elementwise::ELEMENTWISE,
    &reduce::ROWS,
    &reduce::COLUMNS,
    &matmul::MATMUL,
    &matmul::NAIVE,
    &quantized::MATMUL_QUANTIZED,
    &convolve::CONVOLVE2D,
    &softmax::SOFTMAX,
    &softmax::SOFTMAX_LONG,
    &norm::NORM,
    &rotary::ROTARY,
    &attention::ATTENTION,
    &attention::MERGE,
];

/// Bytes of a buffer of `n` elements: whole groups of four, at least one; [`u64::MAX`] where they are more.
#[must_use]
pub const fn padded_bytes(n: u64) -> u64 {
    let groups = n.div_ceil(4);
    if groups == 0 {
        return 16;
    }
    // More than any buffer has stays more.
    groups.saturating_mul(16)
}

const R: Access = Access::Read;
const W: Access = Access::ReadWrite;
const U: Access = Access::Uniform;

const fn kernel(name: &'static str, wgsl: &'static str, bindings: &'static [Access]) -> KernelInfo {
    // SAFETY: no kernel of this table takes an index from the contents of a buffer. Each forms its indices of its own
    // numbers and of the sizes in its parameters, and returns, or clamps the index, where those end; the job's function makes
    // the parameters and the sizes of the buffers from the same shape, none of which is 0 where the kernel divides by it.
    // Loops count to sizes. Each invocation stores its elements of workgroup memory, zeros where there are none, before the
    // barrier after which others read them.
    unsafe { KernelInfo::trusted(name, wgsl, bindings, true) }
}

/// Most workgroups in one dimension.
const MAX_GRID: u64 = 65_535;

/// A grid of at least `n` workgroups, in two dimensions if it must be.
fn grid(n: u64) -> [u32; 3] {
    let y = n.div_ceil(MAX_GRID);
    [n.div_ceil(y.max(1)) as u32, y as u32, 1]
}

/// The second buffer of a kernel, which takes the first again where there is none.
fn second(is_there: bool) -> Slot {
    if is_there { Slot::B } else { Slot::A }
}

/// Slices of buffers start at multiples of so many elements.
const SLICE: u64 = 64;

/// Elements of the largest binding, which kernels count by words.
const fn elements_of_binding(max_binding_bytes: u64) -> u64 {
    let n = max_binding_bytes / 16 * 4;
    if n < 1 << 31 { n } else { (1 << 31) - 4 }
}

/// The slice of a buffer that holds some elements, whole groups of four, and where they start in it.
fn around(slot: Slot, from: u64, to: u64) -> (Arg, u64) {
    let start = from / SLICE * SLICE;
    let end = start + padded_bytes(to - start) / 4;
    (Arg::Slice(slot, 4 * start..4 * end), from - start)
}

/// A part of a buffer of elements, or all of it.
fn part(slot: Slot, from: u64, to: u64, n: u64) -> Arg {
    if (from, to) == (0, n) {
        return Arg::Buffer(slot);
    }
    Arg::Slice(slot, 4 * from..4 * from + padded_bytes(to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_hold_all_workgroups_and_few_more() {
        for n in [1, 65_535, 65_536, 1 << 20, (1 << 24) - 1] {
            let [x, y, z] = grid(n).map(u64::from);
            assert!(x <= MAX_GRID && y <= MAX_GRID && z == 1);
            assert!((n..n + y).contains(&(x * y)), "{n}: {x} {y}");
        }
    }

    #[test]
    fn buffers_are_whole_groups_of_four() {
        assert_eq!([0, 1, 4, 5].map(padded_bytes), [16, 16, 16, 32]);
    }
}
