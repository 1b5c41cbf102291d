//! Operations on tensors of `f32` as [`Job`](super::Job)s, and conversions from and to other types.
//!
//! Sizes are in elements, and fit in a `u32` in each launch. A buffer of n elements has [`padded_bytes`] bytes, since
//! kernels load and store vectors of four elements.

mod attention;
mod attention_decode;
mod attention_form;
#[cfg(not(target_arch = "wasm32"))]
mod attention_half;
mod attention_launch;
mod attention_part;
mod attention_parts;
mod cast;
mod convolve;
mod copy;
mod elementwise;
mod epilogue;
mod matmul;
#[cfg(not(target_arch = "wasm32"))]
mod matmul_half;
mod matmul_launch;
mod matmul_parts;
#[cfg(not(target_arch = "wasm32"))]
mod matmul_rounded;
#[cfg(not(target_arch = "wasm32"))]
mod matmul_staged;
#[cfg(not(target_arch = "wasm32"))]
mod matmul_tf32;
mod matmul_tiling;
mod matmul_time;
mod norm;
mod quantized;
mod reduce;
mod rotary;
mod row_workgroup;
mod softmax;
#[cfg(not(target_arch = "wasm32"))]
mod unpack;

use super::{Access, Arg, KernelInfo, MAX_GRID, SLICE_ALIGNMENT, Slot};
use crate::ops::DType;
use crate::{Error, Result};

pub use attention::attention_job;
pub use attention_decode::attention_decode_job;
#[cfg(not(target_arch = "wasm32"))]
pub use attention_half::{attention_half_job, takes_heads};
pub use attention_launch::{AttentionSize, Heads};
pub use cast::{Cast, cast_job};
pub use convolve::{Convolution, convolve2d_job};
pub use copy::{CopyAxis, copy_job};
pub use elementwise::{Elementwise, MAX_STEPS, Source, Strided, elementwise_job};
pub use epilogue::epilogue_job;
pub use matmul::{matmul_epilogue_job, matmul_job, matmul_naive_job};
#[cfg(not(target_arch = "wasm32"))]
pub use matmul_half::{matmul_half_job, multiplies_halves};
pub use matmul_launch::{Matrix, Product};
#[cfg(not(target_arch = "wasm32"))]
pub use matmul_staged::{MatrixUnits, takes_units};
#[cfg(not(target_arch = "wasm32"))]
pub use matmul_tf32::matmul_tf32_job;
pub use norm::norm_job;
#[cfg(not(target_arch = "wasm32"))]
pub use quantized::FEW_ROWS;
pub use quantized::{QuantizedProduct, matmul_quantized_job};
pub use reduce::{reduce_columns_job, reduce_rows_job, takes_columns, takes_rows};
pub use rotary::{Rotary, rotary_job};
pub use softmax::softmax_job;
#[cfg(not(target_arch = "wasm32"))]
pub use unpack::unpack_job;
#[cfg(cuda_engine)]
pub(super) use {attention_form::Form as AttentionForm, attention_launch::attention_launch};
#[cfg(cuda_engine)]
pub(super) use {
    matmul_half::half_launch,
    matmul_launch::{naive_launch, tiled_launch},
    matmul_tf32::tf32_launch,
    norm::norm_launch,
    softmax::softmax_launch,
};

/// All tensor kernels that every engine runs. [`matmul_half_job`], [`matmul_tf32_job`] and [`attention_half_job`] have
/// others, for matrix units.
pub const KERNELS: [&KernelInfo; 28] = [
    &elementwise::ELEMENTWISE,
    &elementwise::HALVES,
    &copy::COPY,
    &cast::CAST,
    &reduce::ROWS,
    &reduce::ROWS_OF_HALVES,
    &reduce::COLUMNS,
    &matmul_launch::MATMUL,
    &matmul_launch::FUSED,
    &epilogue::SUM,
    &matmul_launch::NAIVE,
    &quantized::MATMUL_QUANTIZED,
    &quantized::MATVEC_QUANTIZED,
    &quantized::MATVEC_GROUPED,
    &convolve::CONVOLVE2D,
    &softmax::SOFTMAX,
    &softmax::SOFTMAX_LONG,
    &softmax::HALVES,
    &softmax::HALVES_LONG,
    &norm::NORM,
    &norm::NORM_LONG,
    &norm::HALVES,
    &norm::HALVES_LONG,
    &rotary::ROTARY,
    &attention_launch::ATTENTION,
    &attention_launch::ATTENTION_MANY,
    &attention_launch::ATTENTION_DECODE,
    &attention_launch::MERGE,
];

/// Returns the number of bytes of a buffer of `n` elements: a positive multiple of four elements, or [`u64::MAX`] on
/// overflow.
#[must_use]
pub const fn padded_bytes(n: u64) -> u64 {
    let groups = n.div_ceil(4);
    if groups == 0 {
        return 16;
    }
    // Saturates, so that the allocation fails.
    groups.saturating_mul(16)
}

/// Returns the number of bytes of a buffer of `n` elements of a type: as many as [`padded_bytes`] returns for the words
/// that they fill.
#[must_use]
pub const fn padded_bytes_of(dtype: DType, n: u64) -> u64 {
    padded_bytes(n.div_ceil(dtype.per_word()))
}

/// Number of invocations of a workgroup for kernels without tiles, on devices that allow as many.
const THREADS: u32 = 256;

const R: Access = Access::Read;
const W: Access = Access::ReadWrite;
const U: Access = Access::Uniform;

const fn kernel(name: &'static str, wgsl: &'static str, bindings: &'static [Access]) -> KernelInfo {
    // SAFETY: no kernel of this table uses the contents of a buffer as an index. Each computes its indices from its
    // invocation and workgroup ids and from the sizes in its parameters, and returns, or clamps the index, where those
    // end. The function of the job computes the parameters and the sizes of the buffers from the same shape, none of
    // which is 0 where the kernel divides by it. Loops count to sizes. Each invocation stores its elements of workgroup
    // memory, zeros where there are none, before the barrier after which others read them.
    unsafe { KernelInfo::trusted(name, wgsl, bindings, true) }
}

/// Returns the largest power of two that is at most `n`; 1 for 0.
fn previous_power_of_two(n: u64) -> u64 {
    1 << n.max(1).ilog2()
}

/// Returns a grid of at least `n` workgroups, two-dimensional if necessary.
fn grid(n: u64) -> [u32; 3] {
    let y = n.div_ceil(MAX_GRID.into());
    [n.div_ceil(y.max(1)) as u32, y as u32, 1]
}

/// Returns the slot of a kernel's second input. Without one, the first is bound again.
fn second(is_there: bool) -> Slot {
    if is_there { Slot::B } else { Slot::A }
}

/// Alignment in elements of slices of buffers.
const SLICE: u64 = SLICE_ALIGNMENT / 4;

/// Returns the number of elements of the largest binding, limited to what kernels can index.
const fn elements_of_binding(max_binding_bytes: u64) -> u64 {
    let n = max_binding_bytes / 16 * 4;
    if n < 1 << 31 { n } else { (1 << 31) - 4 }
}

/// Returns the override of a kernel's text for 16 bits that names the type; none for f32.
fn type_override(dtype: DType) -> Option<(&'static str, u32)> {
    (dtype != DType::F32).then_some(("TO", dtype.code()))
}

/// Returns the number of elements of a type in the largest binding, limited to what kernels can index.
const fn elements_of_type(dtype: DType, max_binding_bytes: u64) -> u64 {
    let n = elements_of_binding(max_binding_bytes) * dtype.per_word();
    if n < 1 << 31 { n } else { (1 << 31) - 4 }
}

/// Returns the bytes of the largest binding all of whose elements kernels can index.
fn indexable_bytes(dtype: DType, max_binding_bytes: u64) -> u64 {
    max_binding_bytes.min((dtype.n_bytes() as u64) << 31)
}

/// Returns the number of elements that fit in a slice at any position: slices are rounded outwards to the alignment.
const fn elements_of_slice(max_binding_bytes: u64) -> u64 {
    elements_of_binding(max_binding_bytes).saturating_sub(SLICE)
}

/// Returns true if a row of a type is whole words and fits in a binding, whatever its alignment.
#[must_use]
pub const fn takes_row(cols: u64, dtype: DType, max_binding_bytes: u64) -> bool {
    let per_word = dtype.per_word();
    cols.is_multiple_of(per_word) && cols / per_word <= elements_of_slice(max_binding_bytes)
}

fn check_row(cols: u64, dtype: DType, max_binding_bytes: u64) -> Result<()> {
    if takes_row(cols, dtype, max_binding_bytes) {
        return Ok(());
    }
    if !cols.is_multiple_of(dtype.per_word()) {
        let expected = "an even number of elements of 16 bits";
        return Err(Error::invalid("cols", cols, expected));
    }
    Err(beyond_binding(
        "cols",
        cols / dtype.per_word(),
        max_binding_bytes,
    ))
}

/// Divides rows of `A` and of `Out`, `[rows, cols]` words, such that those of one launch fit in bindings. Returns for each
/// launch the number of rows, both slices, and the offset of the rows in them. A single row must fit, see
/// [`takes_row`].
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

/// Returns the number of elements from the first to the last for axes of these lengths, above 0, and strides;
/// [`u64::MAX`] on overflow.
fn span(axes: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    let axes = axes.into_iter();
    axes.fold(1, |all: u64, (n, stride)| {
        all.saturating_add((n - 1).saturating_mul(stride))
    })
}

/// Returns the number of items, at most `n`, that fit in `most` elements. They are `stride` apart and have `length`
/// elements each.
fn how_many(n: u64, stride: u64, length: u64, most: u64) -> u64 {
    match most.checked_sub(length) {
        None => 0,
        Some(rest) => rest.checked_div(stride).map_or(n, |more| n.min(more + 1)),
    }
}

/// Divides a length into parts of at most `part`; returns start and length of each.
fn parts(length: u64, part: u64) -> impl Iterator<Item = (u64, u64)> + Clone {
    (0..length.div_ceil(part)).map(move |i| (i * part, part.min(length - i * part)))
}

/// Checks sizes of a job: no length is 0, and no product reaches 2^58 elements.
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

/// Returns the error for data that exceed a binding and cannot be divided further.
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

/// Returns an aligned slice of a buffer with the words `from..to`, a multiple of four words long, and the offset of `from`
/// in it.
fn around(slot: Slot, from: u64, to: u64) -> (Arg, u64) {
    let start = from / SLICE * SLICE;
    let end = start + padded_bytes(to - start) / 4;
    (Arg::Slice(slot, 4 * start..4 * end), from - start)
}

/// Returns an aligned slice of a buffer with the elements `from..to` of a type, and the offset of `from` in it, in elements.
fn elements_around(slot: Slot, dtype: DType, from: u64, to: u64) -> (Arg, u64) {
    let per_word = dtype.per_word();
    let (slice, word) = around(slot, from / per_word, to.div_ceil(per_word));
    (slice, word * per_word + from % per_word)
}

/// Returns the words `from..to` of a buffer of `n` as a slice, or the whole buffer. `from` must be aligned.
fn part(slot: Slot, [from, to, n]: [u64; 3]) -> Arg {
    if (from, to) == (0, n) {
        return Arg::Buffer(slot);
    }
    Arg::Slice(slot, 4 * from..4 * from + padded_bytes(to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_few_excess_workgroups() {
        for n in [1, 65_535, 65_536, 1 << 20, (1 << 24) - 1] {
            let [x, y, z] = grid(n);
            assert!(x <= MAX_GRID && y <= MAX_GRID && z == 1);
            let [x, y] = [x, y].map(u64::from);
            assert!((n..n + y).contains(&(x * y)), "{n}: {x} {y}");
        }
    }

    #[test]
    fn buffers_are_whole_groups_of_four() {
        assert_eq!([0, 1, 4, 5].map(padded_bytes), [16, 16, 16, 32]);
        let of_halves = |n| padded_bytes_of(DType::F16, n);
        assert_eq!([0, 1, 8, 9].map(of_halves), [16, 16, 16, 32]);
        assert_eq!(padded_bytes_of(DType::F32, 5), 32);
        assert_eq!(padded_bytes_of(DType::BF16, u64::MAX), u64::MAX);
    }
}
