//! Matrix products; the twin of `shaders/tensor_matmul.wgsl`, and with epilogues of `shaders/tensor_matmul_sum.wgsl`.

use super::elementwise::InPlace;
use super::functions::with_function;
use super::parallel::for_shares;
use crate::Result;
use crate::tensor::{Epilogue, Step, check_dims};

/// Minimum number of multiply-adds of a share of the work.
const SHARE: usize = 1 << 20;

/// Computes `c = a b`, where `a` is `m` x `k`, `b` is `k` x `n` and `c` is `m` x `n`, all row-major.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
pub fn matmul(a: &[f32], b: &[f32], c: &mut [f32], m: usize, k: usize, n: usize) -> Result<()> {
    product(a, (b, Order::Rows), Epilogue::default(), c, [m, k, n])
}

/// Computes `c = activation(a b + bias) + residual`, where `a` is `m` x `k`, `b` is `k` x `n`, and `c` and the residual are `m` x `n`,
/// all row-major; the bias has `n` elements. The size is `[m, k, n]`. [`Epilogue`] has an example.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
pub fn matmul_with_epilogue(
    a: &[f32],
    b: &[f32],
    epilogue: Epilogue<&[f32]>,
    c: &mut [f32],
    size: [usize; 3],
) -> Result<()> {
    product(a, (b, Order::Rows), epilogue, c, size)
}

/// Applies an epilogue to rows of `n` elements of a product, the first of which is element `start` of the whole product.
fn finish(epilogue: Epilogue<&[f32]>, n: usize, start: usize, c: &mut [f32]) {
    if let Some(bias) = epilogue.bias {
        for out in c.chunks_exact_mut(n) {
            with_function(Step::Add, InPlace { out, b: bias });
        }
    }
    if let Some(activation) = epilogue.activation {
        with_function(activation.step(), InPlace { out: c, b: &[] });
    }
    if let Some(residual) = epilogue.residual {
        let b = &residual[start..start + c.len()];
        with_function(Step::Add, InPlace { out: c, b });
    }
}

/// Computes `c = a bᵀ`, where `b` is `n` x `k`.
pub(super) fn matmul_by_rows(a: &[f32], b: &[f32], c: &mut [f32], size: [usize; 3]) -> Result<()> {
    product(a, (b, Order::Columns), Epilogue::default(), c, size)
}

/// Storage order of a matrix.
#[derive(Clone, Copy)]
enum Order {
    Rows,
    Columns,
}

/// Computes `c = a b`, with an epilogue, where `a` is `m` x `k` and `b` is `k` x `n`, stored in `b_order`.
fn product(
    a: &[f32],
    (b, b_order): (&[f32], Order),
    epilogue: Epilogue<&[f32]>,
    c: &mut [f32],
    [m, k, n]: [usize; 3],
) -> Result<()> {
    check_dims("a", a.len(), &[m, k])?;
    check_dims("b", b.len(), &[k, n])?;
    check_dims("c", c.len(), &[m, n])?;
    if let Some(bias) = epilogue.bias {
        check_dims("bias", bias.len(), &[n])?;
    }
    if let Some(residual) = epilogue.residual {
        check_dims("residual", residual.len(), &[m, n])?;
    }
    if c.is_empty() {
        return Ok(());
    }
    if k == 0 {
        c.fill(0.0);
        finish(epilogue, n, 0, c);
        return Ok(());
    }
    // From here on no length is 0, and each product of two lengths is the length of a slice.
    let (b_row, b_col) = match b_order {
        Order::Rows => (n, 1),
        Order::Columns => (1, k),
    };
    let at_once = SHARE
        .div_ceil(n * k)
        .max(m.div_ceil(64))
        .next_multiple_of(8)
        .min(m);
    for_shares(c, at_once * n, |start, c| {
        let first = start / n;
        let rows = c.len() / n;
        let a = &a[first * k..(first + rows) * k];
        // SAFETY: sgemm reads `rows` by `k` elements of `a`, k and 1 apart, and `k` by `n` of `b`, `b_row` and `b_col`
        // apart, and writes `rows` by `n` of `c`, n and 1 apart. The slice `a` above has rows * k elements; `c`, a share of
        // whole rows, has rows * n; `b` has k * n by the check above, and (k - 1) * b_row + (n - 1) * b_col is k * n - 1 in
        // both orders. `c` is borrowed mutably, so it is apart from both. Lengths of slices fit in an isize.
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
                b_row as isize,
                b_col as isize,
                0.0,
                c.as_mut_ptr(),
                n as isize,
                1,
            );
        }
        finish(epilogue, n, start, c);
    });
    Ok(())
}
