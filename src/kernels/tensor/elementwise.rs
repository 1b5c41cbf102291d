//! Element-wise operations: chains of steps on each element.

use super::{R, U, W, grid, kernel, padded_bytes, part, second};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::tensor::{MAX_RANK, Step};

pub(super) static ELEMENTWISE: KernelInfo = kernel(
    "tensor_elementwise",
    shader!("tensor_elementwise.wgsl"),
    &[R, R, W, U],
);

/// Most steps of one launch.
pub const MAX_STEPS: usize = 4;
/// Elements of a workgroup.
const BLOCK: u64 = 4096;

/// Where elements of a tensor lie: element i of axis d at `offset` plus i times `strides[d]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strided {
    /// Place of the first element.
    pub offset: u32,
    /// One for each of [`Elementwise::dims`].
    pub strides: Vec<u32>,
}

/// How a tensor lies in its buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// As the result: from the buffer's start, without gaps.
    Dense,
    /// Anyhow. Without strides: the element at the offset, again and again.
    Strided(Strided),
}

/// A chain of steps over all elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Elementwise<'a> {
    /// Elements of the result, above 0.
    pub n: u64,
    /// Lengths of the axes, innermost first, where a source is strided; at most [`MAX_RANK`].
    pub dims: &'a [u32],
    /// The first tensor.
    pub a: Source,
    /// The second one; needed if a step takes two.
    pub b: Option<Source>,
    /// At most [`MAX_STEPS`], of which at most one takes two. None copies.
    pub steps: &'a [Step],
}

/// Launches that make [`Slot::Out`] of `A` and `B`. Dense tensors may be larger than a binding; then there are several.
#[must_use]
pub fn elementwise_job(what: &Elementwise<'_>, max_binding_bytes: u64) -> Job {
    let is_one =
        |source: &Source| matches!(source, Source::Strided(strided) if strided.strides.is_empty());
    let mut sources = [Some(&what.a), what.b.as_ref()].into_iter().flatten();
    let is_dense = sources.all(|source| *source == Source::Dense || is_one(source));
    // Parts start at multiples of 256 bytes and are counted in a u32.
    let most = (max_binding_bytes / 4).clamp(BLOCK, 1 << 31) / BLOCK * BLOCK;
    let step = if is_dense { most } else { what.n };
    let mut buffers = vec![
        (Slot::A, padded_bytes(what.n)),
        (Slot::Out, padded_bytes(what.n)),
    ];
    if what.b.is_some() {
        buffers.push((Slot::B, padded_bytes(what.n)));
    }
    let mut launches = Vec::new();
    let mut from = 0;
    while from < what.n {
        let to = (from + step).min(what.n);
        launches.push(launch(what, is_dense, from, to));
        from = to;
    }
    Job { buffers, launches }
}

fn launch(what: &Elementwise<'_>, is_dense: bool, from: u64, to: u64) -> Launch {
    let layout = |source: &Source| u32::from(*source != Source::Dense);
    let mut overrides = vec![
        ("LAYOUT_A", layout(&what.a)),
        ("LAYOUT_B", what.b.as_ref().map_or(2, layout)),
    ];
    let names = ["STEP_0", "STEP_1", "STEP_2", "STEP_3"];
    let codes = what.steps.iter().map(|step| step.code());
    overrides.extend(names.into_iter().zip(codes));
    let input = |slot, source: Option<&Source>| match source {
        Some(Source::Strided(_)) => Arg::Buffer(slot),
        _ if is_dense => part(slot, from, to, what.n),
        _ => Arg::Buffer(slot),
    };
    Launch {
        kernel: &ELEMENTWISE,
        overrides,
        grid: grid((to - from).div_ceil(BLOCK)),
        args: vec![
            input(Slot::A, Some(&what.a)),
            input(second(what.b.is_some()), what.b.as_ref().or(Some(&what.a))),
            part(Slot::Out, from, to, what.n),
            Arg::Params(params(what, (to - from) as u32)),
        ],
    }
}

fn params(what: &Elementwise<'_>, n: u32) -> Vec<u32> {
    let strided = |source: Option<&Source>| match source {
        Some(Source::Strided(strided)) => strided.clone(),
        _ => Strided {
            offset: 0,
            strides: Vec::new(),
        },
    };
    let (a, b) = (strided(Some(&what.a)), strided(what.b.as_ref()));
    let mut words = vec![n, what.dims.len() as u32, a.offset, b.offset];
    for axes in [what.dims, &a.strides, &b.strides] {
        let ends_at = words.len() + MAX_RANK;
        words.extend(axes);
        words.resize(ends_at, 0);
    }
    let numbers = what.steps.iter().flat_map(|step| step.numbers());
    words.extend(numbers.map(f32::to_bits));
    words.resize(4 + 3 * MAX_RANK + 2 * MAX_STEPS, 0);
    words
}
