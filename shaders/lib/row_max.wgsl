// Reduction over the lanes of a row in workgroup memory: maximum.
//
// The kernel declares `override WIDTH`, the lanes of a row (a power of two), and `override THREADS`, the lanes of the
// workgroup.

// Two turns, so that a step's stores do not meet the loads of the step before it.
override MAXIMA: u32 = 2u * THREADS;

var<workgroup> sh_maxima: array<f32, MAXIMA>;

/// Returns the largest `own` of the lanes of a row to all of them; a NaN may get lost. Invocation `i` is a lane of the row. In each step, four lanes
/// compare what all of them have, so that no lane waits for others outside of barriers.
/// Synchronises the workgroup; before another call, the kernel does.
fn row_max(i: u32, own: f32) -> f32 {
    var value = own;
    var turn = 0u;
    for (var span = WIDTH; span > 1u; span /= 4u) {
        sh_maxima[turn + i] = value;
        workgroupBarrier();
        if span == 2u {
            let pair = turn + (i & ~1u);
            value = max(sh_maxima[pair], sh_maxima[pair + 1u]);
        } else {
            let distance = span / 4u;
            let first = turn + (i & ~(span - 1u)) + (i & (distance - 1u));
            let near = max(sh_maxima[first], sh_maxima[first + distance]);
            value = max(near, max(sh_maxima[first + 2u * distance], sh_maxima[first + 3u * distance]));
        }
        turn = THREADS - turn;
    }
    return value;
}
