//! Sums of many terms. Blocks of terms are added in lanes, and the sums of blocks pairwise, so that the rounding error
//! grows with the logarithm of the number of terms. The order depends on that number only.

/// Number of partial sums of a block, which can be vectorised.
const LANES: usize = 32;
/// Number of terms per partial sum and block.
const DEPTH: usize = 64;
const BLOCK: usize = LANES * DEPTH;
/// Maximum number of columns that are summed together.
pub(super) const STRIP: usize = 1024;

/// Computes the sum of `term` over pairs of elements of two slices of one length.
#[inline(always)]
pub(super) fn sum_of(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    sums_of(a, b, |x, y| [term(x, y)])[0]
}

/// Computes the sums of several terms of each pair of elements.
#[inline(always)]
pub(super) fn sums_of<const N: usize>(
    a: &[f32],
    b: &[f32],
    term: impl Fn(f32, f32) -> [f32; N],
) -> [f32; N] {
    if a.len() <= BLOCK {
        return block_sums(a, b, &term);
    }
    // Element i is the sum of 2^i blocks if bit i of `n_blocks` is set, as in a binary counter.
    let mut aside = [[0.0; N]; 64];
    let mut n_blocks = 0u64;
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        let mut sums = block_sums(a, b, &term);
        let mut level = 0;
        while n_blocks >> level & 1 == 1 {
            sums = added(aside[level], sums);
            level += 1;
        }
        aside[level] = sums;
        n_blocks += 1;
    }
    let levels = (0..64).filter(|level| n_blocks >> level & 1 == 1);
    levels.fold([0.0; N], |sums, level| added(aside[level], sums))
}

#[inline(always)]
fn added<const N: usize>(x: [f32; N], y: [f32; N]) -> [f32; N] {
    std::array::from_fn(|i| x[i] + y[i])
}

#[inline(always)]
fn block_sums<const N: usize>(
    a: &[f32],
    b: &[f32],
    term: &impl Fn(f32, f32) -> [f32; N],
) -> [f32; N] {
    let mut sums = [[0.0; LANES]; N];
    let ((rows_a, rest_a), (rows_b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (lane, (x, y)) in rest_a.iter().zip(rest_b).enumerate() {
        let terms = term(*x, *y);
        for (sums, term) in sums.iter_mut().zip(terms) {
            sums[lane] += term;
        }
    }
    for (a, b) in rows_a.iter().zip(rows_b) {
        for lane in 0..LANES {
            let terms = term(a[lane], b[lane]);
            for i in 0..N {
                sums[i][lane] += terms[i];
            }
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for sums in &mut sums {
            for lane in 0..width {
                sums[lane] += sums[lane + width];
            }
        }
        width /= 2;
    }
    sums.map(|sums| sums[0])
}

/// Computes the sum of products of two short slices of one length.
#[inline(always)]
pub(super) fn short_dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let ((rows_a, rest_a), (rows_b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (sum, (x, y)) in sums.iter_mut().zip(rest_a.iter().zip(rest_b)) {
        *sum += x * y;
    }
    for (a, b) in rows_a.iter().zip(rows_b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Sums of at most [`STRIP`] adjacent columns.
pub(super) struct Columns {
    width: usize,
    block: [f32; STRIP],
    /// Number of terms in `block` per column.
    n_terms: usize,
    /// Sums of 2^i blocks, `width` elements from i * `width` on.
    aside: Vec<f32>,
    n_blocks: u64,
}

impl Columns {
    #[inline(always)]
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            block: [0.0; STRIP],
            n_terms: 0,
            aside: Vec::new(),
            n_blocks: 0,
        }
    }

    /// Returns the sums to which the caller adds the next term of each column.
    #[inline(always)]
    pub(super) fn next(&mut self) -> &mut [f32] {
        if self.n_terms == DEPTH {
            self.set_aside();
        }
        self.n_terms += 1;
        &mut self.block[..self.width]
    }

    #[inline(always)]
    fn set_aside(&mut self) {
        let width = self.width;
        let block = &mut self.block[..width];
        let mut level = 0;
        while self.n_blocks >> level & 1 == 1 {
            let before = &self.aside[level * width..][..width];
            block.iter_mut().zip(before).for_each(|(sum, x)| *sum += x);
            level += 1;
        }
        match self.aside.get_mut(level * width..(level + 1) * width) {
            Some(place) => place.copy_from_slice(block),
            None => self.aside.extend_from_slice(block),
        }
        block.fill(0.0);
        self.n_blocks += 1;
        self.n_terms = 0;
    }

    /// Writes the sums to `out`.
    #[inline(always)]
    pub(super) fn finish(self, out: &mut [f32]) {
        out.copy_from_slice(&self.block[..self.width]);
        for (level, sums) in self.aside.chunks(self.width.max(1)).enumerate() {
            if self.n_blocks >> level & 1 == 1 {
                out.iter_mut().zip(sums).for_each(|(sum, x)| *sum += x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_counts_once() {
        for n in [0, 1, 31, 32, 33, BLOCK, BLOCK + 1, 7 * BLOCK + 5] {
            let ones = vec![1.0; n];
            assert_eq!(sum_of(&ones, &ones, |x, y| x * y), n as f32);
            assert_eq!(
                sums_of(&ones, &ones, |x, y| [x, -y]),
                [n as f32, -(n as f32)]
            );
            let mut columns = Columns::new(2);
            for i in 0..n {
                let sums = columns.next();
                sums[0] += 1.0;
                sums[1] += i as f32;
            }
            let mut out = [f32::NAN; 2];
            columns.finish(&mut out);
            assert_eq!(out[0], n as f32);
        }
        for n in [0, 1, 7, 8, 9, 200] {
            let ones = vec![1.0; n];
            assert_eq!(short_dot(&ones, &ones), n as f32);
        }
    }

    #[test]
    fn rounding_errors_stay_small() {
        let n = 1 << 22;
        let tenths = vec![0.1f32; n];
        let exact = f64::from(0.1f32) * n as f64;
        let off = |sum: f32| (f64::from(sum) / exact - 1.0).abs();
        assert!(off(sum_of(&tenths, &tenths, |x, _| x)) < 1e-6);
        let mut columns = Columns::new(1);
        tenths.iter().for_each(|x| columns.next()[0] += x);
        let mut out = [0.0];
        columns.finish(&mut out);
        assert!(off(out[0]) < 1e-6);
    }
}
