// Parameters and bindings of attention, and loads of four elements of f32 of a row of queries, keys or values.
//
// Bindings are words, so that a kernel may read elements of other types.
//
// The kernel declares the overrides ALIGNED and WINDOW.
//
// import: lib/window

struct Params {
    n_q: u32,
    // End of the keys.
    n_k: u32,
    heads: u32,
    // Query heads per key head.
    heads_per_key: u32,
    dim: u32,
    n_splits: u32,
    split_len: u32,
    // Workgroups along the queries.
    tiles: u32,
    n_groups: u32,
    first: u32,
    // Elements of `out` of one split.
    n_out: u32,
    scale: f32,
    // Offset, and strides of batches, heads and rows.
    q: vec4<u32>,
    k: vec4<u32>,
    v: vec4<u32>,
    first_key: u32,
    // Splits of earlier launches, and of all launches.
    splits_before: u32,
    all_splits: u32,
    out_from: u32,
    out_heads: u32,
    // Heads of all batches.
    products: u32,
    // Keys that a query sees at most, if WINDOW.
    window: u32,
    // Columns of values that the launch takes; `v` and `out_from` are those of the first.
    columns: u32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> k: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> v: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

/// Returns the first key of a split for queries from `query` on.
fn split_begin(query: u32, split: u32) -> u32 {
    var begin = params.first_key;
    if WINDOW {
        begin = max(begin, window_begin(query));
    }
    return begin + split * params.split_len;
}

/// Returns the index `at` of an element in column `col`, or the index of the last of the `n` elements of its row if the column is behind the
/// end. So elements are loaded without branches, whose values some compilers keep in registers throughout the enclosing loop.
fn inside(at: u32, col: u32, n: u32) -> u32 {
    return at - (max(col + 1u, n) - n);
}

/// Returns the indices of four elements from `at` on, likewise.
fn four_inside(at: u32, col: u32, n: u32) -> vec4<u32> {
    return vec4(at, inside(at + 1u, col + 1u, n), inside(at + 2u, col + 2u, n), inside(at + 3u, col + 3u, n));
}

/// Returns four elements from column `col` on, with 0 for columns behind the end of the row.
fn cut(x: vec4<u32>, col: u32, n: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(vec4(0u), x, vec4(col) + vec4(0u, 1u, 2u, 3u) < vec4(n)));
}

fn four_of_q(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return bitcast<vec4<f32>>(q[at >> 2u]);
    }
    let p = four_inside(at, col, params.dim);
    let x = vec4(q[p.x >> 2u][p.x & 3u], q[p.y >> 2u][p.y & 3u], q[p.z >> 2u][p.z & 3u], q[p.w >> 2u][p.w & 3u]);
    return cut(x, col, params.dim);
}

fn four_of_k(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return bitcast<vec4<f32>>(k[at >> 2u]);
    }
    let p = four_inside(at, col, params.dim);
    let x = vec4(k[p.x >> 2u][p.x & 3u], k[p.y >> 2u][p.y & 3u], k[p.z >> 2u][p.z & 3u], k[p.w >> 2u][p.w & 3u]);
    return cut(x, col, params.dim);
}

fn four_of_v(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return bitcast<vec4<f32>>(v[at >> 2u]);
    }
    let p = four_inside(at, col, params.columns);
    let x = vec4(v[p.x >> 2u][p.x & 3u], v[p.y >> 2u][p.y & 3u], v[p.z >> 2u][p.z & 3u], v[p.w >> 2u][p.w & 3u]);
    return cut(x, col, params.columns);
}

fn of_query(row: u32, at: u32, col: u32) -> vec4<f32> {
    if row < params.n_q && col < params.dim {
        return four_of_q(at, col);
    }
    return vec4(0.0);
}

fn of_key(row: u32, at: u32, col: u32) -> vec4<f32> {
    if row < params.n_k && col < params.dim {
        return four_of_k(at, col);
    }
    return vec4(0.0);
}
