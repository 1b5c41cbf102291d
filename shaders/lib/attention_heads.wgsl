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

fn four_of_q(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return bitcast<vec4<f32>>(q[at >> 2u]);
    }
    var x = vec4(q[at >> 2u][at & 3u], 0u, 0u, 0u);
    if col + 1u < params.dim { x.y = q[(at + 1u) >> 2u][(at + 1u) & 3u]; }
    if col + 2u < params.dim { x.z = q[(at + 2u) >> 2u][(at + 2u) & 3u]; }
    if col + 3u < params.dim { x.w = q[(at + 3u) >> 2u][(at + 3u) & 3u]; }
    return bitcast<vec4<f32>>(x);
}

fn four_of_k(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return bitcast<vec4<f32>>(k[at >> 2u]);
    }
    var x = vec4(k[at >> 2u][at & 3u], 0u, 0u, 0u);
    if col + 1u < params.dim { x.y = k[(at + 1u) >> 2u][(at + 1u) & 3u]; }
    if col + 2u < params.dim { x.z = k[(at + 2u) >> 2u][(at + 2u) & 3u]; }
    if col + 3u < params.dim { x.w = k[(at + 3u) >> 2u][(at + 3u) & 3u]; }
    return bitcast<vec4<f32>>(x);
}

fn four_of_v(at: u32, col: u32) -> vec4<f32> {
    if ALIGNED {
        return bitcast<vec4<f32>>(v[at >> 2u]);
    }
    var x = vec4(v[at >> 2u][at & 3u], 0u, 0u, 0u);
    if col + 1u < params.columns { x.y = v[(at + 1u) >> 2u][(at + 1u) & 3u]; }
    if col + 2u < params.columns { x.z = v[(at + 2u) >> 2u][(at + 2u) & 3u]; }
    if col + 3u < params.columns { x.w = v[(at + 3u) >> 2u][(at + 3u) & 3u]; }
    return bitcast<vec4<f32>>(x);
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
