//! AVX2, for x86-64 machines that have it.

use std::arch::x86_64::{
    __m256i, _mm_castsi128_pd, _mm_cvtsi32_si128, _mm_loadh_pd, _mm_loadl_epi64, _mm_loadu_si128,
    _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_castpd_ps, _mm256_castpd128_pd256, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_insertf128_pd, _mm256_loadu_si256,
    _mm256_max_epu32, _mm256_movemask_ps, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_shuffle_ps, _mm256_srl_epi32,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm256_unpackhi_epi32, _mm256_unpacklo_epi32,
    _mm256_xor_si256,
};

use super::Lanes;

/// Eight lanes.
#[derive(Clone, Copy)]
pub(in super::super) struct Avx2(__m256i);

// SAFETY: vectors of eight lanes; each function reads and writes what `Lanes` documents, and a test compares the bytes of
// all instruction sets.
unsafe impl Lanes for Avx2 {
    const N: usize = 8;
    // Unpacking and shuffling stay within halves of four lanes.
    const PAIR: [usize; 8] = [0, 1, 4, 5, 2, 3, 6, 7];

    #[inline(always)]
    unsafe fn words(from: *const u8) -> Self {
        // SAFETY: 16 bytes may be read at `from`, and the machine has AVX2, by the contract of `Lanes`.
        unsafe {
            let bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()));
            let order = _mm256_setr_epi8(
                0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6, //
                4, 5, 6, 7, 5, 6, 7, 8, 6, 7, 8, 9, 7, 8, 9, 10,
            );
            Self(_mm256_shuffle_epi8(bytes, order))
        }
    }

    #[inline(always)]
    unsafe fn splat(value: u32) -> Self {
        // SAFETY: the machine has AVX2 by the contract of `Lanes`.
        Self(unsafe { _mm256_set1_epi32(value as i32) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: eight lanes may be read at `from`, and the machine has the instructions, by the contract of `Lanes`.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: eight lanes may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) };
    }

    // Measured on Zen 4: scalar loads are no slower than a gather instruction.
    #[inline(always)]
    unsafe fn gather(table: *const u64, indexes: *const u32) -> (Self, Self) {
        // SAFETY: eight indexes may be read, and the pairs of `table` that they name, by the contract of `Lanes`.
        unsafe {
            // Read from memory, not extracted from the vector register, which is slower.
            let pair = |i: usize| table.add(indexes.add(i).read() as usize);
            let two = |i: usize| {
                let low = _mm_castsi128_pd(_mm_loadl_epi64(pair(i).cast()));
                _mm_loadh_pd(low, pair(i + 1).cast())
            };
            let four = |i: usize, j: usize| {
                _mm256_castpd_ps(_mm256_insertf128_pd::<1>(
                    _mm256_castpd128_pd256(two(i)),
                    two(j),
                ))
            };
            let (first, second) = (four(0, 4), four(2, 6));
            (
                Self(_mm256_castps_si256(_mm256_shuffle_ps::<0x88>(
                    first, second,
                ))),
                Self(_mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(
                    first, second,
                ))),
            )
        }
    }

    #[inline(always)]
    unsafe fn store_pairs(low: Self, high: Self, to: *mut u64) {
        // SAFETY: eight pairs may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe {
            _mm256_storeu_si256(to.cast(), _mm256_unpacklo_epi32(low.0, high.0));
            _mm256_storeu_si256(to.add(4).cast(), _mm256_unpackhi_epi32(low.0, high.0));
        }
    }

    operations! {
        add: _mm256_add_epi32,
        sub: _mm256_sub_epi32,
        mul: _mm256_mullo_epi32,
        and: _mm256_and_si256,
        and_not: |a, b| _mm256_andnot_si256(b, a),
        or: _mm256_or_si256,
        xor: _mm256_xor_si256,
        max: _mm256_max_epu32,
        equal: _mm256_cmpeq_epi32,
    }

    #[inline(always)]
    unsafe fn shift_right(self, bits: u32) -> Self {
        // SAFETY: the machine has AVX2 by the contract of `Lanes`.
        Self(unsafe { _mm256_srl_epi32(self.0, _mm_cvtsi32_si128(bits as i32)) })
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: Self) -> Self {
        // SAFETY: the machine has AVX2 by the contract of `Lanes`.
        Self(unsafe { _mm256_blendv_epi8(other.0, self.0, mask.0) })
    }

    #[inline(always)]
    unsafe fn bits(self) -> u32 {
        // SAFETY: the machine has AVX2 by the contract of `Lanes`.
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(self.0)) as u32 }
    }
}
