// Flash attention of halves on matrix units, softmax(scale q k^T) v for each head, without storing the matrix of scores.
//
// A subgroup of 32 takes 16 or 32 rows: the queries of all heads that share keys, so that each key is loaded once for them. The workgroup
// iterates over the keys, 64 at a time, which are staged in workgroup memory while the previous ones are multiplied. Scores, their
// exponentials and the sums stay in registers, and sums are scaled only when the maximum of a row has grown by more than GROWTH. Rows in
// workgroup memory are padded by 16 bytes, so that eight of them lie in different banks.
// Bindings: `q`, `left` (keys), `right` (values): in units of 8 halves, element [batch, head, row, column] at
// offset + batch * x + head * y + row * z + column / 8; `out`: [batch, n_q, heads, dim], f32 or pairs of 16-bit elements, or, if SPLIT,
// [n_splits] times that in f32 before the final division, then [n_splits] times base and sum of exponentials of each query, for
// tensor_attention_merge.
// Preconditions: nothing is 0 but offsets and strides; dim <= DIM is a multiple of 8; split_len is a multiple of 64; n_splits * split_len >= n_k;
// if CAUSAL, n_k = n_q + first; if WINDOW, CAUSAL, window > 0, and n_splits * split_len is at least the number of keys that a workgroup's rows
// attend to, since splits begin at the first of these; subgroups of 32.
// A query with a score of NaN or +inf, or with scores of -inf only, yields NaN; masked keys have no influence. An infinite value may yield NaN.
// Twin: src/tensor/cpu/attention.rs
//
// import: lib/stage, lib/elements, lib/exp2, lib/window, tensor_attention_half/staging, tensor_attention_half/results
enable f16;
enable wgpu_cooperative_matrix;

override SUBGROUPS: u32 = 4u;
/// Matrices of 16 rows of a subgroup: 1 or 2.
override MATRICES: u32 = 1u;
/// Columns that are staged: 64 or 128.
override DIM: u32 = 128u;
/// Query i attends to keys up to i + first.
override CAUSAL: bool = false;
/// Query i attends to `window` keys at most, the last of which is i + first.
override WINDOW: bool = false;
override SPLIT: bool = false;
/// Queries, keys and values are of bfloat16.
override BFLOAT: bool = false;
/// Type of the result, as `DType::code` numbers it: 0 is f32, 1 is f16, 2 is bf16.
override TO: u32 = 1u;

const KEYS: u32 = 64u;
/// The lowest finite number: initial value of a row's base.
const LOWEST: f32 = -3.4028234e38;

/// The least bits, without the sign, of a number that is not finite.
override NOT_FINITE: u32 = select(0x7c00u, 0x7f80u, BFLOAT);
override WIDTH: u32 = 32u * SUBGROUPS;
override ROWS: u32 = 16u * MATRICES * SUBGROUPS;
// Units of a row, and vectors of four halves from a row to the next.
override UNITS: u32 = DIM / 8u;
override STRIDE: u32 = 2u * UNITS + 2u;
// Keys, then values, of a step.
override STAGE: u32 = 2u * KEYS * STRIDE;
override ALL: u32 = ROWS * STRIDE + 2u * STAGE;
override SCRATCH: u32 = 256u * SUBGROUPS;
override CLEARED: u32 = select(DIM, 2u * DIM, WINDOW);

// Powers of two by which a weight may exceed 1 before sums are scaled.
const GROWTH: f32 = 8.0;

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
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(0) var<storage, read> q: array<Unit>;
@group(0) @binding(1) var<storage, read> left: array<Unit>;
@group(0) @binding(2) var<storage, read> right: array<Unit>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

// Queries, then two steps of keys and values.
var<workgroup> sh_staged: array<vec4<f16>, ALL>;
// First keys with a value that is not finite in each column, in steps with masks; then, if WINDOW, keys after the last of these.
var<workgroup> sh_cleared: array<atomic<u32>, CLEARED>;
var<workgroup> sh_elements: array<f32, SCRATCH>;
var<workgroup> sh_sums: array<f32, SCRATCH>;
var<workgroup> sh_left: array<f16, SCRATCH>;

// Half of a unit of 16 bytes.
alias Part = vec4<f16>;
alias Right = coop_mat16x16<f16, B>;

alias Scores = array<array<Sum, 4>, 2>;
alias Weights = array<array<Left, 4>, 2>;
alias Outputs = array<array<Sum, 8>, 2>;

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

// Returns the products of a subgroup's rows, from vector `at_q` of `sh_staged` on, and 64 keys, from vector `at_k` on.
fn scores_of(at_q: u32, at_k: u32) -> Scores {
    var scores: Scores;
    for (var column = 0u; column < DIM / 16u; column++) {
        var rows: array<Left, 2>;
        for (var y = 0u; y < MATRICES; y++) {
            rows[y] = coopLoadT<Left>(&sh_staged[at_q + 16u * y * STRIDE + 4u * column], STRIDE);
        }
        for (var x = 0u; x < 4; x++) {
            let keys = coopLoad<Right>(&sh_staged[at_k + 16u * x * STRIDE + 4u * column], STRIDE);
            for (var y = 0u; y < MATRICES; y++) {
                scores[y][x] = coopMultiplyAdd(rows[y], keys, scores[y][x]);
            }
        }
    }
    return scores;
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

// Adds the products of weights and values, from vector `at_v` of `sh_staged` on.
fn add_weighted_values(sums: ptr<function, Outputs>, weights: Weights, at_v: u32) {
    for (var step = 0u; step < 4; step++) {
        for (var x = 0u; x < DIM / 16u; x++) {
            let values = coopLoadT<Right>(&sh_staged[at_v + 16u * step * STRIDE + 4u * x], STRIDE);
            for (var y = 0u; y < MATRICES; y++) {
                (*sums)[y][x] = coopMultiplyAdd(weights[y][step], values, (*sums)[y][x]);
            }
        }
    }
}

// Scales the sums of an invocation's two rows of matrix `y`.
fn scale_outputs(sums: ptr<function, Outputs>, y: u32, scale: vec2<f32>, own: u32, lane: u32) {
    for (var x = 0u; x < DIM / 16u; x++) {
        let elements = elements_of((*sums)[y][x], own, lane);
        (*sums)[y][x] = matrix_of(Elements(elements.first * scale.xxyy, elements.second * scale.xxyy), own, lane);
    }
}

// Returns the first keys that two rows attend to, if WINDOW; their ends where those come first.
fn begins_of(row: u32, ends: vec2<u32>) -> vec2<u32> {
    let begins = vec2(window_begin(row / params.n_shared), window_begin((row + 8u) / params.n_shared));
    return min(begins, ends);
}

// Returns the weights of 64 keys for an invocation's rows of matrix `y`, from their products with the queries, and scales the sums of
// earlier keys to the same base.
fn weigh(
    scores: array<Sum, 4>,
    rows: ptr<function, Rows>,
    sums: ptr<function, Outputs>,
    y: u32,
    key: u32,
    is_masked: bool,
    own: u32,
    lane: u32,
) -> array<Left, 4> {
    var firsts: array<vec4<f32>, 4>;
    var seconds: array<vec4<f32>, 4>;
    var most = vec4(LOWEST);
    var begins = vec2(0u);
    if WINDOW {
        if is_masked {
            begins = begins_of((*rows).row, (*rows).ends);
        }
    }
    for (var x = 0u; x < 4; x++) {
        let elements = elements_of(scores[x], own, lane);
        firsts[x] = elements.first;
        seconds[x] = elements.second;
        if is_masked {
            let column = key + 16u * x + 2u * (lane % 4u);
            firsts[x] = masked(firsts[x], column, begins, (*rows).ends);
            seconds[x] = masked(seconds[x], column + 8u, begins, (*rows).ends);
        }
        let larger = max(firsts[x], seconds[x]);
        most = max(most, vec4(larger.xz, larger.yw));
    }
    let next = exponents(maxima_of_quads(max(most.xy, most.zw)));
    let base = select(next, (*rows).base, next <= (*rows).base + GROWTH);
    let scale = powers(vec4((*rows).base - base, 0.0, 0.0)).xy;
    var total = vec4((*rows).total * scale, 0.0, 0.0);
    var weights: array<Left, 4>;
    for (var x = 0u; x < 4; x++) {
        let first = powers(fma(firsts[x], vec4(params.scale), -base.xxyy));
        let second = powers(fma(seconds[x], vec4(params.scale), -base.xxyy));
        let both = first + second;
        total += vec4(both.xz, both.yw);
        weights[x] = left_of(Elements(first, second), own, lane);
    }
    (*rows).total = total.xy + total.zw;
    (*rows).base = base;
    if subgroupAny(any(scale != vec2(1.0))) {
        scale_outputs(sums, y, scale, own, lane);
    }
    return weights;
}

// Returns the state of row `row` and of that 8 rows further down before the first key.
fn rows_of(row: u32, end: u32) -> Rows {
    var rows = Rows(row, vec2(end), vec2(LOWEST), vec2(0.0));
    if CAUSAL {
        rows.ends = min(vec2(row, row + 8u) / params.n_shared + params.first + 1u, vec2(end));
    }
    return rows;
}

@compute @workgroup_size(WIDTH)
fn tensor_attention_half(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_groups {
        return;
    }
    // With a mask the last queries see most keys: theirs begin first, in all heads.
    let n_products = params.n_groups / params.tiles;
    let first_row = (params.tiles - 1u - id / n_products) * ROWS;
    let split = id % n_products % params.n_splits;
    let product = id % n_products / params.n_splits;
    let batch = product / params.key_heads;
    let key_head = product - batch * params.key_heads;
    let start_k = params.k.x + batch * params.k.y + key_head * params.k.z;
    let start_v = params.v.x + batch * params.v.y + key_head * params.v.z;
    let head = key_head * params.n_shared;

    var begin = split * params.split_len;
    if WINDOW {
        begin += window_begin(first_row / params.n_shared);
    }
    var end = min(begin + params.split_len, params.n_k);
    // End, and beginning, of the keys that all rows attend to.
    var common_end = end;
    var common_begin = 0u;
    if CAUSAL {
        let last_row = min(first_row + ROWS, params.rows) - 1u;
        end = min(end, last_row / params.n_shared + params.first + 1u);
        common_end = min(end, first_row / params.n_shared + params.first + 1u);
        if WINDOW {
            common_begin = window_begin(last_row / params.n_shared);
        }
    }
    let lane = i % 32u;
    let subgroup = i / 32u;
    let own = 256u * subgroup;
    var rows_0 = rows_of(first_row + 16u * MATRICES * subgroup + lane / 4u, end);
    var rows_1 = rows_of(first_row + 16u * MATRICES * subgroup + lane / 4u + 16u, end);
    var sums: Outputs;
    for (var column = i; column < DIM; column += WIDTH) {
        atomicStore(&sh_cleared[column], 0xffffffffu);
        if WINDOW {
            atomicStore(&sh_cleared[DIM + column], 0u);
        }
    }
    stage_keys(i, 0u, begin, end, start_k, start_v);
    stage_queries(i, first_row, params.q.x + batch * params.q.y, head);
    var stage = 0u;
    for (var key = begin; key < end; key += KEYS) {
        await_staged(0u);
        stage_keys(i, stage ^ 1u, key + KEYS, end, start_k, start_v);
        let at_k = ROWS * STRIDE + stage * STAGE;
        var is_masked = key + KEYS > common_end;
        if WINDOW {
            is_masked = is_masked || key < common_begin;
        }
        if CAUSAL {
            if is_masked {
                keep_finite(i, at_k + KEYS * STRIDE, key);
            }
        }
        let scores = scores_of(16u * MATRICES * subgroup * STRIDE, at_k);
        var weights: Weights;
        weights[0] = weigh(scores[0], &rows_0, &sums, 0u, key, is_masked, own, lane);
        if MATRICES == 2u {
            weights[1] = weigh(scores[1], &rows_1, &sums, 1u, key, is_masked, own, lane);
        }
        add_weighted_values(&sums, weights, at_k + KEYS * STRIDE);
        stage ^= 1u;
    }
    store_results(&sums, 0u, rows_0, split, batch, head, start_v, own, lane);
    if MATRICES == 2u {
        store_results(&sums, 1u, rows_1, split, batch, head, start_v, own, lane);
    }
}
