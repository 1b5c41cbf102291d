//! Rotary positions; the twin of `shaders/tensor_rotary.wgsl`.

/// Rotates rows of heads of 2 `half` elements in place: elements i and i + `half` of a head by angle i of the row.
/// `turns` contains cosine and sine of each angle, `half` pairs per row.
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
