//! Rotary positions; the twin of `shaders/tensor_rotary.wgsl`.

/// Turns rows of heads of 2 `half` elements in place: element i and element i + `half` by cosine and sine i of the row.
/// `turns` has those of each row.
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
