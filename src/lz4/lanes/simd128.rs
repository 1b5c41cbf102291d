//! SIMD of WebAssembly (simd128).

use std::arch::wasm32::{
    i8x16_shuffle, i32x4_add, i32x4_eq, i32x4_mul, i32x4_shuffle, i32x4_sub, u32x4_bitmask,
    u32x4_max, u32x4_shr, u32x4_splat, v128, v128_and, v128_andnot, v128_bitselect, v128_load,
    v128_load64_lane, v128_load64_zero, v128_or, v128_store, v128_xor,
};

use super::Lanes;

/// Four lanes.
#[derive(Clone, Copy)]
pub(in super::super) struct Simd128(v128);

// SAFETY: vectors of four lanes; each function reads and writes what `Lanes` documents, and a test compares the bytes of
// all instruction sets.
unsafe impl Lanes for Simd128 {
    const N: usize = 4;
    const PAIR: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    #[inline(always)]
    unsafe fn words(from: *const u8) -> Self {
        // SAFETY: 16 bytes may be read at `from` by the contract of `Lanes`.
        let bytes = unsafe { v128_load(from.cast()) };
        Self(i8x16_shuffle::<
            0,
            1,
            2,
            3,
            1,
            2,
            3,
            4,
            2,
            3,
            4,
            5,
            3,
            4,
            5,
            6,
        >(bytes, bytes))
    }

    #[inline(always)]
    unsafe fn splat(value: u32) -> Self {
        Self(u32x4_splat(value))
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: four lanes may be read at `from`, and the machine has the instructions, by the contract of `Lanes`.
        Self(unsafe { v128_load(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: four lanes may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe { v128_store(to.cast(), self.0) };
    }

    #[inline(always)]
    unsafe fn gather(table: *const u64, indexes: *const u32) -> (Self, Self) {
        // SAFETY: four indexes may be read, and the pairs of `table` that they name, by the contract of `Lanes`.
        let (first, second) = unsafe {
            let pair = |i: usize| table.add(indexes.add(i).read() as usize);
            let two = |i: usize| v128_load64_lane::<1>(v128_load64_zero(pair(i)), pair(i + 1));
            (two(0), two(2))
        };
        (
            Self(i32x4_shuffle::<0, 2, 4, 6>(first, second)),
            Self(i32x4_shuffle::<1, 3, 5, 7>(first, second)),
        )
    }

    #[inline(always)]
    unsafe fn store_pairs(low: Self, high: Self, to: *mut u64) {
        // SAFETY: four pairs may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe {
            v128_store(to.cast(), i32x4_shuffle::<0, 4, 1, 5>(low.0, high.0));
            v128_store(to.add(2).cast(), i32x4_shuffle::<2, 6, 3, 7>(low.0, high.0));
        }
    }

    operations! {
        add: i32x4_add,
        sub: i32x4_sub,
        mul: i32x4_mul,
        and: v128_and,
        and_not: v128_andnot,
        or: v128_or,
        xor: v128_xor,
        max: u32x4_max,
        equal: i32x4_eq,
    }

    #[inline(always)]
    unsafe fn shift_right(self, bits: u32) -> Self {
        Self(u32x4_shr(self.0, bits))
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: Self) -> Self {
        Self(v128_bitselect(self.0, other.0, mask.0))
    }

    #[inline(always)]
    unsafe fn bits(self) -> u32 {
        u32::from(u32x4_bitmask(self.0))
    }
}
