// Softmax, or its logarithm, over the last axis of [rows, cols].
//
// tensor_softmax: WIDTH invocations hold a whole row in registers, up to 4 * HELD4 elements each, and read it once.
// tensor_softmax_long: a workgroup reads the row twice: once for its maximum and the sum of exponentials (online softmax: the
// sum is rescaled whenever the maximum grows), then to write the result.
// Bindings: `a`, `out`: [rows, cols] from element `offset` on, of f32, in a second text of 16 bits.
// Preconditions: nothing is 0; for tensor_softmax, cols <= 4 * HELD4 * WIDTH; of 16 bits, cols and `offset` are even. NaN, +inf, or a
// row of -inf only, make the row NaN, as in the twin.
// Twin: src/tensor/cpu/softmax.rs
//
// import: lib/singles/columns, lib/singles/store_columns, lib/nan, lib/row_max, lib/row_sum, lib/sum4

// Invocations per row: a power of two; in tensor_softmax_long, THREADS.
override WIDTH: u32 = 256u;
override THREADS: u32 = 256u;
override LOG: bool = false;
// vec4s that an invocation of tensor_softmax holds: 8, or fewer for devices with few registers.
override HELD4: u32 = 8u;

/// The lowest finite number: initial value of a row's maximum.
const LOWEST: f32 = -3.4028234e38;

struct Params {
    rows: u32,
    cols: u32,
    // Offset of the first row in both.
    offset: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> a: array<Stored>;
@group(0) @binding(1) var<storage, read_write> out: array<Stored>;
@group(0) @binding(2) var<uniform> params: Params;

/// Returns exp(x), and 0 behind the end of the row. Propagates NaN explicitly, since drivers may turn it into a number.
fn exponentials(x: vec4<f32>, col: u32) -> vec4<f32> {
    return select(vec4(0.0), select(exp(x), x, is_nan(x)), columns(col) < vec4(params.cols));
}

/// Returns log(sum), -inf for 0 and NaN for NaN on every driver.
fn log_of(sum: f32) -> f32 {
    return select(select(log(sum), -1.0 / sum, sum == 0.0), sum, is_nan(vec4(sum)).x);
}

@compute @workgroup_size(THREADS)
fn tensor_softmax(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let lane = i % WIDTH;
    let row = (group.y * groups.x + group.x) * (THREADS / WIDTH) + i / WIDTH;
    // Invocations without a row recompute the last one and store nothing, so that barriers stay uniform.
    let start = params.offset + min(row, params.rows - 1u) * params.cols;
    var x: array<vec4<f32>, 8>;
    var most = vec4(LOWEST);
    for (var k = 0u; k < HELD4; k++) {
        x[k] = load_clamped(start, 4u * k * WIDTH + first_column(lane));
        most = max(most, x[k]);
    }
    let largest = row_max(i, max(max(most.x, most.y), max(most.z, most.w)));
    var total = vec4(0.0);
    for (var k = 0u; k < HELD4; k++) {
        let below = x[k] - largest;
        let powers = exponentials(below, 4u * k * WIDTH + first_column(lane));
        total += powers;
        x[k] = select(powers, below, LOG);
    }
    let sum = row_sum(i, sum4(total));
    if row >= params.rows {
        return;
    }
    let log_sum = log_of(sum);
    let scale = 1.0 / sum;
    for (var k = 0u; k < HELD4; k++) {
        store_columns(start, 4u * k * WIDTH + first_column(lane), select(x[k] * scale, x[k] - log_sum, LOG));
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
    for (var col = first_column(i); col < params.cols; col += 4u * WIDTH) {
        let x = load_clamped(start, col);
        let next = max(most, max(max(x.x, x.y), max(x.z, x.w)));
        let powers = exponentials(x - next, col);
        total = total * exp(most - next) + sum4(powers);
        most = next;
    }
    let largest = row_max(i, most);
    let sum = row_sum(i, total * exp(most - largest));
    if row >= params.rows {
        return;
    }
    let log_sum = log_of(sum);
    let scale = 1.0 / sum;
    for (var col = first_column(i); col < params.cols; col += 4u * WIDTH) {
        let x = load_clamped(start, col) - largest;
        store_columns(start, col, select(exp(x) * scale, x - log_sum, LOG));
    }
}
