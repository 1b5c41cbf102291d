//! SIMD vectors of 32-bit lanes: the operations of the match finder, implemented for each instruction set.

/// Implements operations of [`Lanes`] on two vectors that are a single function each.
macro_rules! operations {
    ($($name:ident: $function:expr),* $(,)?) => {
        $(
            #[inline(always)]
            #[allow(unused_unsafe, reason = "some instruction sets are always there")]
            unsafe fn $name(self, other: Self) -> Self {
                // SAFETY: the machine has the instructions by the contract of `Lanes`; there are no pointers.
                Self(unsafe { $function(self.0, other.0) })
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
#[cfg(target_arch = "aarch64")]
pub(super) use neon::Neon;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) use portable::Portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) use simd128::Simd128;

/// A vector of [`N`](Self::N) lanes.
///
/// # Safety
/// Implementations: [`N`](Self::N) is 4, 8 or 16; [`PAIR`](Self::PAIR) has numbers below 8; functions read and write no
/// more than they document, and return the documented values, since the match finder uses them as indexes without
/// bounds checks.
///
/// Callers: the machine has the instructions of the type, and pointers are readable and writable as the functions
/// document. Pointers to `u32` and `u64` are aligned; that of [`words`](Self::words) need not be.
pub(super) unsafe trait Lanes: Copy {
    /// Lanes of a vector: 4, 8 or 16.
    const N: usize;
    /// Index of the pair of lane i of each eight after [`store_pairs`](Self::store_pairs).
    const PAIR: [usize; 8];

    /// Loads the little-endian words that start at `from` and at the `N - 1` bytes after it. Reads 16 bytes, or 24 for
    /// sixteen lanes.
    unsafe fn words(from: *const u8) -> Self;
    unsafe fn splat(value: u32) -> Self;
    /// Reads `N` lanes.
    unsafe fn load(from: *const u32) -> Self;
    /// Writes `N` lanes.
    unsafe fn store(self, to: *mut u32);
    /// Gathers the pairs of `table` at `indexes`; returns their low and their high halves.
    unsafe fn gather(table: *const u64, indexes: *const u32) -> (Self, Self);
    /// Writes `N` pairs.
    unsafe fn store_pairs(low: Self, high: Self, to: *mut u64);
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    /// The low 32 bits of each product.
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// `self & !other`.
    unsafe fn and_not(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// The larger of each two lanes, unsigned.
    unsafe fn max(self, other: Self) -> Self;
    /// Shifts right by `bits`, below 32.
    unsafe fn shift_right(self, bits: u32) -> Self;
    /// All ones in lanes that are equal, else zeros.
    unsafe fn equal(self, other: Self) -> Self;
    /// `self` in lanes where `mask` is all ones, `other` where it is zeros.
    unsafe fn select(self, other: Self, mask: Self) -> Self;
    /// Bit i is set if lane i is all ones; each lane is all ones or zeros.
    unsafe fn bits(self) -> u32;
}
