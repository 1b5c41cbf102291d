//! Runs loops on all cores, with the vector instructions of the machine.

/// Number of elements of a share of the work.
pub(super) const SHARE: usize = 16 << 10;

/// Calls `work` with the start and the elements of each share of `out`.
pub(super) fn for_shares<T: Send>(
    out: &mut [T],
    share: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let share = share.max(1);
    #[cfg(not(target_arch = "wasm32"))]
    if out.len() > share {
        use rayon::prelude::*;
        let shares = out.par_chunks_mut(share).enumerate();
        shares.for_each(|(i, out)| with_vectors(|| work(i * share, out)));
        return;
    }
    for (i, out) in out.chunks_mut(share).enumerate() {
        with_vectors(|| work(i * share, out));
    }
}

/// Returns the results of `work` for each of `n` shares, in order.
pub(super) fn of_shares(n: usize, work: impl Fn(usize) -> f32 + Sync + Send) -> Vec<f32> {
    #[cfg(not(target_arch = "wasm32"))]
    if n > 1 {
        use rayon::prelude::*;
        let shares = (0..n).into_par_iter();
        return shares.map(|i| with_vectors(|| work(i))).collect();
    }
    (0..n).map(|i| with_vectors(|| work(i))).collect()
}

/// Work of a share. A closure is inlined only if it is small; the method of a type with many instructions wherever it is used.
pub(super) trait Work {
    /// Result of the work.
    type Output;

    /// Does the work. Must be `#[inline(always)]`, as must be the functions that it calls.
    fn run(self) -> Self::Output;
}

impl<R, F: FnOnce() -> R> Work for F {
    type Output = R;

    #[inline(always)]
    fn run(self) -> R {
        self()
    }
}

/// Does work, compiled for the vector instructions of this machine. Functions that it calls must be inlined into it.
#[inline(always)]
pub(super) fn with_vectors<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: `avx2` needs AVX2 and FMA, which were just detected.
        return unsafe { avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run()
}
