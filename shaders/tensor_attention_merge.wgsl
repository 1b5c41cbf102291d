// Combines the results of tensor_attention for all splits of the keys, each rescaled to the common maximum of its row.
//
// One invocation computes one element.
// Bindings: `parts`: [n_splits] times [rows, dim] of sums, then [n_splits] times [rows] of maximum score and sum of
// exponentials; `out`: [queries, out_heads, dim] f32 from element `out_from` on, of which rows are [queries, heads].
// Preconditions: nothing is 0.
// Twin: src/tensor/cpu/attention.rs, which splits nothing

const LOWEST: f32 = -3.4028234e38;

struct Params {
    n_out: u32,
    dim: u32,
    n_splits: u32,
    rows: u32,
    heads: u32,
    out_heads: u32,
    out_from: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn tensor_attention_merge(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let element = (group.y * groups.x + group.x) * 256u + i;
    if element >= params.n_out {
        return;
    }
    let row = element / params.dim;
    let rows_at = params.n_splits * params.n_out + 2u * row;
    var most = LOWEST;
    for (var split = 0u; split < params.n_splits; split++) {
        most = max(most, parts[rows_at + 2u * split * params.rows]);
    }
    var sum = 0.0;
    var total = 0.0;
    for (var split = 0u; split < params.n_splits; split++) {
        let at = rows_at + 2u * split * params.rows;
        let scale = exp(parts[at] - most);
        total += scale * parts[at + 1u];
        sum += scale * parts[split * params.n_out + element];
    }
    let query = row / params.heads;
    let place = query * params.out_heads + row - query * params.heads;
    out[params.out_from + place * params.dim + element - row * params.dim] = sum / total;
}
