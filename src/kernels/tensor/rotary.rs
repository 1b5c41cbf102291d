//! Jobs of rotary positions.

use super::{
    R, SLICE, THREADS, U, W, around, beyond_binding, check_sizes, elements_of_binding,
    elements_of_slice, grid, kernel, padded_bytes, parts,
};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};

pub(super) static ROTARY: KernelInfo = kernel(
    "tensor_rotary",
    shader!("tensor_rotary.wgsl"),
    &[R, R, W, U],
);

/// Sizes of rows of heads, and their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotary {
    /// Number of rows, one per position.
    pub rows: u64,
    /// Number of heads of a row.
    pub heads: u64,
    /// Half the number of elements of a head.
    pub half: u64,
    /// Position of the first row.
    pub first: u64,
    /// Offset of the result in its buffer, in elements.
    pub to: u64,
}

impl Rotary {
    fn width(&self) -> u64 {
        self.heads * 2 * self.half
    }
}

/// Returns the launches that rotate `A`, `[rows, heads, 2 half]`, into [`Slot::Out`], with cosine and sine of each
/// position and pair in `B`. There are several if a buffer is larger than a binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for a head that is larger than a
/// binding.
pub fn rotary_job(what: &Rotary, limits: Limits) -> Result<Job> {
    let max_binding_bytes = limits.binding_bytes;
    check_sizes(&[
        &[what.rows, what.heads, 2, what.half],
        &[what.first.saturating_add(what.rows), 2, what.half],
        &[what.to.saturating_add(1)],
    ])?;
    let width = what.width();
    let n_turns = 2 * (what.first + what.rows) * what.half;
    let n_out = what.to + what.rows * width;
    let mut launches = Vec::new();
    let is_whole = n_out.max(n_turns) <= elements_of_binding(max_binding_bytes);
    if is_whole {
        let args = [Slot::A, Slot::B, Slot::Out].map(|slot| (Arg::Buffer(slot), 0));
        let [a, (turns, _), (out, _)] = args;
        let first = what.first * what.half;
        launches.push(launch(what, a, (turns, first), (out, what.to), limits));
    } else {
        let most = elements_of_slice(max_binding_bytes);
        let rows_at_once = most / width;
        // Parts of a row, if a single row does not fit.
        let (rows, heads) = match rows_at_once {
            0 => (1, most / (2 * what.half)),
            rows => (rows, what.heads),
        };
        if heads == 0 {
            return Err(beyond_binding("head_dim", 2 * what.half, max_binding_bytes));
        }
        for (row, rows) in parts(what.rows, rows) {
            for (head, heads) in parts(what.heads, heads) {
                let part = Rotary {
                    rows,
                    heads,
                    ..*what
                };
                let from = row * width + head * 2 * what.half;
                let n = rows * part.width();
                let turns_from = 2 * (what.first + row) * what.half;
                let turns = around(Slot::B, turns_from, turns_from + 2 * rows * what.half);
                let a = around(Slot::A, from, from + n);
                let out = around(Slot::Out, what.to + from, what.to + from + n);
                // The kernel counts pairs of cosine and sine.
                let turns = (turns.0, turns.1 / 2);
                launches.push(launch(&part, a, turns, out, limits));
            }
        }
    }
    Ok(Job {
        buffers: vec![
            (Slot::A, padded_bytes(what.rows * width)),
            (Slot::B, padded_bytes(n_turns)),
            (Slot::Out, padded_bytes(n_out)),
        ],
        launches,
    })
}

/// Returns one launch. `from` and `to` are elements of the arguments, `first` is a pair of `turns`.
fn launch(
    what: &Rotary,
    (a, from): (Arg, u64),
    (turns, first): (Arg, u64),
    (out, to): (Arg, u64),
    limits: Limits,
) -> Launch {
    let threads = limits.width(THREADS);
    let n = what.rows * what.heads * what.half;
    let words = [n, what.heads, what.half, first, from, to, 0, 0];
    Launch {
        kernel: &ROTARY,
        overrides: vec![("THREADS", threads)],
        grid: grid(n.div_ceil(threads.into())),
        args: vec![a, turns, out, Arg::Params(words.map(|n| n as u32).to_vec())],
    }
}

// Slices start at whole pairs of cosine and sine.
const _: () = assert!(SLICE.is_multiple_of(2));
