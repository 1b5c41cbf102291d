//! Jobs that convert elements of strided tensors to another type.

use super::copy::{Block, blocks_of, spans};
use super::{CopyAxis, R, SLICE, U, W, around, beyond_binding, check_sizes};
use super::{THREADS, grid, kernel, padded_bytes_of, parts, span};
use super::{elements_around, elements_of_slice};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::{DType, MAX_RANK};
use crate::{Error, Result};

pub(super) static CAST: KernelInfo = kernel("tensor_cast", shader!("tensor_cast.wgsl"), &[R, W, U]);

/// A conversion of the elements of a strided tensor. The result is contiguous, in the order of the axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cast {
    /// Number of elements and stride of each axis, innermost first.
    pub axes: Vec<(u64, u64)>,
    /// Position of the first element.
    pub offset: u64,
    /// Type of the elements.
    pub from: DType,
    /// Type of the elements of the result.
    pub to: DType,
}

impl Cast {
    fn n(&self) -> u64 {
        self.axes.iter().map(|&(n, _)| n).product()
    }

    fn is_dense(&self) -> bool {
        matches!(self.axes[..], [] | [(_, 1)])
    }

    /// Returns the axes with the strides of the result.
    fn copied_axes(&self) -> Vec<CopyAxis> {
        let mut to = 1;
        let axes = self.axes.iter().map(|&(n, from)| {
            let axis = CopyAxis { n, from, to };
            to *= n;
            axis
        });
        axes.collect()
    }

    /// Returns true if [`cast_job`] supports the conversion. Rounding to 16 bits, which stores two elements at once,
    /// needs elements that are contiguous or lie in one binding.
    #[must_use]
    pub fn fits(&self, max_binding_bytes: u64) -> bool {
        let in_binding = span(self.axes.iter().copied())
            <= elements_of_source(self.from, max_binding_bytes)
            && u32::try_from(self.n()).is_ok();
        self.to == DType::F32 || self.is_dense() || in_binding
    }
}

/// Returns the number of elements that fit in a slice at any position.
const fn elements_of_source(dtype: DType, max_binding_bytes: u64) -> u64 {
    let n_words = elements_of_slice(max_binding_bytes);
    match dtype {
        DType::F32 => n_words,
        // The first and the last may share words with others.
        _ => 2 * n_words.saturating_sub(1),
    }
}

/// Returns the launches that convert elements of [`Slot::A`] to the start of [`Slot::Out`].
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, for more than [`MAX_RANK`] axes, and for
/// conversions for which [`Cast::fits`] is false.
pub fn cast_job(what: &Cast, limits: Limits) -> Result<Job> {
    let max_binding_bytes = limits.binding_bytes;
    let lengths: Vec<u64> = what.axes.iter().map(|&(n, _)| n).collect();
    check_sizes(&[&lengths])?;
    let end = what.offset.saturating_add(span(what.axes.iter().copied()));
    if what.axes.len() > MAX_RANK || end >= 1 << 58 {
        return Err(Error::InvalidArgument {
            name: "axes",
            value: format!("{:?} from {}", what.axes, what.offset),
            expected: "at most 8 axes, and places that fit in memory",
        });
    }
    let most = elements_of_source(what.from, max_binding_bytes);
    if most < 2 * SLICE || !what.fits(max_binding_bytes) {
        return Err(beyond_binding("a", end - what.offset, max_binding_bytes));
    }
    let launches = match what.to {
        DType::F32 => widening(what, end, limits)?,
        _ => rounding(what, limits),
    };
    Ok(Job {
        buffers: vec![
            (Slot::A, padded_bytes_of(what.from, end)),
            (Slot::Out, padded_bytes_of(what.to, what.n())),
        ],
        launches,
    })
}

/// Returns the launches that write f32: one for each block that fits in bindings.
fn widening(what: &Cast, end: u64, limits: Limits) -> Result<Vec<Launch>> {
    let axes = what.copied_axes();
    let most = [what.from, DType::F32].map(|dtype| elements_of_source(dtype, limits.binding_bytes));
    let blocks = blocks_of(&axes, what.offset, end, most)?;
    let launches = blocks.into_iter().map(|Block { from, to, dims }| {
        let [a_span, out_span] = spans(&axes, &dims);
        let n = dims.iter().product();
        let part = Part {
            axes: axes
                .iter()
                .zip(dims)
                .map(|(&axis, n)| CopyAxis { n, ..axis })
                .collect(),
            n_words: n,
            elements: [0, n],
            a: elements_around(Slot::A, what.from, from, from + a_span),
            out: around(Slot::Out, to, to + out_span),
        };
        launch(what, part, limits)
    });
    Ok(launches.collect())
}

/// Returns the launches that write elements of 16 bits: one for each range of the result. Ranges start at multiples of
/// the alignment of bindings.
fn rounding(what: &Cast, limits: Limits) -> Vec<Launch> {
    let n = what.n();
    let wider = if what.from == DType::F32 {
        what.from
    } else {
        what.to
    };
    let at_once = elements_of_source(wider, limits.binding_bytes) / (2 * SLICE) * (2 * SLICE);
    let axes: Vec<CopyAxis> = what
        .axes
        .iter()
        .map(|&(n, from)| CopyAxis { n, from, to: 0 })
        .collect();
    let launches = parts(n, at_once).map(|(first, length)| {
        let (start, elements, span) = match what.is_dense() {
            true => (what.offset + first, [0, length], length),
            false => (
                what.offset,
                [first, first + length],
                span(what.axes.iter().copied()),
            ),
        };
        let n_words = length.div_ceil(2);
        let part = Part {
            axes: axes.clone(),
            n_words,
            elements,
            a: elements_around(Slot::A, what.from, start, start + span),
            out: around(Slot::Out, first / 2, first / 2 + n_words),
        };
        launch(what, part, limits)
    });
    launches.collect()
}

/// A part of a conversion, for one launch.
struct Part {
    axes: Vec<CopyAxis>,
    /// Number of words that it writes.
    n_words: u64,
    /// First and end of its elements, in the order of the axes.
    elements: [u64; 2],
    /// Slices of both buffers, and the positions in them at which the axes start.
    a: (Arg, u64),
    out: (Arg, u64),
}

fn launch(what: &Cast, part: Part, limits: Limits) -> Launch {
    let threads = limits.width(THREADS);
    let [first, end] = part.elements;
    let mut words: Vec<u32> = [
        part.n_words,
        part.axes.len() as u64,
        first,
        end,
        part.a.1,
        part.out.1,
        0,
        0,
    ]
    .map(|n| n as u32)
    .to_vec();
    // An axis of length 1 may have any stride.
    let numbers: [fn(&CopyAxis) -> u64; 3] = [|axis| axis.n, |axis| axis.from, |axis| axis.to];
    for number in numbers {
        let ends_at = words.len() + MAX_RANK;
        words.extend(part.axes.iter().map(|axis| number(axis) as u32));
        words.resize(ends_at, 0);
    }
    Launch {
        kernel: &CAST,
        overrides: vec![
            ("THREADS", threads),
            ("FROM", what.from.code()),
            ("TO", what.to.code()),
        ],
        grid: grid(part.n_words.div_ceil(threads.into())),
        args: vec![part.a.0, part.out.0, Arg::Params(words)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the launches of a job on the host, where the number of an element is its position. Returns the positions
    /// that each element of the result comes from; `u64::MAX` where nothing was written.
    fn cast(what: &Cast, n_a: u64, most: u64) -> Vec<u64> {
        let job = cast_job(what, Limits::of_bindings(most)).unwrap();
        let n_out = job.buffers[1].1 / what.to.n_bytes() as u64;
        let mut out = vec![u64::MAX; n_out as usize];
        for launch in &job.launches {
            let [
                Arg::Slice(Slot::A, from),
                Arg::Slice(Slot::Out, to),
                Arg::Params(words),
            ] = &launch.args[..]
            else {
                panic!("{launch:?}");
            };
            for (slice, (_, n_bytes)) in [from, to].into_iter().zip(&job.buffers) {
                assert!(slice.start % 256 == 0 && slice.end - slice.start <= most);
                assert!(slice.end <= *n_bytes, "{slice:?} {n_bytes}");
            }
            let words: Vec<u64> = words.iter().map(|&word| word.into()).collect();
            let place = |element: u64| {
                let (mut rest, mut at) = (element, [words[4], words[5]]);
                for d in 0..words[1] as usize {
                    let index = rest % words[8 + d];
                    rest /= words[8 + d];
                    at[0] += index * words[16 + d];
                    at[1] += index * words[24 + d];
                }
                assert_eq!(rest, 0);
                at
            };
            let [first_a, first_out] = [(what.from, from), (what.to, to)]
                .map(|(dtype, slice)| slice.start / dtype.n_bytes() as u64);
            for word in 0..words[0] {
                let per_word = what.to.per_word();
                for element in
                    words[2] + per_word * word..words[3].min(words[2] + per_word * (word + 1))
                {
                    let [a, mut at] = place(element);
                    if what.to != DType::F32 {
                        at = element - words[2];
                    }
                    assert!(at < (to.end - to.start) / what.to.n_bytes() as u64);
                    assert!(
                        first_a + a < n_a
                            && a < (from.end - from.start) / what.from.n_bytes() as u64
                    );
                    let place = &mut out[(first_out + at) as usize];
                    assert_eq!(*place, u64::MAX, "written twice");
                    *place = first_a + a;
                }
            }
        }
        out
    }

    #[test]
    fn each_element_is_converted_once() {
        let types = [DType::F32, DType::F16, DType::BF16];
        let pairs = types
            .into_iter()
            .flat_map(|from| types.map(|to| (from, to)));
        for (from, to) in pairs {
            for axes in [
                vec![],
                vec![(60_001, 1)],
                vec![(31, 41), (41, 1)],
                vec![(41, 1), (7, 0), (31, 43)],
                vec![(301, 1), (101, 305), (2, 0)],
                vec![(201, 301), (301, 1)],
            ] {
                let what = Cast {
                    axes,
                    offset: 7,
                    from,
                    to,
                };
                let n_a = 7 + span(what.axes.iter().copied());
                for most in [1024, 4096, 65_536, 1 << 20] {
                    if !what.fits(most) {
                        assert!(cast_job(&what, Limits::of_bindings(most)).is_err());
                        continue;
                    }
                    let found = cast(&what, n_a, most);
                    let n = what.n();
                    let exact = (0..n).map(|i| {
                        let (mut rest, mut at) = (i, what.offset);
                        for &(n, stride) in &what.axes {
                            at += rest % n * stride;
                            rest /= n;
                        }
                        at
                    });
                    assert!(
                        exact.eq(found[..n as usize].iter().copied()),
                        "{what:?} {most}"
                    );
                }
            }
        }
    }

    #[test]
    fn sizes_beyond_memory_are_typed_errors() {
        for (axes, offset) in [
            (vec![(0, 1)], 0),
            (vec![(1 << 40, 1), (1 << 40, 1)], 0),
            (vec![(2, u64::MAX)], 0),
            (vec![(2, 1)], u64::MAX),
            (vec![(1, 1); 9], 0),
        ] {
            let what = Cast {
                axes,
                offset,
                from: DType::F16,
                to: DType::F32,
            };
            assert!(cast_job(&what, Limits::WEBGPU).is_err(), "{what:?}");
        }
    }
}
