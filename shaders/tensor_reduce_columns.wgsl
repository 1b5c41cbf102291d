// Reduces the middle axis of [outer, rows, inner]: one number for each chunk of rows of each column.
//
// One invocation reduces up to `chunk_rows` elements of a column, at most 1024; neighbouring lanes take neighbouring columns,
// so that loads coalesce. The order of additions depends on the shape only. Several chunks need another pass.
// Bindings: `a`: [outer, rows, inner] from element `start` on; `out`: [outer, chunks, inner] from element `to` on; f32.
// Preconditions: nothing is 0; chunks * chunk_rows >= rows.
// Twin: src/tensor/cpu/reduce.rs
//
// import: lib/total_order

// 0 sum, 1 max, 2 min, 4 sum of squares: the numbers of tensor_reduce_rows.
override OP: u32 = 0u;

// Invocations of a workgroup.
override THREADS: u32 = 256u;

struct Params {
    rows: u32,
    inner: u32,
    chunks: u32,
    chunk_rows: u32,
    n_out: u32,
    start: u32,
    to: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

alias Words = u32;
alias Ints = i32;
alias Floats = f32;

/// Maps an element to the word that `combine` reduces.
fn map_word(word: u32) -> u32 {
    switch OP {
        case 1u: { return bitcast<u32>(total_order_key(word, 0x7fffffff)); }
        case 2u: { return bitcast<u32>(total_order_key(word, i32(-0x7fffffff) - 1)); }
        case 4u: { return bitcast<u32>(bitcast<f32>(word) * bitcast<f32>(word)); }
        default: { return word; }
    }
}

@compute @workgroup_size(THREADS)
fn tensor_reduce_columns(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = (group.y * groups.x + group.x) * THREADS + lane;
    if i >= params.n_out {
        return;
    }
    let column = i % params.inner;
    let chunk = i / params.inner;
    let outer = chunk / params.chunks;
    let from_row = (chunk - outer * params.chunks) * params.chunk_rows;
    let rows = min(params.chunk_rows, params.rows - from_row);
    var at = params.start + (outer * params.rows + from_row) * params.inner + column;
    var total = map_word(a[at]);
    var row = 1u;
    while row + 4u <= rows {
        let x0 = map_word(a[at + params.inner]);
        let x1 = map_word(a[at + 2u * params.inner]);
        let x2 = map_word(a[at + 3u * params.inner]);
        let x3 = map_word(a[at + 4u * params.inner]);
        total = combine(total, combine(combine(x0, x1), combine(x2, x3)));
        at += 4u * params.inner;
        row += 4u;
    }
    while row < rows {
        at += params.inner;
        total = combine(total, map_word(a[at]));
        row += 1u;
    }
    out[params.to + i] = finalize(total);
}
