//! Jobs of matrix products with quantized weights.

use super::{R, U, W, around, beyond_binding, check_sizes, elements_of_binding, elements_of_slice};
use super::{grid, how_many, kernel, padded_bytes, parts};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::ops::Quantization;

pub(super) static MATMUL_QUANTIZED: KernelInfo = kernel(
    "tensor_matmul_quantized",
    shader!("tensor_matmul_quantized.wgsl"),
    &[R, R, W, U],
);

/// Rows and columns of a workgroup's tile.
const ROWS: u64 = 32;
const COLS: u64 = 64;

/// Sizes of a part: number of rows, columns, and terms of each sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    m: u64,
    n: u64,
    k: u64,
}

/// A product of `[m, k]` and the transpose of quantized weights, `[n, k]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantizedProduct {
    /// Format of the weights.
    pub quantization: Quantization,
    /// Number of rows of the first matrix and of the product.
    pub m: u64,
    /// Number of rows of weights and of columns of the product.
    pub n: u64,
    /// Number of elements of a row, a multiple of [`Quantization::block_len`].
    pub k: u64,
}

impl QuantizedProduct {
    /// Returns the number of bytes of `n` weights, a whole number of blocks.
    const fn weight_bytes(&self, n: u64) -> u64 {
        n / self.quantization.block_len() as u64 * self.quantization.block_bytes() as u64
    }

    /// Returns the largest part that fits in slices of `most` elements; `None` if there is none.
    fn part(&self, most: u64) -> Option<Part> {
        // Weights may start at any byte of a word.
        let most_bytes = (4 * most).checked_sub(4)?;
        // 256 weights are a whole number of blocks in all formats.
        let blocks = (most / 256).min(most_bytes / self.weight_bytes(256));
        let k = self.k.min(blocks * 256);
        let weights = self.weight_bytes(k);
        let n = how_many(self.n, self.weight_bytes(self.k), weights, most_bytes).min(most);
        let m = how_many(self.m, self.k, k, most).min(how_many(self.m, self.n, n, most));
        (k.min(n).min(m) > 0).then_some(Part { m, n, k })
    }

    /// Returns the launch of a part that starts at a row, a column and a term.
    fn launch(&self, part: Part, [row, col, from]: [u64; 3], is_whole: bool) -> Launch {
        let Part { m, n, k } = part;
        let bound = |slot, from: u64, n: u64| match is_whole {
            true => (Arg::Buffer(slot), from),
            false => around(slot, from, from + n),
        };
        let (a, a_from) = bound(Slot::A, row * self.k + from, (m - 1) * self.k + k);
        let w_byte = self.weight_bytes(col * self.k + from);
        let w_bytes = self.weight_bytes((n - 1) * self.k + k) + w_byte % 4;
        let (w, w_from) = bound(Slot::B, w_byte / 4, w_bytes.div_ceil(4));
        let (c, c_from) = bound(Slot::Out, row * self.n + col, (m - 1) * self.n + n);
        let tiles_n = n.div_ceil(COLS);
        let n_tiles = tiles_n * m.div_ceil(ROWS);
        let words = [
            m,
            n,
            k,
            tiles_n,
            n_tiles,
            self.k,
            self.n,
            a_from,
            4 * w_from + w_byte % 4,
            c_from,
            0,
            0,
        ];
        Launch {
            kernel: &MATMUL_QUANTIZED,
            overrides: vec![
                ("BITS", self.quantization.bits()),
                ("ADD", (from > 0).into()),
            ],
            grid: grid(n_tiles),
            args: vec![a, w, c, Arg::Params(words.map(|n| n as u32).to_vec())],
        }
    }
}

/// Returns the launches that compute [`Slot::Out`], `[m, n]`, from `A`, `[m, k]`, and the quantized weights in `B`,
/// `[n, k]`. There are several if a buffer is larger than a binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, rows that are not a whole number of
/// blocks, and bindings of less than 256 weights.
pub fn matmul_quantized_job(what: &QuantizedProduct, max_binding_bytes: u64) -> Result<Job> {
    let QuantizedProduct {
        quantization,
        m,
        n,
        k,
    } = *what;
    check_sizes(&[&[m, k], &[n, k], &[m, n]])?;
    quantization.check_row(usize::try_from(k).unwrap_or(usize::MAX))?;
    let most = elements_of_binding(max_binding_bytes);
    let weight_bytes = what.weight_bytes(n * k).next_multiple_of(16);
    // Positions of weights are counted in bytes, in a u32.
    let is_whole = (m * k).max(m * n).max(weight_bytes / 4) <= most && weight_bytes < 1 << 32;
    let part = match is_whole {
        true => Some(Part { m, n, k }),
        false => what.part(elements_of_slice(max_binding_bytes).min((1 << 30) - 64)),
    };
    let part = part.ok_or_else(|| beyond_binding("k", 256, max_binding_bytes))?;
    let mut launches = Vec::new();
    for (row, m) in parts(m, part.m) {
        for (col, n) in parts(n, part.n) {
            for (from, k) in parts(k, part.k) {
                launches.push(what.launch(Part { m, n, k }, [row, col, from], is_whole));
            }
        }
    }
    Ok(Job {
        buffers: vec![
            (Slot::A, padded_bytes(m * k)),
            (Slot::B, weight_bytes),
            (Slot::Out, padded_bytes(m * n)),
        ],
        launches,
    })
}
