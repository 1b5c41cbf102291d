//! Packs numbers into blocks of the formats of [`Quantization`]; `quantized.rs` unpacks them.
//!
//! The factors of a block are searched for the least squared error. Candidates are steps whose multiples meet the extreme
//! numbers of a group; the factors that fit the rounded numbers best are solved for, rounded to the bits that the format has
//! for them, and the numbers are rounded again with what a reader will see. The order of all sums is fixed, so that a block
//! has the same bytes on every machine.

mod bytes;
mod large;
mod small;

use bytes::Bytes;
use large::Large;
use small::Small;

use super::halves::{f16_bits, f16_value};
use super::parallel::{Work, for_shares, with_vectors};
use crate::memory::zeros;
use crate::tensor::{Quantization, check_len};
use crate::{Error, Result};

/// Number of weights of a share of the work.
const SHARE: usize = 8 << 10;
/// Largest finite number of IEEE binary16, the format of factors.
const MAX_HALF: f32 = 65_504.0;
/// Least number of IEEE binary16 of 11 significant bits, 2^-14.
const MIN_NORMAL_HALF: f32 = 1.0 / (1 << 14) as f32;
/// Least positive number of IEEE binary16, 2^-24, of which the numbers below 2^-14 are multiples.
const MIN_HALF: f32 = 1.0 / (1 << 24) as f32;

/// Packs numbers into blocks, of which [`dequantize`](super::dequantize) returns them rounded. The layout is that of ggml and of GGUF
/// files. Factors are those of the least squared error that a search finds; equal numbers give equal bytes on every
/// machine.
///
/// ```
/// use pagepress::tensor::{Quantization, cpu};
/// let values: Vec<f32> = (0..256).map(|i| (i as f32 * 0.1).sin()).collect();
/// let mut blocks = [0; Quantization::Q6K.block_bytes()];
/// cpu::quantize(Quantization::Q6K, &values, &mut blocks)?;
/// let mut rounded = [0.0; 256];
/// cpu::dequantize(Quantization::Q6K, &blocks, &mut rounded)?;
/// assert!(values.iter().zip(rounded).all(|(x, y)| (x - y).abs() < 1.0 / 32.0));
/// # Ok::<(), pagepress::Error>(())
/// ```
///
/// # Errors
/// [`LengthMismatch`](Error::LengthMismatch), in bytes for `blocks`; [`InvalidArgument`](Error::InvalidArgument) if
/// `values` is not a whole number of blocks, and for the first number that is NaN or infinite or whose magnitude is above that of
/// the format: 4,126,752 for Q4_K and Q5_K, 257,000,000 for Q6_K, 8,319,008 for Q8_0, and 65,520 or more for F16. `blocks`
/// is unchanged then.
pub fn quantize(quantization: Quantization, values: &[f32], blocks: &mut [u8]) -> Result<()> {
    let (block_len, block_bytes) = (quantization.block_len(), quantization.block_bytes());
    quantization.check_row(values.len() % block_len)?;
    let n_bytes = values.len() / block_len * block_bytes;
    check_len("blocks", blocks.len(), n_bytes as u64)?;
    check_values(quantization, values)?;
    for_shares(blocks, SHARE / block_len * block_bytes, |start, blocks| {
        with_vectors(Pack {
            quantization,
            values: &values[start / block_bytes * block_len..],
            blocks,
        });
    });
    Ok(())
}

/// As [`quantize`], into new memory.
///
/// # Errors
/// As [`quantize`]; [`OutOfMemory`](Error::OutOfMemory).
pub fn quantize_to_vec(quantization: Quantization, values: &[f32]) -> Result<Vec<u8>> {
    let mut blocks = zeros(values.len() / quantization.block_len() * quantization.block_bytes())?;
    quantize(quantization, values, &mut blocks)?;
    Ok(blocks)
}

/// Checks that numbers are finite and no larger than a format holds.
fn check_values(quantization: Quantization, values: &[f32]) -> Result<()> {
    let (limit, expected) = match quantization {
        Quantization::Q4K | Quantization::Q5K => (
            63.0 * MAX_HALF,
            "a finite number, at most 4,126,752 in magnitude",
        ),
        Quantization::Q6K => (
            257_000_000.0,
            "a finite number, at most 257,000,000 in magnitude",
        ),
        Quantization::Q8_0 => (
            127.0 * MAX_HALF,
            "a finite number, at most 8,319,008 in magnitude",
        ),
        Quantization::F16 => (
            65_520f32.next_down(),
            "a finite number, less than 65,520 in magnitude",
        ),
    };
    let is_wrong = |value: &f32| value.is_nan() | (value.abs() > limit);
    // Pieces without branches inside are compared several numbers at a time.
    let mut pieces = values.chunks(1024).enumerate();
    let found = pieces.find_map(|(i, piece)| {
        if !piece.iter().fold(false, |any, value| any | is_wrong(value)) {
            return None;
        }
        Some(i * 1024 + piece.iter().position(is_wrong)?)
    });
    found.map_or(Ok(()), |at| {
        Err(Error::InvalidArgument {
            name: "values",
            value: format!("{} at index {at}", values[at]),
            expected,
        })
    })
}

/// Blocks to be packed, and at least as many numbers as they have weights.
struct Pack<'a> {
    quantization: Quantization,
    values: &'a [f32],
    blocks: &'a mut [u8],
}

/// A format of blocks.
trait Format {
    /// Packs a block. `values` and `block` must have the lengths of the format. Must be `#[inline(always)]`.
    fn pack(values: &[f32], block: &mut [u8]);
}

impl Work for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.quantization {
            Quantization::Q4K => self.each::<Small<15>>(),
            Quantization::Q5K => self.each::<Small<31>>(),
            Quantization::Q6K => self.each::<Large>(),
            Quantization::Q8_0 => self.each::<Bytes>(),
            Quantization::F16 => self.each::<Halves>(),
        }
    }
}

impl Pack<'_> {
    #[inline(always)]
    fn each<F: Format>(self) {
        let blocks = self
            .blocks
            .chunks_exact_mut(self.quantization.block_bytes());
        let values = self.values.chunks_exact(self.quantization.block_len());
        for (block, values) in blocks.zip(values) {
            F::pack(values, block);
        }
    }
}

/// Numbers that share a scale, and how much the squared error of each counts.
#[derive(Clone, Copy)]
struct Group<const N: usize> {
    values: [f32; N],
    /// Larger numbers count more, up to about `sqrt(N)` times as much as zeros.
    importance: [f32; N],
}

impl<const N: usize> Group<N> {
    /// Returns groups of the numbers of a block.
    #[inline(always)]
    fn all<const GROUPS: usize>(values: &[f32]) -> [Self; GROUPS] {
        let mut groups = [Self {
            values: [0.0; N],
            importance: [0.0; N],
        }; GROUPS];
        for (group, values) in groups.iter_mut().zip(values.chunks_exact(N)) {
            let x: [f32; N] = each(|i| values[i]);
            let mean = (sum::<N>(|i| x[i] * x[i]) / N as f32).sqrt();
            let of_mean = inverse(mean);
            group.values = x;
            group.importance = each(|i| 1.5 + x[i].abs() * of_mean);
        }
        groups
    }
}

/// Blocks of 16-bit floats.
struct Halves;

impl Format for Halves {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (halves, _) = block.as_chunks_mut::<2>();
        for (half, &value) in halves.iter_mut().zip(values) {
            *half = f16_bits(value).to_le_bytes();
        }
    }
}

/// Returns a finite number of IEEE binary16 for a factor: the nearest, but above it where the format has few digits. A factor that is
/// much too small would cut numbers off, and zero would make all weights of its block zero.
#[inline(always)]
fn half_for(factor: f32) -> f32 {
    let magnitude = factor.abs();
    let half = if magnitude < MIN_NORMAL_HALF {
        (magnitude / MIN_HALF).ceil() * MIN_HALF
    } else {
        f16_value(f16_bits(magnitude.min(MAX_HALF)))
    };
    if half > 0.0 {
        half.copysign(factor)
    } else {
        0.0
    }
}

/// Returns the sum of `of(i)` for all i below `N`.
#[inline(always)]
fn sum<const N: usize>(of: impl Fn(usize) -> f32) -> f32 {
    in_lanes::<N>(of, |a, b| a + b)
}

/// Returns the largest of `of(i)` for all i below `N`.
#[inline(always)]
fn largest<const N: usize>(of: impl Fn(usize) -> f32) -> f32 {
    in_lanes::<N>(of, |a, b| if a > b { a } else { b })
}

/// Joins `of(i)` for all i below `N`, a multiple of 8, in eight lanes.
#[inline(always)]
fn in_lanes<const N: usize>(of: impl Fn(usize) -> f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes: [f32; 8] = each(&of);
    for start in (8..N).step_by(8) {
        for (lane, joined) in lanes.iter_mut().enumerate() {
            *joined = join(*joined, of(start + lane));
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    join(join(join(a, e), join(c, g)), join(join(b, f), join(d, h)))
}

/// Returns the array of `of(i)`. Loops over it are vectorised, which `std::array::from_fn` is not always inlined for.
#[inline(always)]
fn each<T: Copy + Default, const N: usize>(of: impl Fn(usize) -> T) -> [T; N] {
    let mut all = [T::default(); N];
    for (i, one) in all.iter_mut().enumerate() {
        *one = of(i);
    }
    all
}

/// Returns the whole numbers nearest to `of(i)`, within limits.
#[inline(always)]
fn rounded<const N: usize>(of: impl Fn(usize) -> f32, low: f32, high: f32) -> [f32; N] {
    each(|i| of(i).round_ties_even().clamp(low, high))
}

/// Returns 1 / x, and zero for zero.
#[inline(always)]
fn inverse(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { 1.0 / x }
}
