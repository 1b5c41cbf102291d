//! NEON, which every 64-bit ARM machine has.

use std::arch::aarch64::{
    uint32x4_t, uint32x4x2_t, vaddq_u32, vaddvq_u32, vandq_u32, vbicq_u32, vbslq_u32, vceqq_u32,
    vcombine_u64, vdupq_n_s32, vdupq_n_u32, veorq_u32, vld1_u64, vld1q_u8, vld1q_u32, vmaxq_u32,
    vmulq_u32, vorrq_u32, vqtbl1q_u8, vreinterpretq_u32_u8, vreinterpretq_u32_u64, vshlq_u32,
    vst1q_u32, vst2q_u32, vsubq_u32, vuzp1q_u32, vuzp2q_u32,
};

use super::Lanes;

/// Four lanes.
#[derive(Clone, Copy)]
pub(in super::super) struct Neon(uint32x4_t);

/// Shuffle indexes of four words that start a byte apart.
const ORDER: [u8; 16] = [0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6];
const LANE_BITS: [u32; 4] = [1, 2, 4, 8];

#[allow(
    unused_unsafe,
    reason = "some of these functions are safe where NEON is always there"
)]
// SAFETY: vectors of four lanes; each function reads and writes what `Lanes` documents, and a test compares the bytes of
// all instruction sets.
unsafe impl Lanes for Neon {
    const N: usize = 4;
    const PAIR: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    #[inline(always)]
    unsafe fn words(from: *const u8) -> Self {
        // SAFETY: 16 bytes may be read at `from` by the contract of `Lanes`.
        unsafe {
            Self(vreinterpretq_u32_u8(vqtbl1q_u8(
                vld1q_u8(from),
                vld1q_u8(ORDER.as_ptr()),
            )))
        }
    }

    #[inline(always)]
    unsafe fn splat(value: u32) -> Self {
        // SAFETY: NEON is always there.
        Self(unsafe { vdupq_n_u32(value) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: four lanes may be read at `from`, and the machine has the instructions, by the contract of `Lanes`.
        Self(unsafe { vld1q_u32(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: four lanes may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe { vst1q_u32(to, self.0) };
    }

    #[inline(always)]
    unsafe fn gather(table: *const u64, indexes: *const u32) -> (Self, Self) {
        // SAFETY: four indexes may be read, and the pairs of `table` that they name, by the contract of `Lanes`.
        unsafe {
            let pair = |i: usize| vld1_u64(table.add(indexes.add(i).read() as usize));
            let two = |i: usize| vreinterpretq_u32_u64(vcombine_u64(pair(i), pair(i + 1)));
            let (first, second) = (two(0), two(2));
            (
                Self(vuzp1q_u32(first, second)),
                Self(vuzp2q_u32(first, second)),
            )
        }
    }

    #[inline(always)]
    unsafe fn store_pairs(low: Self, high: Self, to: *mut u64) {
        // SAFETY: four pairs may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe { vst2q_u32(to.cast(), uint32x4x2_t(low.0, high.0)) };
    }

    operations! {
        add: vaddq_u32,
        sub: vsubq_u32,
        mul: vmulq_u32,
        and: vandq_u32,
        and_not: vbicq_u32,
        or: vorrq_u32,
        xor: veorq_u32,
        max: vmaxq_u32,
        equal: vceqq_u32,
    }

    #[inline(always)]
    unsafe fn shift_right(self, bits: u32) -> Self {
        // SAFETY: NEON is always there. It shifts right by a negative number of bits to the left.
        Self(unsafe { vshlq_u32(self.0, vdupq_n_s32(-(bits as i32))) })
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: Self) -> Self {
        // SAFETY: NEON is always there.
        Self(unsafe { vbslq_u32(mask.0, self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn bits(self) -> u32 {
        // SAFETY: NEON is always there; `LANE_BITS` has four lanes.
        unsafe { vaddvq_u32(vandq_u32(self.0, vld1q_u32(LANE_BITS.as_ptr()))) }
    }
}
