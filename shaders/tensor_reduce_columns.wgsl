// Reduces the middle axis of [outer, rows, inner]: one number for each chunk of rows of each column.
//
// One invocation reduces up to `chunk_rows` elements of a column, at most 1024; neighbours take neighbouring columns.
// The order of additions depends on the shape alone. Several chunks: run again on the result.
// Bindings: `a`: [outer, rows, inner] from element `start` on; `out`: [outer, chunks, inner] from element `to` on; f32.
// Preconditions: nothing is 0; chunks * chunk_rows >= rows.
// Twin: src/tensor/cpu/reduce.rs

// 0 sum, 1 max, 2 min, 4 sum of squares: the numbers of tensor_reduce_rows.
override OP: u32 = 0u;

const THREADS: u32 = 256u;

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

/// As in tensor_reduce_rows.
fn key(bits: u32, nan: i32) -> i32 {
    let word = bitcast<i32>(bits);
    let ordered = word ^ ((word >> 31u) & 0x7fffffff);
    return select(ordered, nan, (bits & 0x7fffffffu) > 0x7f800000u);
}

fn prepared(word: u32) -> u32 {
    switch OP {
        case 1u: { return bitcast<u32>(key(word, 0x7fffffff)); }
        case 2u: { return bitcast<u32>(key(word, i32(-0x7fffffff) - 1)); }
        case 4u: { return bitcast<u32>(bitcast<f32>(word) * bitcast<f32>(word)); }
        default: { return word; }
    }
}

fn combined(x: u32, y: u32) -> u32 {
    switch OP {
        case 1u: { return bitcast<u32>(max(bitcast<i32>(x), bitcast<i32>(y))); }
        case 2u: { return bitcast<u32>(min(bitcast<i32>(x), bitcast<i32>(y))); }
        default: { return bitcast<u32>(bitcast<f32>(x) + bitcast<f32>(y)); }
    }
}

fn finished(word: u32) -> u32 {
    if OP != 1u && OP != 2u {
        return word;
    }
    let end = select(0x80000000u, 0x7fffffffu, OP == 1u);
    let ordered = bitcast<i32>(word);
    return select(bitcast<u32>(ordered ^ ((ordered >> 31u) & 0x7fffffff)), 0x7fc00000u, word == end);
}

@compute @workgroup_size(256)
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
    var total = prepared(a[at]);
    var row = 1u;
    while row + 4u <= rows {
        let x0 = prepared(a[at + params.inner]);
        let x1 = prepared(a[at + 2u * params.inner]);
        let x2 = prepared(a[at + 3u * params.inner]);
        let x3 = prepared(a[at + 4u * params.inner]);
        total = combined(total, combined(combined(x0, x1), combined(x2, x3)));
        at += 4u * params.inner;
        row += 4u;
    }
    while row < rows {
        at += params.inner;
        total = combined(total, prepared(a[at]));
        row += 1u;
    }
    out[params.to + i] = finished(total);
}
