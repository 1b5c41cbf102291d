// Flash attention of halves on matrix units, softmax(scale q k^T) v for each head, without storing the matrix of scores.
//
// A subgroup of 32 takes 16 or 32 rows: the queries of all heads that share keys, so that each key is loaded once for them. The workgroup
// iterates over the keys, 64 at a time, which are staged in workgroup memory while the previous ones are multiplied. Scores, their
// exponentials and the sums stay in registers, and sums are scaled only when the maximum of a row has grown by more than GROWTH. Rows in
// workgroup memory are padded by 16 bytes, so that eight of them lie in different banks.
// A query with a score of NaN or +inf, or with scores of -inf only, yields NaN; masked keys have no influence. An infinite value may yield NaN.
// Twin: src/tensor/cpu/attention.rs
//
// import: lib/elements, lib/attention_rows, lib/attention_staging, lib/attention_results
enable f16;
enable wgpu_cooperative_matrix;

override SUBGROUPS: u32 = 4u;
/// Matrices of 16 rows of a subgroup: 1 or 2.
override MATRICES: u32 = 1u;

const KEYS: u32 = 64u;
const IN_BLOCKS: bool = false;

override WIDTH: u32 = 32u * SUBGROUPS;
override ROWS: u32 = 16u * MATRICES * SUBGROUPS;
// Keys, then values, of a step.
override STAGE: u32 = 2u * KEYS * STRIDE;
override ALL: u32 = ROWS * STRIDE + 2u * STAGE;
override SCRATCH: u32 = 256u * SUBGROUPS;

// Queries, then two steps of keys and values.
var<workgroup> sh_staged: array<vec4<f16>, ALL>;
var<workgroup> sh_elements: array<f32, SCRATCH>;
var<workgroup> sh_sums: array<f32, SCRATCH>;
var<workgroup> sh_left: array<f16, SCRATCH>;

// Half of a unit of 16 bytes.
alias Part = vec4<f16>;
alias Right = coop_mat16x16<f16, B>;

alias Scores = array<array<Sum, 4>, 2>;
alias Weights = array<array<Left, 4>, 2>;
alias Outputs = array<array<Sum, 8>, 2>;

// Starts the copies of 64 keys and values.
fn stage_keys_and_values(i: u32, stage: u32, key: u32, work: Work) {
    let column = i % UNITS;
    let has_column = 8u * column < params.dim;
    let to = ROWS * STRIDE + stage * STAGE + 2u * column;
    for (var line = i / UNITS; line < KEYS; line += WIDTH / UNITS) {
        let inside = has_column && key + line < work.end;
        stage_left(to + line * STRIDE, work.start_k + (key + line) * params.k.w + column, inside);
        stage_right(to + (KEYS + line) * STRIDE, work.start_v + (key + line) * params.v.w + column, inside);
    }
    end_stage();
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

// Stores the results of an invocation's two rows of matrix `y`.
fn store_results(sums: ptr<function, Outputs>, y: u32, rows: Rows, work: Work, own: u32, lane: u32) {
    let total = sums_of_quads(rows.total);
    let places = result_places(rows, work);
    if SPLIT {
        if lane % 4u == 0u {
            store_totals(places, work, rows, total);
        }
    } else {
        scale_outputs(sums, y, 1.0 / total, own, lane);
    }
    for (var x = 0u; x < DIM / 16u; x++) {
        let elements = elements_of((*sums)[y][x], own, lane);
        let column = 16u * x + 2u * (lane % 4u);
        store_result_columns(elements.first, column, places, work, rows);
        store_result_columns(elements.second, column + 8u, places, work, rows);
    }
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
    let work = work_of(id);
    let lane = i % 32u;
    let subgroup = i / 32u;
    let own = 256u * subgroup;
    var rows_0 = rows_of(work.first_row + 16u * MATRICES * subgroup + lane / 4u, work.end);
    var rows_1 = rows_of(work.first_row + 16u * MATRICES * subgroup + lane / 4u + 16u, work.end);
    var sums: Outputs;
    begin_cleared(i);
    stage_keys_and_values(i, 0u, work.begin, work);
    stage_queries(i, work.first_row, params.q.x + work.batch * params.q.y, work.head);
    var stage = 0u;
    for (var key = work.begin; key < work.end; key += KEYS) {
        await_staged(0u);
        stage_keys_and_values(i, stage ^ 1u, key + KEYS, work);
        let at_k = ROWS * STRIDE + stage * STAGE;
        let is_masked = is_step_masked(work, key);
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
    store_results(&sums, 0u, rows_0, work, own, lane);
    if MATRICES == 2u {
        store_results(&sums, 1u, rows_1, work, own, lane);
    }
}
