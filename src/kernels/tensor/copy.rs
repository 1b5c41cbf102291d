//! Jobs that copy strided tensors that are larger than a binding.

use super::{R, U, W, around, check_sizes, elements_of_slice, grid, kernel, padded_bytes, parts};
use super::{THREADS, beyond_binding, span};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::MAX_RANK;
use crate::{Error, Result};

pub(super) static COPY: KernelInfo = kernel("tensor_copy", shader!("tensor_copy.wgsl"), &[R, W, U]);

/// An axis of a tensor that is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyAxis {
    /// Number of elements.
    pub n: u64,
    /// Stride in the source.
    pub from: u64,
    /// Stride in the destination.
    pub to: u64,
}

/// A block of the elements that are copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Position of its first element in the source.
    pub(super) from: u64,
    /// Position of its first element in the destination.
    pub(super) to: u64,
    /// Number of elements along each axis.
    pub(super) dims: [u64; MAX_RANK],
}

/// Returns the numbers of elements from the first to the last of a block, in the source and in the destination.
pub(super) fn spans(axes: &[CopyAxis], dims: &[u64; MAX_RANK]) -> [u64; 2] {
    let along = |stride: fn(&CopyAxis) -> u64| {
        span(axes.iter().zip(dims).map(|(axis, &n)| (n, stride(axis))))
    };
    [along(|axis| axis.from), along(|axis| axis.to)]
}

/// Divides a copy from `offset` of a buffer of `n_a` elements into blocks of at most `most` elements, from the first to
/// the last, in the source and in the destination.
///
/// # Errors
/// As [`copy_job`].
pub(super) fn blocks_of(
    axes: &[CopyAxis],
    offset: u64,
    n_a: u64,
    most: [u64; 2],
) -> Result<Vec<Block>> {
    let lengths: Vec<u64> = axes.iter().map(|axis| axis.n).collect();
    check_sizes(&[&lengths, &[n_a]])?;
    let mut block = [1; MAX_RANK];
    for (n, axis) in block.iter_mut().zip(axes) {
        *n = axis.n;
    }
    let [n_from, n_out] = spans(axes, &block);
    let is_inside = offset.saturating_add(n_from) <= n_a && n_out < 1 << 58;
    if axes.len() > MAX_RANK || !is_inside {
        return Err(Error::InvalidArgument {
            name: "axes",
            value: format!("{} from {offset} to {n_from} of {n_a}", axes.len()),
            expected: "at most 8 axes, and places inside the buffer",
        });
    }
    loop {
        let [from, to] = spans(axes, &block);
        let extent = |i: usize| match (from > most[0], axes.get(i)) {
            (_, None) => 0,
            (true, Some(axis)) => (block[i] - 1) * axis.from,
            (false, Some(axis)) => (block[i] - 1) * axis.to,
        };
        if from <= most[0] && to <= most[1] {
            break;
        }
        // Halves the axis with the largest extent.
        let furthest = (0..MAX_RANK).max_by_key(|&i| extent(i)).unwrap_or(0);
        block[furthest] = block[furthest].div_ceil(2);
    }
    let mut blocks = vec![Block {
        from: offset,
        to: 0,
        dims: [1; MAX_RANK],
    }];
    for (i, axis) in axes.iter().enumerate() {
        let cut = blocks.iter().flat_map(|&whole| {
            parts(axis.n, block[i]).map(move |(first, n)| {
                let mut part = whole;
                part.dims[i] = n;
                part.from += first * axis.from;
                part.to += first * axis.to;
                part
            })
        });
        blocks = cut.collect();
    }
    Ok(blocks)
}

/// Returns the launches that copy elements of [`Slot::A`], a buffer of `n_a` elements, from `offset` on, to the start
/// of [`Slot::Out`]. Axes are innermost first; no two elements may have the same destination. Each launch copies as
/// large a block as both bindings permit.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, for more than [`MAX_RANK`] axes, and
/// for positions outside `A`.
pub fn copy_job(axes: &[CopyAxis], offset: u64, n_a: u64, limits: Limits) -> Result<Job> {
    let most = elements_of_slice(limits.binding_bytes);
    if most == 0 {
        return Err(beyond_binding("a", 1, limits.binding_bytes));
    }
    let blocks = blocks_of(axes, offset, n_a, [most; 2])?;
    let n_out = span(axes.iter().map(|axis| (axis.n, axis.to)));
    let mut launches = Vec::new();
    for Block { from, to, dims } in blocks {
        let [a_span, out_span] = spans(axes, &dims);
        let (a, from) = around(Slot::A, from, from + a_span);
        let (out, to) = around(Slot::Out, to, to + out_span);
        launches.push(launch(axes, &dims, (a, from), (out, to), limits));
    }
    Ok(Job {
        buffers: vec![
            (Slot::A, padded_bytes(n_a)),
            (Slot::Out, padded_bytes(n_out)),
        ],
        launches,
    })
}

fn launch(
    axes: &[CopyAxis],
    block: &[u64; MAX_RANK],
    a: (Arg, u64),
    out: (Arg, u64),
    limits: Limits,
) -> Launch {
    let threads = limits.width(THREADS);
    let n: u64 = block.iter().product();
    let list = |number: &dyn Fn(usize) -> u64| {
        let mut words = [0u32; MAX_RANK];
        for (i, word) in words.iter_mut().enumerate().take(axes.len()) {
            *word = number(i) as u32;
        }
        words
    };
    let mut words = [n, axes.len() as u64, a.1, out.1]
        .map(|n| n as u32)
        .to_vec();
    words.extend(list(&|i| block[i]));
    // An axis of length 1 may have any stride.
    words.extend(list(&|i| axes[i].from));
    words.extend(list(&|i| axes[i].to));
    Launch {
        kernel: &COPY,
        overrides: vec![("THREADS", threads)],
        grid: grid(n.div_ceil(threads.into())),
        args: vec![a.0, out.0, Arg::Params(words)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the launches of a job on the host.
    fn copied(job: &Job, a: &[u32], n_out: usize, most: u64) -> Vec<u32> {
        let mut out = vec![u32::MAX; n_out];
        for launch in &job.launches {
            let [Arg::Slice(_, from), Arg::Slice(_, to), Arg::Params(words)] = &launch.args[..]
            else {
                panic!("{launch:?}");
            };
            for (slice, n) in [(from, a.len()), (to, n_out)] {
                assert!(slice.start % 256 == 0 && slice.end - slice.start <= most);
                assert!(slice.end <= padded_bytes(n as u64));
            }
            for i in 0..words[0] {
                let mut rest = i;
                let mut at = [
                    from.start as u32 / 4 + words[2],
                    to.start as u32 / 4 + words[3],
                ];
                for d in 0..words[1] as usize {
                    let index = rest % words[4 + d];
                    rest /= words[4 + d];
                    at[0] += index * words[12 + d];
                    at[1] += index * words[20 + d];
                }
                assert_eq!(out[at[1] as usize], u32::MAX, "written twice");
                out[at[1] as usize] = a[at[0] as usize];
            }
        }
        out
    }

    #[test]
    fn blocks_copy_each_element_once() {
        // [30, 40, 50] with permuted axes, the last case with a repeated axis.
        for (order, repeated) in [([0, 1, 2], false), ([2, 0, 1], false), ([1, 2, 0], true)] {
            let (dims, strides) = ([30_u64, 40, 50], [2000_u64, 50, 1]);
            let mut axes = Vec::new();
            let mut n_out = 1;
            for &axis in order.iter().rev() {
                let is_first = axes.is_empty();
                axes.push(CopyAxis {
                    n: dims[axis],
                    from: if repeated && is_first {
                        0
                    } else {
                        strides[axis]
                    },
                    to: n_out,
                });
                n_out *= dims[axis];
            }
            let a: Vec<u32> = (0..60_007).collect();
            let exact: Vec<u32> = (0..n_out)
                .map(|i| {
                    let mut rest = i;
                    let mut at = 7;
                    for axis in &axes {
                        at += rest % axis.n * axis.from;
                        rest /= axis.n;
                    }
                    at as u32
                })
                .collect();
            for most in [1024, 4096, 65_536, 1 << 20] {
                let job = copy_job(&axes, 7, 60_007, Limits::of_bindings(most)).unwrap();
                assert!(
                    copied(&job, &a, n_out as usize, most) == exact,
                    "{axes:?} {most}"
                );
            }
        }
    }
}
