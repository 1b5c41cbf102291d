// Softmax, or its logarithm, over the last axis of [rows, cols].
//
// tensor_softmax: WIDTH invocations hold a whole row in registers, up to 32 elements each, and read it once.
// tensor_softmax_long: a workgroup reads the row twice: once for its largest element and the sum of exponentials, which
// is scaled whenever a larger element comes; then to write.
// Bindings: `a`, `out`: [rows, cols] f32 from element `offset` on.
// Preconditions: nothing is 0; for tensor_softmax, cols <= 32 * WIDTH. Any element may be NaN or infinite: as for the
// twin, NaN, +inf and a row of -inf alone make the row NaN.
// Twin: src/tensor/cpu/softmax.rs

// Invocations a row: a power of two; in tensor_softmax_long all.
override WIDTH: u32 = 256u;
override THREADS: u32 = 256u;
override LOG: bool = false;

/// The lowest number: where a row starts to look for its largest.
const LOWEST: f32 = -3.4028234e38;

struct Params {
    rows: u32,
    cols: u32,
    // Of the first row in both.
    offset: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> values: array<f32, THREADS>;
var<workgroup> sums: array<f32, THREADS>;

/// The largest `own` of the lanes of a row. NaN may get lost: it comes back by the sum.
fn largest_of_row(i: u32, lane: u32, own: f32) -> f32 {
    var value = own;
    values[i] = value;
    for (var distance = WIDTH / 2u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        if lane < distance {
            value = max(value, values[i + distance]);
            values[i] = value;
        }
    }
    workgroupBarrier();
    return values[i - lane];
}

fn sum_of_row(i: u32, lane: u32, own: f32) -> f32 {
    var value = own;
    sums[i] = value;
    for (var distance = WIDTH / 2u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        if lane < distance {
            value += sums[i + distance];
            sums[i] = value;
        }
    }
    workgroupBarrier();
    return sums[i - lane];
}

/// Columns of lane's four elements from `col` on.
fn columns(col: u32) -> vec4<u32> {
    return col + vec4(0u, 1u, 2u, 3u) * WIDTH;
}

/// Behind the end of the row its last element again.
fn four(row_start: u32, col: u32) -> vec4<f32> {
    let at = row_start + min(columns(col), vec4(params.cols - 1u));
    return vec4(a[at.x], a[at.y], a[at.z], a[at.w]);
}

fn is_nan(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4(0x7fffffffu)) > vec4(0x7f800000u);
}

/// exp(x), and 0 behind the end of the row. Of NaN drivers may make a number, so that is not left to them.
fn powers_of(x: vec4<f32>, col: u32) -> vec4<f32> {
    return select(vec4(0.0), select(exp(x), x, is_nan(x)), columns(col) < vec4(params.cols));
}

/// log(sum), of 0 and of NaN too.
fn log_of(sum: f32) -> f32 {
    return select(select(log(sum), -1.0 / sum, sum == 0.0), sum, is_nan(vec4(sum)).x);
}

fn write_four(row_start: u32, col: u32, x: vec4<f32>) {
    if col < params.cols { out[row_start + col] = x.x; }
    if col + WIDTH < params.cols { out[row_start + col + WIDTH] = x.y; }
    if col + 2u * WIDTH < params.cols { out[row_start + col + 2u * WIDTH] = x.z; }
    if col + 3u * WIDTH < params.cols { out[row_start + col + 3u * WIDTH] = x.w; }
}

@compute @workgroup_size(THREADS)
fn tensor_softmax(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let lane = i % WIDTH;
    let row = (group.y * groups.x + group.x) * (THREADS / WIDTH) + i / WIDTH;
    // Lanes without a row work on the last one and write nothing: all meet the barriers.
    let start = params.offset + min(row, params.rows - 1u) * params.cols;
    var x: array<vec4<f32>, 8>;
    var most = vec4(LOWEST);
    for (var k = 0u; k < 8u; k++) {
        x[k] = four(start, 4u * k * WIDTH + lane);
        most = max(most, x[k]);
    }
    let largest = largest_of_row(i, lane, max(max(most.x, most.y), max(most.z, most.w)));
    var total = vec4(0.0);
    for (var k = 0u; k < 8u; k++) {
        let below = x[k] - largest;
        let powers = powers_of(below, 4u * k * WIDTH + lane);
        total += powers;
        x[k] = select(powers, below, LOG);
    }
    let sum = sum_of_row(i, lane, (total.x + total.y) + (total.z + total.w));
    if row >= params.rows {
        return;
    }
    let log_sum = log_of(sum);
    let scale = 1.0 / sum;
    for (var k = 0u; k < 8u; k++) {
        write_four(start, 4u * k * WIDTH + lane, select(x[k] * scale, x[k] - log_sum, LOG));
    }
}

@compute @workgroup_size(THREADS)
fn tensor_softmax_long(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let row = group.y * groups.x + group.x;
    let start = params.offset + min(row, params.rows - 1u) * params.cols;
    var most = LOWEST;
    var total = 0.0;
    for (var col = i; col < params.cols; col += 4u * WIDTH) {
        let x = four(start, col);
        let next = max(most, max(max(x.x, x.y), max(x.z, x.w)));
        let powers = powers_of(x - next, col);
        total = total * exp(most - next) + ((powers.x + powers.y) + (powers.z + powers.w));
        most = next;
    }
    let largest = largest_of_row(i, i, most);
    let sum = sum_of_row(i, i, total * exp(most - largest));
    if row >= params.rows {
        return;
    }
    let log_sum = log_of(sum);
    let scale = 1.0 / sum;
    for (var col = i; col < params.cols; col += 4u * WIDTH) {
        let x = four(start, col) - largest;
        write_four(start, col, select(exp(x) * scale, x - log_sum, LOG));
    }
}
