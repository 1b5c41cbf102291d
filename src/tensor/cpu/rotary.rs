//! Rotary positions; the twin of `shaders/tensor_rotary.wgsl`.

use super::parallel::{SHARE, for_shares};
use crate::tensor::check_len;
use crate::tensor::lengths::check_rows;
use crate::{Error, Result};

/// Rotates the heads of rows, `[rows, heads, elements]`, by the positions of their rows: pairs of elements i and
/// i + `elements` / 2 of a head by angle i of the position, which is `first` for the first row. `turns` contains cosine
/// and sine of each angle, a row of `elements` numbers for each position from 0 on, as
/// [`rotary_turns`](crate::tensor::layer::rotary_turns) returns them.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch), also if `a` or `turns` is not a whole number of rows;
/// [`InvalidArgument`](crate::Error::InvalidArgument) for an odd number of elements, if there is not a position for each
/// row, and if there are no elements in a head and `a` is not empty.
pub fn rotary(
    a: &[f32],
    [heads, elements]: [usize; 2],
    turns: &[f32],
    first: usize,
    out: &mut [f32],
) -> Result<()> {
    check_len("result", out.len(), a.len() as u64)?;
    if !elements.is_multiple_of(2) {
        let expected = "even: elements of a head are rotated in pairs";
        return Err(Error::invalid("elements", elements as u64, expected));
    }
    let width = heads.saturating_mul(elements);
    check_rows("a", a.len(), width)?;
    check_rows("turns", turns.len(), elements)?;
    if a.is_empty() {
        return Ok(());
    }
    check_positions(a.len() / width, turns.len() / elements, first)?;
    let share = width * (SHARE / width).max(1);
    for_shares(out, share, |start, out| {
        out.copy_from_slice(&a[start..start + out.len()]);
        let position = first + start / width;
        turn(out, width, elements / 2, &turns[position * elements..]);
    });
    Ok(())
}

/// Checks that there is a position for each row, the first row at position `first`.
pub(crate) fn check_positions(rows: usize, positions: usize, first: usize) -> Result<()> {
    if first.checked_add(rows).is_some_and(|end| end <= positions) {
        return Ok(());
    }
    let expected = "a position that has turns for each row";
    Err(Error::invalid("first", first as u64, expected))
}

/// Rotates rows of heads of 2 `half` elements in place: elements i and i + `half` of a head by angle i of the row.
/// `turns` contains cosine and sine of each angle, `half` pairs per row.
#[inline(always)]
pub(super) fn turn(rows: &mut [f32], width: usize, half: usize, turns: &[f32]) {
    if half == 0 || width == 0 {
        return;
    }
    for (row, turns) in rows.chunks_mut(width).zip(turns.chunks(2 * half)) {
        for head in row.chunks_mut(2 * half) {
            let (left, right) = head.split_at_mut(half);
            let points = left.iter_mut().zip(right);
            for ((x, y), turn) in points.zip(turns.chunks(2)) {
                let (cos, sin) = (turn[0], turn[1]);
                (*x, *y) = (*x * cos - *y * sin, *y * cos + *x * sin);
            }
        }
    }
}
