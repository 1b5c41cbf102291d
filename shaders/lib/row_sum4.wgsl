// Tree reduction over the lanes of a row in workgroup memory: sums of four numbers at once.
//
// The kernel declares `override WIDTH`, the lanes of a row (a power of two), and `override THREADS`, the lanes of the
// workgroup.

var<workgroup> sh_sums: array<vec4<f32>, THREADS>;

/// Returns the sums of `own` over the lanes of a row to its lane 0. Lane `lane` of its row is invocation `i`.
/// Synchronises the workgroup; before another call, the kernel does.
fn row_sum4(i: u32, lane: u32, own: vec4<f32>) -> vec4<f32> {
    var value = own;
    sh_sums[i] = value;
    for (var distance = WIDTH / 2u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        if lane < distance {
            value += sh_sums[i + distance];
            sh_sums[i] = value;
        }
    }
    return value;
}
