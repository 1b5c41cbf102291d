//! Jobs of element-wise operations: chains of steps on each element.

use super::{
    R, SLICE, U, W, beyond_binding, check_sizes, elements_around, elements_of_slice,
    elements_of_type,
};
use super::{
    THREADS, grid, how_many, kernel, padded_bytes_of, part, parts, second, span, type_override,
};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::{DType, MAX_RANK, Step};
use crate::{Error, Result};

pub(super) static ELEMENTWISE: KernelInfo = kernel(
    "tensor_elementwise",
    shader!("tensor_elementwise.wgsl"),
    &[R, R, W, U],
);
pub(super) static HALVES: KernelInfo = kernel(
    "tensor_elementwise",
    shader!("tensor_elementwise.halves.wgsl"),
    &[R, R, W, U],
);

/// Maximum number of steps of one launch.
pub const MAX_STEPS: usize = 4;
/// Number of elements of an invocation.
const ITEMS: u64 = 16;
/// Unit of the lengths of parts, in elements.
const BLOCK: u64 = 4096;

/// Layout of a strided tensor: element i of axis d is at `offset` plus i times `strides[d]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strided {
    /// Position of the first element.
    pub offset: u64,
    /// One stride for each of [`Elementwise::dims`]; none to repeat the element at `offset`.
    pub strides: Vec<u64>,
    /// Number of elements of the buffer.
    pub n: u64,
}

impl Strided {
    /// Returns the layout from element `from` of the outermost axis on.
    fn from(&self, from: u64) -> Self {
        let outermost = self.strides.last().copied().unwrap_or(0);
        Self {
            offset: self.offset + from * outermost,
            ..self.clone()
        }
    }
}

/// Layout of a tensor in its buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Contiguous from the buffer's start, in the order of the result.
    Dense,
    /// Strided. Without strides, the element at the offset is repeated.
    Strided(Strided),
}

/// A chain of steps on all elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Elementwise<'a> {
    /// Number of elements of the result, above 0.
    pub n: u64,
    /// Lengths of the axes, innermost first, if a source is strided; at most [`MAX_RANK`].
    pub dims: &'a [u64],
    /// The first tensor.
    pub a: Source,
    /// The second tensor, required if a step has two operands.
    pub b: Option<Source>,
    /// Type of all tensors.
    pub dtype: DType,
    /// At most `MAX_STEPS` steps, of which at most one has two operands. Without steps, `a` is copied.
    pub steps: &'a [Step],
}

impl Elementwise<'_> {
    fn sources(&self) -> impl Iterator<Item = &Source> {
        [Some(&self.a), self.b.as_ref()].into_iter().flatten()
    }

    fn strided(&self) -> impl Iterator<Item = &Strided> {
        self.sources().filter_map(|source| match source {
            Source::Strided(strided) => Some(strided),
            Source::Dense => None,
        })
    }

    /// Returns true if no source is strided.
    fn is_dense(&self) -> bool {
        self.strided().all(|strided| strided.strides.is_empty())
    }

    /// Returns the number of elements from the first to the last of `rows` of the outermost axis.
    fn span_of(&self, strided: &Strided, rows: u64) -> u64 {
        let (_, inner) = self.dims.split_last().unwrap_or((&1, &[]));
        let lengths = inner.iter().copied().chain([rows]);
        span(lengths.zip(strided.strides.iter().copied()))
    }

    /// Returns the number of elements of the outermost axis per launch: all if whole buffers fit in bindings, otherwise
    /// a number such that parts of the result start at aligned offsets; 0 if not even these fit, or for 16 bits.
    fn rows_at_once(&self, max_binding_bytes: u64) -> u64 {
        let Some((&rows, inner)) = self.dims.split_last() else {
            return 1;
        };
        if self.dtype != DType::F32 {
            return 0;
        }
        let most = elements_of_slice(max_binding_bytes);
        let length: u64 = inner.iter().product();
        let fitting = self.strided().map(|strided| {
            let stride = strided.strides.last().copied().unwrap_or(0);
            how_many(rows, stride, self.span_of(strided, 1), most)
        });
        let fitting = fitting.fold(how_many(rows, length, length, most), u64::min);
        // The smallest number of rows whose length is a multiple of the slice alignment.
        let unit = SLICE >> length.trailing_zeros().min(SLICE.ilog2());
        match fitting {
            _ if fitting == rows => rows,
            _ => fitting / unit * unit,
        }
    }

    /// Returns true if the sources can be launched on. Otherwise strided tensors must be copied first, or converted to f32.
    #[must_use]
    pub fn fits(&self, max_binding_bytes: u64) -> bool {
        self.is_dense()
            || self.is_whole(max_binding_bytes)
            || self.rows_at_once(max_binding_bytes) > 0
    }

    /// Returns true if whole buffers fit in bindings.
    fn is_whole(&self, max_binding_bytes: u64) -> bool {
        let most = elements_of_type(self.dtype, max_binding_bytes);
        self.n <= most && self.strided().all(|strided| strided.n <= most)
    }

    fn check(&self) -> Result<()> {
        check_sizes(&[&[self.n]])?;
        let strided: Vec<&Strided> = self.strided().collect();
        let rank = self.dims.len();
        if !self.is_dense() {
            check_sizes(&[self.dims])?;
        }
        let is_right = |strided: &&Strided| {
            let is_one = strided.strides.is_empty();
            let rows = self.dims.last().copied().unwrap_or(1);
            let span = if is_one {
                1
            } else {
                self.span_of(strided, rows)
            };
            (is_one || strided.strides.len() == rank)
                && strided.offset.saturating_add(span) <= strided.n
        };
        let takes_two = self.steps.iter().filter(|step| step.takes_two()).count();
        let is_right = strided.iter().all(is_right)
            && (self.is_dense() || self.dims.iter().product::<u64>() == self.n)
            && rank <= MAX_RANK
            && self.steps.len() <= MAX_STEPS
            && takes_two <= usize::from(self.b.is_some());
        match is_right {
            true => Ok(()),
            false => Err(Error::InvalidArgument {
                name: "elementwise",
                value: format!(
                    "{} elements, {rank} axes, {} steps",
                    self.n,
                    self.steps.len()
                ),
                expected: "places inside buffers, at most 8 axes whose product is n, and at most 4 steps, one of two tensors",
            }),
        }
    }
}

/// Returns the launches that compute [`Slot::Out`] from `A` and `B`. There are several if a buffer is larger than a
/// binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for no elements, for positions outside a buffer, for too
/// many axes or steps, and for strided tensors for which [`Elementwise::fits`] is false.
pub fn elementwise_job(what: &Elementwise<'_>, limits: Limits) -> Result<Job> {
    what.check()?;
    let max_binding_bytes = limits.binding_bytes;
    let n_of = |source: &Source| match source {
        Source::Dense => what.n,
        Source::Strided(strided) => strided.n,
    };
    let n_bytes = |n| padded_bytes_of(what.dtype, n);
    let mut buffers = vec![
        (Slot::A, n_bytes(n_of(&what.a))),
        (Slot::Out, n_bytes(what.n)),
    ];
    buffers.extend(what.b.iter().map(|b| (Slot::B, n_bytes(n_of(b)))));
    let most = elements_of_type(what.dtype, max_binding_bytes);
    let mut launches = Vec::new();
    if what.is_dense() {
        // Parts start at multiples of 256 bytes, and their lengths fit in a u32.
        let step = most.max(BLOCK) / BLOCK * BLOCK;
        let mut from = 0;
        while from < what.n {
            let to = (from + step).min(what.n);
            launches.push(launch(what, [from, to], limits));
            from = to;
        }
        return Ok(Job { buffers, launches });
    }
    let rows = what.dims.last().copied().unwrap_or(1);
    let at_once = match what.is_whole(max_binding_bytes) {
        true => rows,
        false => what.rows_at_once(max_binding_bytes),
    };
    if at_once == 0 {
        let widest = what.strided().map(|strided| what.span_of(strided, rows));
        let widest = widest.max().unwrap_or(0);
        return Err(beyond_binding("a", widest, max_binding_bytes));
    }
    let length = what.n / rows;
    for (row, n) in parts(rows, at_once) {
        let mut dims = what.dims.to_vec();
        if let Some(outermost) = dims.last_mut() {
            *outermost = n;
        }
        let source = |source: &Source| match source {
            Source::Dense => Source::Dense,
            Source::Strided(strided) => Source::Strided(strided.from(row)),
        };
        let part = Elementwise {
            dims: &dims,
            a: source(&what.a),
            b: what.b.as_ref().map(source),
            ..*what
        };
        launches.push(launch(&part, [row * length, (row + n) * length], limits));
    }
    Ok(Job { buffers, launches })
}

/// Returns the launch that computes elements `from..to` of the `n` of the result. Axes, strides and offsets are those
/// of the part.
fn launch(what: &Elementwise<'_>, [from, to]: [u64; 2], limits: Limits) -> Launch {
    let most = elements_of_type(what.dtype, limits.binding_bytes);
    let threads = limits.width(THREADS);
    let layout = |source: &Source| u32::from(*source != Source::Dense);
    let mut overrides = vec![
        ("THREADS", threads),
        ("LAYOUT_A", layout(&what.a)),
        ("LAYOUT_B", what.b.as_ref().map_or(2, layout)),
    ];
    // The indices of strided elements take registers.
    let mut sources = [Some(&what.a), what.b.as_ref()].into_iter().flatten();
    if sources.any(|source| *source != Source::Dense) {
        overrides.push(limits.registers.ahead());
    }
    overrides.extend(type_override(what.dtype));
    let names = ["STEP_0", "STEP_1", "STEP_2", "STEP_3"];
    let codes = what.steps.iter().map(|step| step.code());
    overrides.extend(names.into_iter().zip(codes));
    let per_word = what.dtype.per_word();
    let dense = |slot| {
        let words = [from, to, what.n].map(|n| n.div_ceil(per_word));
        part(slot, words)
    };
    // The binding of a source and, if it is strided, its layout relative to the binding.
    let input = |slot, source: &Source| match source {
        Source::Dense => (dense(slot), None),
        Source::Strided(strided) if strided.n <= most => (Arg::Buffer(slot), Some(strided.clone())),
        Source::Strided(strided) => {
            let rows = what.dims.last().copied().unwrap_or(1);
            let end = strided.offset + what.span_of(strided, rows);
            let (arg, offset) = elements_around(slot, what.dtype, strided.offset, end);
            let strided = Strided {
                offset,
                ..strided.clone()
            };
            (arg, Some(strided))
        }
    };
    let (a, a_strided) = input(Slot::A, &what.a);
    let (b, b_strided) = match &what.b {
        Some(b) => input(second(true), b),
        None => (a.clone(), None),
    };
    let n = (to - from) as u32;
    Launch {
        kernel: match what.dtype {
            DType::F32 => &ELEMENTWISE,
            DType::F16 | DType::BF16 => &HALVES,
        },
        overrides,
        grid: grid((to - from).div_ceil(ITEMS * u64::from(threads))),
        args: vec![
            a,
            b,
            dense(Slot::Out),
            Arg::Params(params(what, [a_strided, b_strided], n)),
        ],
    }
}

fn params(what: &Elementwise<'_>, sources: [Option<Strided>; 2], n: u32) -> Vec<u32> {
    let [a, b] = sources.map(|strided| {
        let none = Strided {
            offset: 0,
            strides: Vec::new(),
            n: 0,
        };
        strided.unwrap_or(none)
    });
    let rank = what.dims.len() as u32;
    let mut words = vec![n, rank, a.offset as u32, b.offset as u32];
    // An axis of length 1 may have any stride.
    for axes in [what.dims, &a.strides, &b.strides] {
        let ends_at = words.len() + MAX_RANK;
        words.extend(axes.iter().map(|&n| n as u32));
        words.resize(ends_at, 0);
    }
    let numbers = what.steps.iter().flat_map(|step| step.numbers());
    words.extend(numbers.map(f32::to_bits));
    words.resize(4 + 3 * MAX_RANK + 2 * MAX_STEPS, 0);
    words
}
