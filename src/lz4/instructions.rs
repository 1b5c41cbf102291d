//! The instruction sets that search and walk are compiled for, and the choice among them.

#[cfg(target_arch = "aarch64")]
use super::lanes::Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::lanes::Simd128;
#[cfg(target_arch = "x86_64")]
use super::lanes::{Avx2, Avx512};
use super::lanes::{Lanes, Portable};
use super::search::{Found, Search};
use super::walk::Walk;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

impl Instructions {
    /// All that this machine has, the best one first.
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        let best = [
            #[cfg(target_arch = "x86_64")]
            (avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq"))
            .then_some(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            avx2.then_some(Self::Avx2),
            #[cfg(target_arch = "aarch64")]
            Some(Self::Neon),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Some(Self::Simd128),
            Some(Self::Portable),
        ];
        best.into_iter().flatten()
    }

    /// Searches the next windows.
    pub(super) fn search(self, search: &mut Search, input: &[u8], last: usize, large: bool) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn with_avx2(search: &mut Search, input: &[u8], last: usize, large: bool) {
            // SAFETY: the instructions are those of the function.
            unsafe { windows::<Avx2>(search, input, last, large) };
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq")]
        fn with_avx512(search: &mut Search, input: &[u8], last: usize, large: bool) {
            // SAFETY: the instructions are those of the function.
            unsafe { windows::<Avx512>(search, input, last, large) };
        }
        // SAFETY: `available` found the instructions.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => with_avx512(search, input, last, large),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => with_avx2(search, input, last, large),
                #[cfg(target_arch = "aarch64")]
                Self::Neon => windows::<Neon>(search, input, last, large),
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Self::Simd128 => windows::<Simd128>(search, input, last, large),
                Self::Portable => windows::<Portable>(search, input, last, large),
            }
        }
    }

    /// Walks on to `limit`.
    pub(super) fn walk(self, walk: &mut Walk<'_>, found: &Found, limit: usize, high: bool) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn with_avx2(walk: &mut Walk<'_>, found: &Found, limit: usize, high: bool) {
            level(walk, found, limit, high);
        }
        match self {
            // SAFETY: `available` found the instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::Avx512 => unsafe { with_avx2(walk, found, limit, high) },
            _ => level(walk, found, limit, high),
        }
    }
}

/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
unsafe fn windows<L: Lanes>(search: &mut Search, input: &[u8], last: usize, large: bool) {
    // SAFETY: the caller says so.
    unsafe {
        if large {
            search.windows::<L, true>(input, last);
        } else {
            search.windows::<L, false>(input, last);
        }
    }
}

#[inline(always)]
fn level(walk: &mut Walk<'_>, found: &Found, limit: usize, high: bool) {
    if high {
        walk.walk::<true>(found, limit);
    } else {
        walk.walk::<false>(found, limit);
    }
}
