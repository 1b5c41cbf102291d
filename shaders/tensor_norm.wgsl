// Layer norm over the last axis of [rows, cols], (x - mean) / sqrt(variance + epsilon), or RMS norm,
// x / sqrt(mean of squares + epsilon); then times a weight and plus a bias for each column.
//
// WIDTH invocations take a row; a workgroup as many rows as fit. A row is read three times, for RMS twice.
// Bindings: `a`, `out`: [rows, cols] f32 from element `offset` on; `weight`, `bias`: cols f32, or bound to `a` again if unused.
// Preconditions: nothing is 0. A NaN makes its row NaN.
// Twin: src/tensor/cpu/norm.rs
//
// import: lib/columns, lib/row_sum

// Invocations per row: a power of two.
override WIDTH: u32 = 256u;
override THREADS: u32 = 256u;
override RMS: bool = false;
override HAS_WEIGHT: bool = true;
override HAS_BIAS: bool = true;

struct Params {
    rows: u32,
    cols: u32,
    epsilon: f32,
    offset: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

/// Returns four elements of a row minus `mean`; 0 behind its end.
fn load_centered(row_start: u32, col: u32, mean: f32) -> vec4<f32> {
    let at = row_start + min(columns(col), vec4(params.cols - 1u));
    let x = vec4(a[at.x], a[at.y], a[at.z], a[at.w]) - mean;
    return select(vec4(0.0), x, columns(col) < vec4(params.cols));
}

fn store_scaled(row_start: u32, col: u32, normal: f32) {
    if col >= params.cols {
        return;
    }
    var x = normal;
    if HAS_WEIGHT {
        x *= weight[col];
    }
    if HAS_BIAS {
        x += bias[col];
    }
    out[row_start + col] = x;
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
    var mean = 0.0;
    if !RMS {
        var total = vec4(0.0);
        for (var col = lane; col < params.cols; col += 4u * WIDTH) {
            total += load_centered(start, col, 0.0);
        }
        mean = row_sum(i, lane, (total.x + total.y) + (total.z + total.w)) / f32(params.cols);
        // The sum below reuses the workgroup memory.
        workgroupBarrier();
    }
    var squares = vec4(0.0);
    for (var col = lane; col < params.cols; col += 4u * WIDTH) {
        let x = load_centered(start, col, mean);
        squares += x * x;
    }
    let sum = row_sum(i, lane, (squares.x + squares.y) + (squares.z + squares.w));
    if row >= params.rows {
        return;
    }
    let scale = inverseSqrt(sum / f32(params.cols) + params.epsilon);
    for (var col = lane; col < params.cols; col += 4u * WIDTH) {
        let x = load_centered(start, col, mean) * scale;
        store_scaled(start, col, x.x);
        store_scaled(start, col + WIDTH, x.y);
        store_scaled(start, col + 2u * WIDTH, x.z);
        store_scaled(start, col + 3u * WIDTH, x.w);
    }
}
