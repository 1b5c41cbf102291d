// Combines the results of attention for all splits of the keys, each rescaled to the common maximum of its row.
//
// A workgroup computes 32 columns of one row; LANES groups of 32 invocations take the splits in turn.
// Bindings: `parts`: [n_splits] times [rows, dim] of sums, then [n_splits] times [rows] of maximum score and sum of
// exponentials; `out`: [queries, out_heads, dim] from element `out_from` on, of which rows are [queries, heads], words of f32 or, if TO is not 0,
// pairs of 16-bit elements.
// Preconditions: nothing is 0 but `out_from`; n_groups is rows times dim / 32, rounded up; if TO is not 0, dim is even and out_from is 0.
// Twin: src/tensor/cpu/attention.rs, which splits nothing
//
// import: lib/rounded

const LOWEST: f32 = -3.4028234e38;
const COLUMNS: u32 = 32u;
// Invocations of a workgroup.
override THREADS: u32 = 256u;
override LANES: u32 = THREADS / COLUMNS;

// Type of the result, as `DType::code` numbers it: 0 is f32, 1 is f16, 2 is bf16.
override TO: u32 = 0u;

struct Params {
    n_out: u32,
    dim: u32,
    n_splits: u32,
    rows: u32,
    heads: u32,
    out_heads: u32,
    out_from: u32,
    n_groups: u32,
}

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// Maxima, then sums of exponentials, of each group of invocations.
var<workgroup> sh_most: array<f32, LANES>;
var<workgroup> sh_total: array<f32, LANES>;
// [group][column]; later results in the first row.
var<workgroup> sh_sums: array<f32, THREADS>;

/// Returns the result of a column.
fn merged(column: u32) -> f32 {
    var sum = 0.0;
    var total = 0.0;
    for (var lane = 0u; lane < LANES; lane++) {
        sum += sh_sums[lane * COLUMNS + column];
        total += sh_total[lane];
    }
    return sum / total;
}

@compute @workgroup_size(THREADS)
fn tensor_attention_merge(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_groups {
        return;
    }
    let tiles = (params.dim + COLUMNS - 1u) / COLUMNS;
    let row = id / tiles;
    let first = (id - row * tiles) * COLUMNS;
    let lane = i / COLUMNS;
    let column = i % COLUMNS;
    let rows_at = params.n_splits * params.n_out + 2u * row;
    var most = LOWEST;
    for (var split = lane; split < params.n_splits; split += LANES) {
        most = max(most, parts[rows_at + 2u * split * params.rows]);
    }
    if column == 0u {
        sh_most[lane] = most;
    }
    workgroupBarrier();
    for (var other = 0u; other < LANES; other++) {
        most = max(most, sh_most[other]);
    }
    var sum = 0.0;
    var total = 0.0;
    let is_column = first + column < params.dim;
    let element = row * params.dim + first + column;
    for (var split = lane; split < params.n_splits; split += LANES) {
        let at = rows_at + 2u * split * params.rows;
        let scale = exp(parts[at] - most);
        total += scale * parts[at + 1u];
        if is_column {
            sum += scale * parts[split * params.n_out + element];
        }
    }
    sh_sums[i] = sum;
    if column == 0u {
        sh_total[lane] = total;
    }
    workgroupBarrier();
    let query = row / params.heads;
    let place = query * params.out_heads + row - query * params.heads;
    let to = params.out_from + place * params.dim + first;
    if TO == 0u {
        if lane == 0u && is_column {
            out[to + column] = bitcast<u32>(merged(column));
        }
    } else if i < COLUMNS / 2u && first + 2u * i < params.dim {
        out[to / 2u + i] = rounded_pair(vec2(merged(2u * i), merged(2u * i + 1u)));
    }
}
