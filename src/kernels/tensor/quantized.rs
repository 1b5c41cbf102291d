//! Jobs of matrix products with quantized weights.

use super::{R, U, W, around, beyond_binding, check_sizes, elements_of_binding, elements_of_slice};
use super::{grid, how_many, kernel, padded_bytes, parts, previous_power_of_two};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Registers, Slot, pace};
use crate::ops::Quantization;

pub(super) static MATMUL_QUANTIZED: KernelInfo = kernel(
    "tensor_matmul_quantized",
    shader!("tensor_matmul_quantized.wgsl"),
    &[R, R, W, U],
);

pub(super) static MATVEC_QUANTIZED: KernelInfo = kernel(
    "tensor_matvec_quantized",
    shader!("tensor_matvec_quantized.wgsl"),
    &[R, R, W, U],
);

pub(super) static MATVEC_GROUPED: KernelInfo = kernel(
    "tensor_matvec_grouped",
    shader!("tensor_matvec_grouped.wgsl"),
    &[R, R, W, U],
);

/// Rows of a workgroup's tile.
const ROWS: u64 = 32;

/// Most rows of a product that the kernel for few rows computes: the memory bandwidth of the weights limits them.
pub const FEW_ROWS: u64 = 8;
/// Invocations of workgroups, and workgroup memory in bytes of tiles of as many; half as many invocations need less.
const THREADS: u32 = 128;
const TILE_BYTES: u32 = 12 << 10;

/// Most invocations that share columns of one row's product, and weights of each column that one multiplies in a step.
const GROUPED_WIDTH: u64 = 32;
const GROUPED_WEIGHTS: u64 = 64;
/// The bits of the float 2^23: see `lib/packed_values`.
const EXPONENT: u64 = 150 << 23;

/// Sizes of workgroups on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    /// Number of invocations.
    threads: u64,
    /// Invocations have few registers.
    has_few: bool,
}

impl Sizes {
    /// Returns the most rows of a workgroup of the kernel for few rows.
    const fn rows(self) -> u64 {
        if self.has_few { 1 } else { 4 }
    }

    /// Returns the columns of an invocation of the kernel for few rows.
    const fn cols(self) -> u64 {
        if self.has_few { 2 } else { 4 }
    }

    /// Returns true if the kernel for one row has the registers and the workgroup memory that it needs.
    fn has_grouped(self) -> bool {
        self.threads == u64::from(THREADS) && !self.has_few
    }

    fn of(limits: Limits) -> Self {
        let threads = match limits.allow(THREADS, TILE_BYTES) {
            true => THREADS,
            false => THREADS / 2,
        };
        Self {
            threads: threads.into(),
            has_few: matches!(limits.registers, Registers::Fewest | Registers::Few),
        }
    }
}

/// The kernel of a launch, with overrides and workgroups that its sizes determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Tiles of the product.
    Tiles,
    /// Few rows, `rows` per workgroup; `width` invocations share columns.
    FewRows { rows: u64, width: u64 },
    /// One row and weights in groups; `width` invocations share columns.
    Grouped { width: u64 },
}

impl Choice {
    /// Chooses for `m` rows of `k` terms. Rows of weights have `pitch` elements.
    fn of(quantization: Quantization, m: u64, k: u64, pitch: u64, sizes: Sizes) -> Self {
        // An invocation loads 16 bytes at once, or 32 packed weights.
        let at_once = match quantization {
            Quantization::F16 => 8,
            _ => 32,
        };
        if m > FEW_ROWS || !(k | pitch).is_multiple_of(at_once) {
            return Self::Tiles;
        }
        let is_grouped = matches!(quantization, Quantization::Q4K | Quantization::Q5K);
        if m == 1 && is_grouped && sizes.has_grouped() {
            let n_parts = k / GROUPED_WEIGHTS;
            return Self::Grouped {
                width: previous_power_of_two(n_parts).min(GROUPED_WIDTH),
            };
        }
        let n_loads = k / at_once;
        Self::FewRows {
            rows: m.div_ceil(m.div_ceil(sizes.rows())),
            // Two loads or more per invocation, where that leaves enough of them.
            width: (n_loads / 2).next_power_of_two().clamp(4, sizes.threads),
        }
    }

    /// Returns the rows and columns of a workgroup.
    const fn tile(self, sizes: Sizes) -> [u64; 2] {
        match self {
            Self::Tiles => [ROWS, sizes.threads / 2],
            Self::FewRows { rows, width } => [rows, sizes.cols() * (sizes.threads / width)],
            Self::Grouped { width } => [1, 4 * (sizes.threads / width)],
        }
    }

    /// Returns the number of workgroups along n and in total.
    const fn groups(self, m: u64, n: u64, sizes: Sizes) -> [u64; 2] {
        let [rows, cols] = self.tile(sizes);
        let groups_n = n.div_ceil(cols);
        [groups_n, groups_n * m.div_ceil(rows)]
    }
}

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
    /// True if the weights of [`Quantization::F16`] are bfloat16 instead.
    pub is_bfloat: bool,
    /// Number of rows of the first matrix and of the product.
    pub m: u64,
    /// Number of rows of weights and of columns of the product.
    pub n: u64,
    /// Number of elements of a row, a multiple of [`Quantization::block_len`].
    pub k: u64,
}

impl Part {
    /// Returns the part with fewer rows, whole tiles if possible, if it has more than `most_terms` multiply-adds.
    fn within(self, most_terms: u64) -> Self {
        let rows = (most_terms / self.n.saturating_mul(self.k)).max(1);
        let m = match rows {
            _ if rows >= self.m => self.m,
            _ if rows > ROWS => rows / ROWS * ROWS,
            _ => rows,
        };
        Self { m, ..self }
    }
}

impl QuantizedProduct {
    /// Returns the number of bytes of `n` weights, a whole number of blocks.
    pub(super) const fn weight_bytes(&self, n: u64) -> u64 {
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
    fn launch(
        &self,
        part: Part,
        [row, col, from]: [u64; 3],
        is_whole: bool,
        limits: Limits,
    ) -> Launch {
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
        let sizes = Sizes::of(limits);
        let choice = Choice::of(self.quantization, m, k, self.k, sizes);
        let [groups_n, n_groups] = choice.groups(m, n, sizes);
        let words = [
            m,
            n,
            k,
            groups_n,
            n_groups,
            self.k,
            self.n,
            a_from,
            4 * w_from + w_byte % 4,
            c_from,
            EXPONENT,
            0,
        ];
        let mut overrides = vec![
            ("BITS", self.quantization.bits()),
            ("ADD", (from > 0).into()),
            ("THREADS", sizes.threads as u32),
        ];
        if self.is_bfloat {
            overrides.push(("BFLOAT", 1));
        }
        let kernel = match choice {
            Choice::Tiles => {
                overrides.push(limits.registers.ahead());
                &MATMUL_QUANTIZED
            }
            Choice::FewRows { rows, width } => {
                overrides.push(("ROWS", rows as u32));
                overrides.push(("COLS", sizes.cols() as u32));
                overrides.push(("WIDTH", width as u32));
                if sizes.has_few {
                    overrides.extend([("FEW_REGISTERS", 1), limits.registers.ahead()]);
                }
                &MATVEC_QUANTIZED
            }
            Choice::Grouped { width } => {
                overrides.push(("WIDTH", width as u32));
                &MATVEC_GROUPED
            }
        };
        Launch {
            kernel,
            overrides,
            grid: grid(n_groups),
            args: vec![a, w, c, Arg::Params(words.map(|n| n as u32).to_vec())],
        }
    }
}

/// Returns the launches that compute [`Slot::Out`], `[m, n]`, from `A`, `[m, k]`, and the quantized weights in `B`,
/// `[n, k]`. There are several if a buffer is larger than a binding, and for more than `most_terms` multiply-adds.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, rows that are not a whole number of
/// blocks, and bindings of less than 256 weights.
pub fn matmul_quantized_job(what: &QuantizedProduct, limits: Limits) -> Result<Job> {
    let max_binding_bytes = limits.binding_bytes;
    let most_terms = pace::product_terms(limits.longest_submission);
    let QuantizedProduct {
        quantization,
        m,
        n,
        k,
        ..
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
    let part = part.within(most_terms);
    let mut launches = Vec::new();
    for (row, m) in parts(m, part.m) {
        for (col, n) in parts(n, part.n) {
            for (from, k) in parts(k, part.k) {
                let part = Part { m, n, k };
                launches.push(what.launch(part, [row, col, from], is_whole, limits));
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

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Sizes = Sizes {
        threads: 128,
        has_few: false,
    };
    const FEW: Limits = Limits {
        registers: Registers::Few,
        ..Limits::WEBGPU
    };

    #[test]
    fn few_rows_have_a_kernel_of_their_own() {
        let rows = |m| match Choice::of(Quantization::Q6K, m, 4096, 4096, USUAL) {
            Choice::FewRows { rows, width: 64 } => Some(rows),
            other => {
                assert_eq!(other, Choice::Tiles);
                None
            }
        };
        let found = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(rows);
        let expected = [1, 2, 3, 4, 3, 3, 4, 4].map(Some);
        assert_eq!(found[..8], expected);
        assert_eq!(found[8], None);
    }

    #[test]
    fn one_row_of_weights_in_groups_has_a_kernel_of_its_own() {
        for (k, width) in [(256, 4), (768, 8), (2048, 32), (14_336, 32)] {
            let choice = Choice::of(Quantization::Q5K, 1, k, k, USUAL);
            assert_eq!(choice, Choice::Grouped { width });
        }
        for sizes in [Limits::LEAST, FEW].map(Sizes::of) {
            let choice = Choice::of(Quantization::Q4K, 1, 4096, 4096, sizes);
            assert!(matches!(choice, Choice::FewRows { rows: 1, .. }));
        }
    }

    #[test]
    fn rows_that_are_not_whole_vectors_are_computed_in_tiles() {
        for [k, pitch] in [[4, 4], [12, 12], [256, 4100]] {
            assert_eq!(
                Choice::of(Quantization::F16, 1, k, pitch, USUAL),
                Choice::Tiles
            );
        }
        let rows = 1;
        for (k, width) in [(8, 4), (16, 4), (256, 16), (4096, 128), (131_072, 128)] {
            let expected = Choice::FewRows { rows, width };
            assert_eq!(Choice::of(Quantization::F16, 1, k, k, USUAL), expected);
        }
    }

    #[test]
    fn long_products_are_cut_into_whole_tiles_of_rows() {
        let part = Part {
            m: 300,
            n: 1000,
            k: 512,
        };
        let rows = |most_terms| part.within(most_terms).m;
        assert_eq!(rows(u64::MAX), 300);
        assert_eq!(rows(300 * 512_000), 300);
        assert_eq!(rows(300 * 512_000 - 1), 299 / ROWS * ROWS);
        assert_eq!(rows(7 * 512_000), 7);
        assert_eq!(rows(0), 1);
    }

    #[test]
    fn workgroups_cover_the_product() {
        let sizes = [(1, 1), (5, 4097), (8, 32_000), (9, 65)];
        let sizes = sizes.into_iter();
        for (limits, (m, n)) in
            sizes.flat_map(|size| [Limits::WEBGPU, Limits::LEAST, FEW].map(|limits| (limits, size)))
        {
            let sizes = Sizes::of(limits);
            let choice = Choice::of(Quantization::Q6K, m, 512, 512, sizes);
            let [groups_n, n_groups] = choice.groups(m, n, sizes);
            let [rows, cols] = choice.tile(sizes);
            assert!((n..n + cols).contains(&(groups_n * cols)));
            assert!((m..m + rows).contains(&(n_groups / groups_n * rows)));
        }
    }
}
