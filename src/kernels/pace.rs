//! Bounds of the work in one launch and one submission, on devices that may be slow.
//!
//! Windows resets a GPU on which one submission runs for 2 s (`TdrDelay`), and drivers of phones have limits of that order; on all of
//! them the screen waits for a long submission. The speeds below were measured on an H200 (`benches/RESULTS.md`), and the bounds are
//! those of a device with a hundredth of them.

use std::time::Duration;

use crate::lz4::Level;

/// The time that a submission may take where nothing else is requested: half of the limit.
#[cfg(any(feature = "wgpu", test))]
pub const LONGEST_SUBMISSION: Duration = Duration::from_secs(1);

/// Largest number of small pieces of work in one submission. In a browser, where launches cost more, the device runs out of work with
/// more.
pub const MOST_JOINED: usize = if cfg!(target_arch = "wasm32") { 4 } else { 16 };

/// Ratio of an H200's speed to that of the slowest device considered.
const SLOWER: u64 = 100;

/// Multiply-adds per second of a product in f32: 36 TFLOP/s.
const PRODUCT_TERMS: u64 = 18_000_000_000_000;
/// Multiply-adds per second of attention in f32: 10 TFLOP/s.
const ATTENTION_TERMS: u64 = 5_000_000_000_000;
/// Bytes of pages per second: compressed at level Fast, at High from 4 KiB pages and from larger ones, and decompressed.
const FAST_BYTES: u64 = 190_000_000_000;
const HIGH_BYTES_OF_4K: u64 = 10_000_000_000;
const HIGH_BYTES: u64 = 5_000_000_000;
const DECOMPRESSED_BYTES: u64 = 300_000_000_000;

/// Returns the amount of work that takes `time` on a device a hundred times slower than one that does `per_second`; at least 1, and
/// [`u64::MAX`] without a bound.
fn within(time: Option<Duration>, per_second: u64) -> u64 {
    let Some(time) = time else {
        return u64::MAX;
    };
    let amount = u128::from(per_second / SLOWER).saturating_mul(time.as_nanos()) / 1_000_000_000;
    u64::try_from(amount).unwrap_or(u64::MAX).max(1)
}

/// Returns the maximum number of multiply-adds of products in one submission.
pub fn product_terms(time: Option<Duration>) -> u64 {
    within(time, PRODUCT_TERMS)
}

/// Returns the maximum number of multiply-adds of attention in one submission.
pub fn attention_terms(time: Option<Duration>) -> u64 {
    within(time, ATTENTION_TERMS)
}

/// Returns the number of multiply-adds of a product that take as long as `n` of attention.
pub const fn of_attention(n: u64) -> u64 {
    n.saturating_mul(PRODUCT_TERMS.div_ceil(ATTENTION_TERMS))
}

/// Returns the maximum bytes of pages that one submission compresses.
pub fn compressed_bytes(time: Option<Duration>, level: Level, page_size: u32) -> u64 {
    within(
        time,
        match level {
            Level::High if page_size <= 4096 => HIGH_BYTES_OF_4K,
            Level::High => HIGH_BYTES,
            Level::Fast | Level::Sequential => FAST_BYTES,
        },
    )
}

/// Returns the maximum bytes of pages that one submission decompresses.
pub fn decompressed_bytes(time: Option<Duration>) -> u64 {
    within(time, DECOMPRESSED_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_that_of_a_slow_device() {
        let second = Some(LONGEST_SUBMISSION);
        assert_eq!(product_terms(second), 180_000_000_000);
        assert_eq!(attention_terms(second), 50_000_000_000);
        assert_eq!(compressed_bytes(second, Level::Fast, 4096), 1_900_000_000);
        assert_eq!(compressed_bytes(second, Level::High, 4096), 100_000_000);
        assert_eq!(compressed_bytes(second, Level::High, 65_536), 50_000_000);
        assert_eq!(decompressed_bytes(second), 3_000_000_000);
        // A product of 8192 cubed is too long for one launch; one of 4096 cubed is not.
        assert!(product_terms(second) < 8192 * 8192 * 8192);
        assert!(product_terms(second) > 4096 * 4096 * 4096);
    }

    #[test]
    fn bounds_are_never_zero_and_absent_without_a_time() {
        assert_eq!(product_terms(Some(Duration::ZERO)), 1);
        assert_eq!(product_terms(Some(Duration::MAX)), u64::MAX);
        assert_eq!(product_terms(None), u64::MAX);
        assert_eq!(decompressed_bytes(None), u64::MAX);
        assert!(of_attention(5) >= 18 && of_attention(u64::MAX) == u64::MAX);
    }
}
