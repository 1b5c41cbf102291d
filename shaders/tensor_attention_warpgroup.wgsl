// Flash attention of halves on the matrix units of whole warpgroups, softmax(scale q k^T) v for each head, without storing the matrix of scores.
//
// Each 128 invocations take 64 rows: the queries of all heads that share keys, so that each key is loaded once for them. The workgroup
// iterates over the keys, KEYS at a time. While an invocation computes the weights of a step, the values of the step before are multiplied, and
// the copies of the next step run. Scores, their exponentials and the sums stay in registers, and sums are scaled only when the maximum of a
// row has grown by more than GROWTH. Lines in workgroup memory have units of 16 bytes, exchanged so that eight lines lie in different banks.
// A query with a score of NaN or +inf, or with scores of -inf only, yields NaN; masked keys have no influence. An infinite value may yield NaN.
// Twin: src/tensor/cpu/attention.rs
//
// import: lib/warpgroup, lib/warpgroup_halves, lib/warpgroup_left, lib/attention_rows, lib/attention_staging, lib/attention_results
enable f16;

// Warpgroups, along the rows.
override GROUPS: u32 = 2u;

/// Keys of a step: 64 or 128.
override KEYS: u32 = 128u;

const IN_BLOCKS: bool = true;
// Vectors of four halves of a line of 64.
const LINE: u32 = 16u;

override WIDTH: u32 = 128u * GROUPS;
override ROWS: u32 = 64u * GROUPS;
// Vectors of four halves of all queries, and of the keys or values of a step.
override LINES: u32 = WIDTH / UNITS;
override QUERIES: u32 = ROWS * 2u * UNITS;
override STEP: u32 = KEYS * 2u * UNITS;
override ALL: u32 = QUERIES + 4u * STEP;
override N_LEFT: u32 = 16u * WIDTH;

// Queries, then two steps of keys, then two steps of values.
var<workgroup> sh_staged: array<vec4<f16>, ALL>;
var<workgroup> sh_left: array<u32, N_LEFT>;

// Half of a unit of 16 bytes.
alias Part = vec4<f16>;

alias Weights = array<GroupLeft, 2>;

// Starts the copies of the keys or values of a step. The lines of an invocation are LINES apart, a divisor of 64 and multiple of 8.
fn stage_keys(i: u32, stage: u32, key: u32, work: Work) {
    let unit = i % UNITS;
    let first = key + i / UNITS;
    let n_lines = select(0u, work.end - min(work.end, first), 8u * unit < params.dim);
    let to = QUERIES + stage * STEP + place_in_lines(KEYS, i / UNITS, unit);
    let source = work.start_k + first * params.k.w + unit;
    for (var line = 0u; line < KEYS; line += LINES) {
        stage_left(to + LINE * line, source + line * params.k.w, line < n_lines);
    }
}

fn stage_values(i: u32, stage: u32, key: u32, work: Work) {
    let unit = i % UNITS;
    let first = key + i / UNITS;
    let n_lines = select(0u, work.end - min(work.end, first), 8u * unit < params.dim);
    let to = QUERIES + (2u + stage) * STEP + value_place(i / UNITS, unit);
    let source = work.start_v + first * params.v.w + unit;
    for (var line = 0u; line < KEYS; line += LINES) {
        // As value_place has them.
        let place = to + line / 64u * (128u * UNITS) + LINE * (line % 64u);
        stage_right(place, source + line * params.v.w, line < n_lines);
    }
}

// Starts the products of a group's rows and the keys of a step.
fn begin_scores(scores: ptr<function, GroupSums>, i: u32, stage: u32) {
    let at_q = LINE * 64u * (i / 128u);
    let at_k = QUERIES + stage * STEP;
    multiply_staged(scores, at_q, at_k, i % 128u, KEYS, true, true, false);
    if DIM > 64u {
        multiply_staged(scores, at_q + LINE * ROWS, at_k + LINE * KEYS, i % 128u, KEYS, true, true, true);
    }
}

// Starts the products of weights and the values of a step.
fn begin_weighted_values(sums: ptr<function, GroupSums>, weights: Weights, i: u32, stage: u32) {
    let at_v = QUERIES + (2u + stage) * STEP;
    let at_left = 2048u * (i / 128u);
    multiply_left(sums, weights[0], at_left, at_v, i % 128u, DIM, false);
    if KEYS > 64u {
        multiply_left(sums, weights[1], at_left, at_v + STEP / 2u, i % 128u, DIM, false);
    }
}

// Replaces the products of a step's keys and an invocation's rows by their weights, and returns the factors that scale the sums of earlier keys
// to the same base.
fn weigh_step(scores: ptr<function, GroupSums>, rows: ptr<function, Rows>, key: u32, is_masked: bool, lane: u32) -> vec2<f32> {
    if is_masked {
        var begins = vec2(0u);
        if WINDOW {
            begins = begins_of((*rows).row, (*rows).ends);
        }
        for (var half = 0u; half < KEYS / 64u; half++) {
            for (var x = 0u; x < 8u; x++) {
                let column = key + 64u * half + 8u * x + 2u * (lane % 4u);
                (*scores)[half][x] = masked((*scores)[half][x], column, begins, (*rows).ends);
            }
        }
    }
    var most = vec4(LOWEST);
    for (var half = 0u; half < KEYS / 64u; half++) {
        for (var x = 0u; x < 8u; x++) {
            most = max(most, (*scores)[half][x]);
        }
    }
    let next = exponents(maxima_of_quads(max(most.xz, most.yw)));
    let base = select(next, (*rows).base, next <= (*rows).base + GROWTH);
    let scale = powers(vec4((*rows).base - base, 0.0, 0.0)).xy;
    var total = vec4<f32>();
    for (var half = 0u; half < KEYS / 64u; half++) {
        for (var x = 0u; x < 8u; x++) {
            let weights = powers(fma((*scores)[half][x], vec4(params.scale), -base.xxyy));
            (*scores)[half][x] = weights;
            total += weights;
        }
    }
    (*rows).total = (*rows).total * scale + total.xz + total.yw;
    (*rows).base = base;
    return scale;
}

fn rounded_weights(scores: ptr<function, GroupSums>) -> Weights {
    var weights: Weights;
    weights[0] = group_left((*scores)[0]);
    if KEYS > 64u {
        weights[1] = group_left((*scores)[1]);
    }
    return weights;
}

fn scale_group_sums(sums: ptr<function, GroupSums>, scale: vec2<f32>) {
    for (var x = 0u; x < 8u; x++) {
        (*sums)[0][x] *= scale.xxyy;
        if DIM > 64u {
            (*sums)[1][x] *= scale.xxyy;
        }
    }
}

// Stores the results of an invocation's two rows.
fn store_group_results(sums: ptr<function, GroupSums>, rows: Rows, work: Work, lane: u32) {
    let total = sums_of_quads(rows.total);
    let places = result_places(rows, work);
    if SPLIT {
        if lane % 4u == 0u {
            store_totals(places, work, rows, total);
        }
    } else {
        scale_group_sums(sums, 1.0 / total);
    }
    let column = 2u * (lane % 4u);
    for (var x = 0u; x < 8u; x++) {
        store_result_columns((*sums)[0][x], column + 8u * x, places, work, rows);
    }
    if DIM > 64u {
        for (var x = 0u; x < 8u; x++) {
            store_result_columns((*sums)[1][x], column + 8u * x + 64u, places, work, rows);
        }
    }
}

@compute @workgroup_size(WIDTH)
fn tensor_attention_warpgroup(
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
    var rows = rows_of(work.first_row + 16u * (i / 32u) + lane / 4u, work.end);
    var sums: GroupSums;
    var scores: GroupSums;
    begin_cleared(i);
    stage_keys(i, 0u, work.begin, work);
    end_stage();
    stage_queries(i, work.first_row, params.q.x + work.batch * params.q.y, work.head);
    stage_keys(i, 1u, work.begin + KEYS, work);
    stage_values(i, 0u, work.begin, work);
    end_stage();
    await_staged(1u);
    begin_scores(&scores, i, 0u);
    await_products(0u);
    weigh_step(&scores, &rows, work.begin, is_step_masked(work, work.begin), lane);
    var weights = rounded_weights(&scores);
    var stage = 0u;
    var key = work.begin;
    for (; key + KEYS < work.end; key += KEYS) {
        await_staged(0u);
        if CAUSAL {
            if is_step_masked(work, key) {
                keep_finite(i, QUERIES + (2u + stage) * STEP, key);
            }
        }
        begin_turn(i / 128u);
        begin_scores(&scores, i, stage ^ 1u);
        begin_weighted_values(&sums, weights, i, stage);
        end_turn(i / 128u);
        stage_keys(i, stage, key + 2u * KEYS, work);
        stage_values(i, stage ^ 1u, key + KEYS, work);
        end_stage();
        // The products with keys are complete, those with values not yet.
        await_products(KEYS / 64u);
        let scale = weigh_step(&scores, &rows, key + KEYS, is_step_masked(work, key + KEYS), lane);
        await_products(0u);
        if subgroupAny(any(scale != vec2(1.0))) {
            scale_group_sums(&sums, scale);
        }
        weights = rounded_weights(&scores);
        stage ^= 1u;
    }
    await_staged(0u);
    if CAUSAL {
        if is_step_masked(work, key) {
            keep_finite(i, QUERIES + (2u + stage) * STEP, key);
        }
    }
    begin_weighted_values(&sums, weights, i, stage);
    await_products(0u);
    store_group_results(&sums, rows, work, lane);
}
