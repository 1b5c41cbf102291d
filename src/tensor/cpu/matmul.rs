//! Matrix products; the twin of `shaders/tensor_matmul.wgsl`.

use super::parallel::for_shares;
use crate::Result;
use crate::tensor::check_len;

/// Products that one core does at a time at least.
const SHARE: usize = 1 << 20;

/// `c = a b`, with `a` of `m` rows and `k` columns, `b` of `k` rows and `n` columns, rows one after the other.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
pub fn matmul(a: &[f32], b: &[f32], c: &mut [f32], m: usize, k: usize, n: usize) -> Result<()> {
    check_len("a", a.len(), m as u64 * k as u64)?;
    check_len("b", b.len(), k as u64 * n as u64)?;
    check_len("c", c.len(), m as u64 * n as u64)?;
    if c.is_empty() {
        return Ok(());
    }
    if k == 0 {
        c.fill(0.0);
        return Ok(());
    }
    product(a, (b, n as isize, 1), c, [m, k, n]);
    Ok(())
}

/// `c = a bᵀ`, with `b` of `n` rows and `k` columns. All lengths are right, and `k` is not 0.
pub(super) fn matmul_by_rows(a: &[f32], b: &[f32], c: &mut [f32], [m, k, n]: [usize; 3]) {
    if !c.is_empty() {
        product(a, (b, 1, k as isize), c, [m, k, n]);
    }
}

/// The product, with the distances of rows and of columns of `b`. No length is 0, and all were checked.
fn product(
    a: &[f32],
    (b, b_row, b_col): (&[f32], isize, isize),
    c: &mut [f32],
    [m, k, n]: [usize; 3],
) {
    let rows = SHARE
        .div_ceil(n * k)
        .max(m.div_ceil(64))
        .next_multiple_of(8);
    for_shares(c, rows * n, |start, c| {
        let first = start / n;
        let rows = c.len() / n;
        let a = &a[first * k..(first + rows) * k];
        // SAFETY: rows of `a` and `c` follow each other, as do those of `b` or its columns; their lengths were checked,
        // and `c` is borrowed here alone.
        unsafe {
            matrixmultiply::sgemm(
                rows,
                k,
                n,
                1.0,
                a.as_ptr(),
                k as isize,
                1,
                b.as_ptr(),
                b_row,
                b_col,
                0.0,
                c.as_mut_ptr(),
                n as isize,
                1,
            );
        }
    });
}
