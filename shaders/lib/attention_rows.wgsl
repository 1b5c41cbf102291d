// Attention of halves on matrix units: bindings, parameters and rows of its kernels.
//
// Bindings: `q`, `left` (keys), `right` (values): in units of 8 halves, element [batch, head, row, column] at
// offset + batch * x + head * y + row * z + column / 8; `out`: [batch, n_q, heads, dim], f32 or pairs of 16-bit elements, or, if SPLIT,
// [n_splits] times that in f32 before the final division, then [n_splits] times base and sum of exponentials of each query, for
// tensor_attention_merge.
// Preconditions: nothing is 0 but offsets and strides; dim <= DIM is a multiple of 8; split_len is a multiple of KEYS; n_splits * split_len >= n_k;
// if CAUSAL, n_k = n_q + first; if WINDOW, CAUSAL, window > 0, and n_splits * split_len is at least the number of keys that a workgroup's rows
// attend to, since splits begin at the first of these; subgroups of 32.
// The file that imports these declares KEYS, the keys of a step, and ROWS, the rows of a workgroup.
//
// import: lib/exp2, lib/window, lib/stage

/// Columns that are staged: 64 or 128.
override DIM: u32 = 128u;
/// Query i attends to keys up to i + first.
override CAUSAL: bool = false;
/// Query i attends to `window` keys at most, the last of which is i + first.
override WINDOW: bool = false;
override SPLIT: bool = false;

/// The lowest finite number: initial value of a row's base.
const LOWEST: f32 = -3.4028234e38;
// Powers of two by which a weight may exceed 1 before sums are scaled.
const GROWTH: f32 = 8.0;

override UNITS: u32 = DIM / 8u;

struct Params {
    // Queries times heads that share keys, and these heads.
    rows: u32,
    n_shared: u32,
    n_k: u32,
    key_heads: u32,
    dim: u32,
    n_splits: u32,
    split_len: u32,
    // Workgroups along the rows.
    tiles: u32,
    n_groups: u32,
    first: u32,
    // Elements of `out` of one split.
    n_out: u32,
    // Scale of the scores for powers of two, above 0.
    scale: f32,
    // Offset, and strides of batches, heads and rows, in units.
    q: vec4<u32>,
    k: vec4<u32>,
    v: vec4<u32>,
    // The score of a masked key: -inf.
    masked: f32,
    // Keys that a query attends to at most, if WINDOW.
    window: u32,
    // Compilers take the difference of two infinities of the same sign for 0.
    not_a_number: f32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> q: array<Unit>;
@group(0) @binding(1) var<storage, read> left: array<Unit>;
@group(0) @binding(2) var<storage, read> right: array<Unit>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

// Two rows of an invocation.
struct Rows {
    // The first of them; the second is 8 further down.
    row: u32,
    // Ends of the keys that they attend to.
    ends: vec2<u32>,
    // Weights are powers of two of the scores less this base, at least the largest score so far less GROWTH.
    base: vec2<f32>,
    // The invocation's part of the sum of weights.
    total: vec2<f32>,
}

// A workgroup's rows and keys.
struct Work {
    first_row: u32,
    split: u32,
    batch: u32,
    // The first of the heads that share keys.
    head: u32,
    // Units at which the head's keys and values start.
    start_k: u32,
    start_v: u32,
    // The keys that some row attends to, and those that all rows attend to.
    begin: u32,
    end: u32,
    common_begin: u32,
    common_end: u32,
}

fn work_of(id: u32) -> Work {
    // With a mask the last queries see most keys: theirs begin first, in all heads.
    let n_products = params.n_groups / params.tiles;
    let first_row = (params.tiles - 1u - id / n_products) * ROWS;
    let split = id % n_products % params.n_splits;
    let product = id % n_products / params.n_splits;
    let batch = product / params.key_heads;
    let key_head = product - batch * params.key_heads;
    let start_k = params.k.x + batch * params.k.y + key_head * params.k.z;
    let start_v = params.v.x + batch * params.v.y + key_head * params.v.z;
    var begin = split * params.split_len;
    if WINDOW {
        begin += window_begin(first_row / params.n_shared);
    }
    let end = min(begin + params.split_len, params.n_k);
    var work = Work(first_row, split, batch, key_head * params.n_shared, start_k, start_v, begin, end, 0u, end);
    if CAUSAL {
        let last_row = min(first_row + ROWS, params.rows) - 1u;
        work.end = min(end, last_row / params.n_shared + params.first + 1u);
        work.common_end = min(work.end, first_row / params.n_shared + params.first + 1u);
        if WINDOW {
            work.common_begin = window_begin(last_row / params.n_shared);
        }
    }
    return work;
}

// Returns true if some row does not attend to some of the keys of the step at `key`.
fn is_step_masked(work: Work, key: u32) -> bool {
    var is_masked = key + KEYS > work.common_end;
    if WINDOW {
        is_masked = is_masked || key < work.common_begin;
    }
    return is_masked;
}

// Returns maxima or sums over the four invocations that have elements of the same rows.
fn maxima_of_quads(own: vec2<f32>) -> vec2<f32> {
    let pair = max(own, subgroupShuffleXor(own, 1u));
    return max(pair, subgroupShuffleXor(pair, 2u));
}

fn sums_of_quads(own: vec2<f32>) -> vec2<f32> {
    let pair = own + subgroupShuffleXor(own, 1u);
    return pair + subgroupShuffleXor(pair, 2u);
}

// Returns the largest scores of rows, as exponents of two, from the largest products; finite unless they are +inf.
fn exponents(most: vec2<f32>) -> vec2<f32> {
    return max(params.scale * most, vec2(LOWEST));
}

fn powers(x: vec4<f32>) -> vec4<f32> {
    return vec4(normal_exp2(x.x), normal_exp2(x.y), normal_exp2(x.z), normal_exp2(x.w));
}

// Masks the products of keys from `key` on that the rows do not attend to.
fn masked(x: vec4<f32>, key: u32, begins: vec2<u32>, ends: vec2<u32>) -> vec4<f32> {
    let keys = vec4(key, key + 1u, key, key + 1u);
    var seen = keys < ends.xxyy;
    if WINDOW {
        // For keys before the window, the difference wraps around.
        seen = keys - begins.xxyy < (ends - begins).xxyy;
    }
    return select(vec4(params.masked), x, seen);
}

// Returns the first keys that two rows attend to, if WINDOW; their ends where those come first.
fn begins_of(row: u32, ends: vec2<u32>) -> vec2<u32> {
    let begins = vec2(window_begin(row / params.n_shared), window_begin((row + 8u) / params.n_shared));
    return min(begins, ends);
}

// Returns the state of row `row` and of that 8 rows further down before the first key.
fn rows_of(row: u32, end: u32) -> Rows {
    var rows = Rows(row, vec2(end), vec2(LOWEST), vec2(0.0));
    if CAUSAL {
        rows.ends = min(vec2(row, row + 8u) / params.n_shared + params.first + 1u, vec2(end));
    }
    return rows;
}
