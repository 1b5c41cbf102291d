// Tree reduction over the lanes of a row in workgroup memory: maximum.
//
// The kernel declares `override WIDTH`, the lanes of a row (a power of two), and `override THREADS`, the lanes of the
// workgroup.

var<workgroup> sh_maxima: array<f32, THREADS>;

/// Returns the largest `own` of the lanes of a row to all of them; a NaN may get lost. Lane `lane` of its row is invocation
/// `i`. Synchronises the workgroup; before another call, the kernel does.
fn row_max(i: u32, lane: u32, own: f32) -> f32 {
    var value = own;
    sh_maxima[i] = value;
    for (var distance = WIDTH / 2u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        if lane < distance {
            value = max(value, sh_maxima[i + distance]);
            sh_maxima[i] = value;
        }
    }
    workgroupBarrier();
    return sh_maxima[i - lane];
}
