// Layer norm over the last axis of [rows, cols], (x - mean) / sqrt(variance + epsilon), or RMS norm,
// x / sqrt(mean of squares + epsilon); then times a weight and plus a bias for each column.
//
// tensor_norm: WIDTH invocations hold a whole row in registers, up to 4 * HELD4 elements each, and read it once.
// tensor_norm_long: a workgroup reads a row three times, for RMS twice.
// Bindings: `a`, `out`: [rows, cols] from element `offset` on, of f32, in a second text of 16 bits; `weight`, `bias`: cols f32, or bound to `a` again
// if unused.
// Preconditions: nothing is 0; for tensor_norm, cols <= 4 * HELD4 * WIDTH; of 16 bits, cols and `offset` are even. A NaN makes its row NaN.
// Twin: src/tensor/cpu/norm.rs
//
// import: lib/singles/columns, lib/singles/store_scaled, lib/row_sum, lib/sum4

// Invocations per row: a power of two; in tensor_norm_long, THREADS.
override WIDTH: u32 = 256u;
override THREADS: u32 = 256u;
// vec4s that an invocation of tensor_norm holds: 8, or fewer for devices with few registers.
override HELD4: u32 = 8u;
override RMS: bool = false;
override HAS_WEIGHT: bool = true;
override HAS_BIAS: bool = true;

struct Params {
    rows: u32,
    cols: u32,
    epsilon: f32,
    offset: u32,
}

@group(0) @binding(0) var<storage, read> a: array<Stored>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<Stored>;
@group(0) @binding(4) var<uniform> params: Params;

/// Returns four elements of a row; 0 behind its end.
fn load_row4(row_start: u32, col: u32) -> vec4<f32> {
    return select(vec4(0.0), load_clamped(row_start, col), columns(col) < vec4(params.cols));
}

/// Returns elements minus `mean`, of which the first is `n_before` elements behind the invocation's first one; 0 behind the end of the row, where
/// `n_left` elements are left from the invocation's first one on. Conditions differ from those of loads and stores, or compilers keep all of them.
fn centered(x: vec4<f32>, n_before: u32, n_left: u32, mean: f32) -> vec4<f32> {
    return select(vec4(0.0), x - mean, columns(n_before) < vec4(n_left));
}

/// Returns the mean of a row, of which `total` is the invocation's share.
fn mean_of(i: u32, total: vec4<f32>) -> f32 {
    return row_sum(i, sum4(total)) / f32(params.cols);
}

@compute @workgroup_size(THREADS)
fn tensor_norm(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let lane = i % WIDTH;
    let row = (group.y * groups.x + group.x) * (THREADS / WIDTH) + i / WIDTH;
    // Invocations without a row recompute the last one and store nothing, so that barriers stay uniform.
    let start = params.offset + min(row, params.rows - 1u) * params.cols;
    var x: array<vec4<f32>, 8>;
    for (var k = 0u; k < HELD4; k++) {
        x[k] = load_row4(start, 4u * k * WIDTH + first_column(lane));
    }
    if !RMS {
        var total = vec4(0.0);
        for (var k = 0u; k < HELD4; k++) {
            total += x[k];
        }
        let mean = mean_of(i, total);
        let n_left = params.cols - min(first_column(lane), params.cols);
        for (var k = 0u; k < HELD4; k++) {
            x[k] = centered(x[k], 4u * k * WIDTH, n_left, mean);
        }
        // The sum below reuses the workgroup memory.
        workgroupBarrier();
    }
    var squares = vec4(0.0);
    for (var k = 0u; k < HELD4; k++) {
        squares += x[k] * x[k];
    }
    let variance = mean_of(i, squares);
    if row >= params.rows {
        return;
    }
    let scale = inverseSqrt(variance + params.epsilon);
    for (var k = 0u; k < HELD4; k++) {
        store_scaled4(start, 4u * k * WIDTH + first_column(lane), x[k] * scale);
    }
}

@compute @workgroup_size(THREADS)
fn tensor_norm_long(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let row = group.y * groups.x + group.x;
    let start = params.offset + min(row, params.rows - 1u) * params.cols;
    var mean = 0.0;
    if !RMS {
        var total = vec4(0.0);
        for (var col = first_column(i); col < params.cols; col += 4u * WIDTH) {
            total += load_row4(start, col);
        }
        mean = mean_of(i, total);
        workgroupBarrier();
    }
    var squares = vec4(0.0);
    for (var col = first_column(i); col < params.cols; col += 4u * WIDTH) {
        let x = centered(load_row4(start, col), col, params.cols, mean);
        squares += x * x;
    }
    let variance = mean_of(i, squares);
    if row >= params.rows {
        return;
    }
    let scale = inverseSqrt(variance + params.epsilon);
    for (var col = first_column(i); col < params.cols; col += 4u * WIDTH) {
        store_scaled4(start, col, (load_row4(start, col) - mean) * scale);
    }
}
