//! AVX-512, for x86-64 machines that have it.

use std::arch::x86_64::{
    __m128d, __m256d, __m512i, _mm_castsi128_pd, _mm_cvtsi32_si128, _mm_loadh_pd, _mm_loadl_epi64,
    _mm_loadu_si128, _mm256_broadcastsi128_si256, _mm256_castpd128_pd256, _mm256_insertf128_pd,
    _mm512_add_epi32, _mm512_and_si512, _mm512_andnot_si512, _mm512_castpd_si512,
    _mm512_castpd256_pd512, _mm512_castsi256_si512, _mm512_cmpeq_epi32_mask, _mm512_insertf64x4,
    _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_blend_epi32, _mm512_max_epu32,
    _mm512_movepi32_mask, _mm512_movm_epi32, _mm512_mullo_epi32, _mm512_or_si512,
    _mm512_permutex2var_epi32, _mm512_set1_epi32, _mm512_setr_epi32, _mm512_shuffle_epi8,
    _mm512_srl_epi32, _mm512_storeu_si512, _mm512_sub_epi32, _mm512_xor_si512,
};

use super::Lanes;

/// Sixteen lanes.
#[derive(Clone, Copy)]
pub(in super::super) struct Avx512(__m512i);

// SAFETY: vectors of sixteen lanes; each function reads and writes what `Lanes` documents, and a test compares the bytes of
// all instruction sets.
unsafe impl Lanes for Avx512 {
    const N: usize = 16;
    const PAIR: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    #[inline(always)]
    unsafe fn words(from: *const u8) -> Self {
        // SAFETY: 24 bytes may be read at `from`, and the machine has AVX-512, by the contract of `Lanes`.
        unsafe {
            let low = _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()));
            let high = _mm256_broadcastsi128_si256(_mm_loadu_si128(from.add(8).cast()));
            let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
            let four = |i: i32| 0x0302_0100 + 0x0101_0101 * i;
            let (a, b, c, d) = (four(0), four(1), four(2), four(3));
            let (e, f, g, h) = (four(4), four(5), four(6), four(7));
            let order = _mm512_setr_epi32(a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h);
            Self(_mm512_shuffle_epi8(bytes, order))
        }
    }

    #[inline(always)]
    unsafe fn splat(value: u32) -> Self {
        // SAFETY: the machine has AVX-512 by the contract of `Lanes`.
        Self(unsafe { _mm512_set1_epi32(value as i32) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: sixteen lanes may be read at `from`, and the machine has the instructions, by the contract of `Lanes`.
        Self(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: sixteen lanes may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) };
    }

    #[inline(always)]
    unsafe fn gather(table: *const u64, indexes: *const u32) -> (Self, Self) {
        // SAFETY: sixteen indexes may be read, and the pairs of `table` that they name, by the contract of `Lanes`.
        unsafe {
            let (first, second) = (
                eight_pairs(table, indexes),
                eight_pairs(table, indexes.add(8)),
            );
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (
                Self(_mm512_permutex2var_epi32(first, even, second)),
                Self(_mm512_permutex2var_epi32(first, odd, second)),
            )
        }
    }

    #[inline(always)]
    unsafe fn store_pairs(low: Self, high: Self, to: *mut u64) {
        // SAFETY: sixteen pairs may be written at `to`, and the machine has the instructions, by the contract of `Lanes`.
        unsafe {
            let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let second =
                _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            _mm512_storeu_si512(to.cast(), _mm512_permutex2var_epi32(low.0, first, high.0));
            _mm512_storeu_si512(
                to.add(8).cast(),
                _mm512_permutex2var_epi32(low.0, second, high.0),
            );
        }
    }

    operations! {
        add: _mm512_add_epi32,
        sub: _mm512_sub_epi32,
        mul: _mm512_mullo_epi32,
        and: _mm512_and_si512,
        and_not: |a, b| _mm512_andnot_si512(b, a),
        or: _mm512_or_si512,
        xor: _mm512_xor_si512,
        max: _mm512_max_epu32,
        equal: |a, b| _mm512_movm_epi32(_mm512_cmpeq_epi32_mask(a, b)),
    }

    #[inline(always)]
    unsafe fn shift_right(self, bits: u32) -> Self {
        // SAFETY: the machine has AVX-512 by the contract of `Lanes`.
        Self(unsafe { _mm512_srl_epi32(self.0, _mm_cvtsi32_si128(bits as i32)) })
    }

    #[inline(always)]
    unsafe fn select(self, other: Self, mask: Self) -> Self {
        // SAFETY: the machine has AVX-512 by the contract of `Lanes`.
        Self(unsafe { _mm512_mask_blend_epi32(_mm512_movepi32_mask(mask.0), other.0, self.0) })
    }

    #[inline(always)]
    unsafe fn bits(self) -> u32 {
        // SAFETY: the machine has AVX-512 by the contract of `Lanes`.
        u32::from(unsafe { _mm512_movepi32_mask(self.0) })
    }
}

/// Loads the pairs of `table` at eight indexes one by one: a gather instruction takes longer on Zen 4 and Zen 5.
///
/// # Safety
/// The machine has AVX-512. Eight indexes may be read, and the pairs that they name.
#[inline(always)]
unsafe fn eight_pairs(table: *const u64, indexes: *const u32) -> __m512i {
    // SAFETY: this function's contract.
    unsafe {
        let (low, high) = (
            four_pairs(table, indexes),
            four_pairs(table, indexes.add(4)),
        );
        _mm512_castpd_si512(_mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high))
    }
}

/// # Safety
/// As [`eight_pairs`], of four indexes.
#[inline(always)]
unsafe fn four_pairs(table: *const u64, indexes: *const u32) -> __m256d {
    // SAFETY: this function's contract.
    unsafe {
        let (low, high) = (two_pairs(table, indexes), two_pairs(table, indexes.add(2)));
        _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low), high)
    }
}

/// # Safety
/// As [`eight_pairs`], of two indexes.
#[inline(always)]
unsafe fn two_pairs(table: *const u64, indexes: *const u32) -> __m128d {
    // SAFETY: this function's contract.
    unsafe {
        let [first, second] = *indexes.cast::<[u32; 2]>();
        let low = _mm_loadl_epi64(table.add(first as usize).cast());
        _mm_loadh_pd(_mm_castsi128_pd(low), table.add(second as usize).cast())
    }
}
