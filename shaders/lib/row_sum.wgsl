// Reduction over the lanes of a row in workgroup memory: sum.
//
// The kernel declares `override WIDTH`, the lanes of a row (a power of two), and `override THREADS`, the lanes of the
// workgroup.

// Two turns, so that a step's stores do not meet the loads of the step before it.
override SUMS: u32 = 2u * THREADS;

var<workgroup> sh_sums: array<f32, SUMS>;

/// Returns the sum of `own` over the lanes of a row to all of them. Invocation `i` is a lane of the row. In each step, four lanes sum what all of them
/// have, so that no lane waits for others outside of barriers.
/// Synchronises the workgroup; before another call, the kernel does.
fn row_sum(i: u32, own: f32) -> f32 {
    var value = own;
    var turn = 0u;
    for (var span = WIDTH; span > 1u; span /= 4u) {
        sh_sums[turn + i] = value;
        workgroupBarrier();
        if span == 2u {
            let pair = turn + (i & ~1u);
            value = sh_sums[pair] + sh_sums[pair + 1u];
        } else {
            let distance = span / 4u;
            let first = turn + (i & ~(span - 1u)) + (i & (distance - 1u));
            let near = sh_sums[first] + sh_sums[first + distance];
            value = near + (sh_sums[first + 2u * distance] + sh_sums[first + 3u * distance]);
        }
        turn = THREADS - turn;
    }
    return value;
}
