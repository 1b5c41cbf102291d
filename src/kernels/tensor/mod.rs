//! Operations on tensors of `f32` as [`Job`](super::Job)s.
//!
//! Sizes are in elements, and fit a `u32` in each launch. A buffer of n elements has [`padded_bytes`] bytes, since kernels
//! take four elements at a time.

mod attention;
mod attention_parts;
mod convolve;
mod copy;
mod elementwise;
mod matmul;
mod matmul_parts;
mod norm;
mod quantized;
mod reduce;
mod rotary;
mod softmax;

use super::{Access, Arg, KernelInfo, Slot};
use crate::{Error, Result};

#[cfg(cuda_engine)]
pub(super) use attention::attention_launch;
pub use attention::{AttentionSize, Heads, attention_job};
pub use convolve::{Convolution, convolve2d_job};
pub use copy::{CopyAxis, copy_job};
pub use elementwise::{Elementwise, MAX_STEPS, Source, Strided, elementwise_job};
pub use matmul::{Matrix, Product, matmul_job, matmul_naive_job};
pub use norm::norm_job;
pub use quantized::{QuantizedProduct, matmul_quantized_job};
pub use reduce::{reduce_columns_job, reduce_rows_job, takes_columns, takes_rows};
pub use rotary::{Rotary, rotary_job};
pub use softmax::{SoftmaxLimits, softmax_job};
#[cfg(cuda_engine)]
pub(super) use {
    matmul::{naive_launch, tiled_launch},
    norm::norm_launch,
    softmax::softmax_launch,
};

/// All kernels of tensors.
pub const KERNELS: [&KernelInfo; 14] = [
    &elementwise::ELEMENTWISE,
    &copy::COPY,
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

/// Elements that a slice may hold wherever they start: slices begin at or before what is wanted of them.
const fn elements_of_slice(max_binding_bytes: u64) -> u64 {
    elements_of_binding(max_binding_bytes).saturating_sub(SLICE)
}

/// Returns whether a row fits in a binding, whatever its alignment.
#[must_use]
pub const fn takes_row(cols: u64, max_binding_bytes: u64) -> bool {
    cols <= elements_of_slice(max_binding_bytes)
}

/// Rows of `A`, `[rows, cols]`, cut such that those of one launch fit in a binding, and as many of `Out`: how many there
/// are, the slices that hold them, and where they start in these. One row fits, see [`takes_row`].
fn rows_in_parts(
    [rows, cols]: [u64; 2],
    max_binding_bytes: u64,
) -> impl Iterator<Item = (u64, [Arg; 2], u64)> {
    let is_whole = rows * cols <= elements_of_binding(max_binding_bytes);
    let at_once = match is_whole {
        true => rows.max(1),
        false => (elements_of_slice(max_binding_bytes) / cols).max(1),
    };
    (0..rows.div_ceil(at_once)).map(move |part| {
        let (from, to) = (part * at_once, rows.min((part + 1) * at_once));
        if is_whole {
            return (rows, [Slot::A, Slot::Out].map(Arg::Buffer), 0);
        }
        let ((a, offset), (out, _)) = (
            around(Slot::A, from * cols, to * cols),
            around(Slot::Out, from * cols, to * cols),
        );
        (to - from, [a, out], offset)
    })
}

/// From the first place to behind the last one, of axes of these lengths and strides; [`u64::MAX`] where it is more. No
/// length is 0.
fn span(axes: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    let axes = axes.into_iter();
    axes.fold(1, |all: u64, (n, stride)| {
        all.saturating_add((n - 1).saturating_mul(stride))
    })
}

/// Returns how many of `n` items, `stride` apart and of `length` elements each, fit in `most` elements.
fn how_many(n: u64, stride: u64, length: u64, most: u64) -> u64 {
    match most.checked_sub(length) {
        None => 0,
        Some(rest) => rest.checked_div(stride).map_or(n, |more| n.min(more + 1)),
    }
}

/// Returns start and length of each part of a length.
fn parts(length: u64, part: u64) -> impl Iterator<Item = (u64, u64)> + Clone {
    (0..length.div_ceil(part)).map(move |i| (i * part, part.min(length - i * part)))
}

/// Checks sizes of a job: no length is 0, and no product is more than memory has elements.
fn check_sizes(products: &[&[u64]]) -> Result<()> {
    let fits = |lengths: &&[u64]| {
        let product = lengths.iter().try_fold(1u64, |n, &m| n.checked_mul(m));
        product.is_some_and(|n| (1..1 << 58).contains(&n))
    };
    if products.iter().all(fits) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        name: "shape",
        value: format_sizes(products),
        expected: "lengths above 0, and fewer than 2^58 elements",
    })
}

fn format_sizes(products: &[&[u64]]) -> String {
    let sizes: Vec<String> = products.iter().map(|size| format!("{size:?}")).collect();
    sizes.join(", ")
}

/// The error that what cannot be cut any further is larger than a binding.
pub(crate) fn beyond_binding(name: &'static str, n_elements: u64, max_binding_bytes: u64) -> Error {
    let n_bytes = n_elements.saturating_mul(4);
    Error::InvalidArgument {
        name,
        value: format!(
            "{n_bytes} bytes, where a binding of the device has {max_binding_bytes} at most"
        ),
        expected: "what fits in a binding: smaller tensors, a device opened with the limits of its adapter, or another device",
    }
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
