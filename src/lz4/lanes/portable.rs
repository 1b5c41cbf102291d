//! Plain Rust, for machines without an implementation of their own.

use super::Lanes;

/// Four lanes in an array.
#[derive(Clone, Copy)]
pub(in super::super) struct Portable([u32; 4]);

#[inline(always)]
fn zip(a: [u32; 4], b: [u32; 4], operation: impl Fn(u32, u32) -> u32) -> [u32; 4] {
    std::array::from_fn(|i| operation(a[i], b[i]))
}

// SAFETY: vectors of four lanes; each function reads and writes what `Lanes` documents, and a test compares the bytes of
// all instruction sets.
unsafe impl Lanes for Portable {
    const N: usize = 4;
    const PAIR: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    #[inline(always)]
    unsafe fn words(from: *const u8) -> Self {
        // SAFETY: 16 bytes may be read at `from` by the contract of `Lanes`.
        let bytes = unsafe { from.cast::<[u8; 8]>().read_unaligned() };
        let eight = u64::from_le_bytes(bytes);
        Self(std::array::from_fn(|i| (eight >> (8 * i)) as u32))
    }

    #[inline(always)]
    unsafe fn splat(value: u32) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: four lanes may be read at `from`, and the machine has the instructions, by the contract of `Lanes`.
        Self(unsafe { from.cast::<[u32; 4]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: four lanes may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe { to.cast::<[u32; 4]>().write(self.0) };
    }

    #[inline(always)]
    unsafe fn gather(table: *const u64, indexes: *const u32) -> (Self, Self) {
        // SAFETY: four indexes may be read, and the pairs of `table` that they name, by the contract of `Lanes`.
        let pair = |i: usize| unsafe { table.add(indexes.add(i).read() as usize).read() };
        let pairs: [u64; 4] = std::array::from_fn(pair);
        (
            Self(pairs.map(|pair| pair as u32)),
            Self(pairs.map(|pair| (pair >> 32) as u32)),
        )
    }

    #[inline(always)]
    unsafe fn store_pairs(low: Self, high: Self, to: *mut u64) {
        let pair = |i: usize| u64::from(low.0[i]) | u64::from(high.0[i]) << 32;
        // SAFETY: four pairs may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe { to.cast::<[u64; 4]>().write(std::array::from_fn(pair)) };
    }

    operations! {
        add: |a, b| zip(a, b, u32::wrapping_add),
        sub: |a, b| zip(a, b, u32::wrapping_sub),
        mul: |a, b| zip(a, b, u32::wrapping_mul),
        and: |a, b| zip(a, b, |a, b| a & b),
        and_not: |a, b| zip(a, b, |a, b| a & !b),
        or: |a, b| zip(a, b, |a, b| a | b),
        xor: |a, b| zip(a, b, |a, b| a ^ b),
        max: |a, b| zip(a, b, u32::max),
        equal: |a, b| zip(a, b, |a, b| if a == b { u32::MAX } else { 0 }),
    }

    #[inline(always)]
    unsafe fn shift_right(self, bits: u32) -> Self {
        Self(self.0.map(|lane| lane >> bits))
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: Self) -> Self {
        Self(std::array::from_fn(|i| {
            self.0[i] & mask.0[i] | other.0[i] & !mask.0[i]
        }))
    }

    #[inline(always)]
    unsafe fn bits(self) -> u32 {
        self.0[0] & 1 | self.0[1] & 2 | self.0[2] & 4 | self.0[3] & 8
    }
}
