// Flash attention of halves on matrix units, softmax(scale q k^T) v for each head. For engines without asynchronous copies, and with
// little workgroup memory: tensor_attention_half is for the others.
//
// A workgroup takes 128 rows: the queries of all heads that share keys. It iterates over the keys, 64 at a time. Keys and values of a step
// are loaded to registers after the products of the previous step, and then stored to workgroup memory. Queries, scores, weights and sums stay in registers; sums are scaled
// only when the maximum of a row has grown by more than GROWTH. Compilers keep matrices in registers only without loops and arrays, so each has a
// line. Rows in workgroup memory are padded by 16 bytes, so that eight of them lie in different banks.
// A query with a score of NaN or +inf, or with scores of -inf only, yields NaN; masked keys have no influence. An infinite value may yield NaN.
// Twin: src/tensor/cpu/attention.rs
//
// import: lib/elements, lib/attention_rows, lib/attention_staging, lib/attention_steps, lib/attention_results
enable f16;
enable wgpu_cooperative_matrix;

const KEYS: u32 = 64u;
const ROWS: u32 = 128u;
const IN_BLOCKS: bool = false;

/// Matrices of 16 rows of a subgroup: two if heads have 64 elements.
override MATRICES: u32 = 128u / DIM;
override WIDTH: u32 = 2u * DIM;
// Keys, then values, of a step; queries before the first step.
override ALL: u32 = 2u * KEYS * STRIDE;
// Elements of a matrix of each subgroup.
override SCRATCH: u32 = 16u * DIM;

var<workgroup> sh_staged: array<vec4<f16>, ALL>;
var<workgroup> sh_elements: array<f32, SCRATCH>;
var<workgroup> sh_sums: array<f32, SCRATCH>;
var<workgroup> sh_left: array<f16, SCRATCH>;

// Half of a unit of 16 bytes.
alias Part = vec4<f16>;
alias Right = coop_mat16x16<f16, B>;

// A row's elements of 64 keys, in the order of columns.
struct Row {
    x0: Elements,
    x1: Elements,
    x2: Elements,
    x3: Elements,
}

// Weights of 64 keys, and the factor that earlier sums are scaled by.
struct Weighed {
    weights: Row,
    scale: vec2<f32>,
}

// Returns 16 columns of a subgroup's 16 queries, from row `row` of the workgroup's on.
fn queries_matrix(row: u32, x: u32) -> Left {
    return coopLoadT<Left>(&sh_staged[row * STRIDE + 4u * x], STRIDE);
}

// Returns column `x` of 16 keys.
fn keys_matrix(y: u32, x: u32) -> Right {
    return coopLoad<Right>(&sh_staged[16u * y * STRIDE + 4u * x], STRIDE);
}

fn values_matrix(y: u32, x: u32) -> Right {
    return coopLoadT<Right>(&sh_staged[(KEYS + 16u * y) * STRIDE + 4u * x], STRIDE);
}

fn scaled(elements: Elements, scale: vec2<f32>) -> Elements {
    return Elements(elements.first * scale.xxyy, elements.second * scale.xxyy);
}

// Masks the products of 16 keys from `column` on.
fn masked_elements(x: Elements, column: u32, begins: vec2<u32>, ends: vec2<u32>) -> Elements {
    return Elements(masked(x.first, column, begins, ends), masked(x.second, column + 8u, begins, ends));
}

// Returns the largest elements of two rows.
fn largest(x: Elements) -> vec2<f32> {
    let larger = max(x.first, x.second);
    return max(larger.xz, larger.yw);
}

fn total_of(x: Elements) -> vec2<f32> {
    let both = x.first + x.second;
    return both.xz + both.yw;
}

fn weights_of(x: Elements, base: vec2<f32>) -> Elements {
    return Elements(
        powers(fma(x.first, vec4(params.scale), -base.xxyy)),
        powers(fma(x.second, vec4(params.scale), -base.xxyy)),
    );
}

// Returns the weights of 64 keys for an invocation's rows, from their products with the queries, and the factor that scales the sums of
// earlier keys to the same base.
fn weigh_rows(products: Row, rows: ptr<function, Rows>, key: u32, is_masked: bool, lane: u32) -> Weighed {
    var x = products;
    if is_masked {
        var begins = vec2(0u);
        if WINDOW {
            begins = begins_of((*rows).row, (*rows).ends);
        }
        let column = key + 2u * (lane % 4u);
        x.x0 = masked_elements(x.x0, column, begins, (*rows).ends);
        x.x1 = masked_elements(x.x1, column + 16u, begins, (*rows).ends);
        x.x2 = masked_elements(x.x2, column + 32u, begins, (*rows).ends);
        x.x3 = masked_elements(x.x3, column + 48u, begins, (*rows).ends);
    }
    let most = max(max(largest(x.x0), largest(x.x1)), max(largest(x.x2), largest(x.x3)));
    let next = exponents(maxima_of_quads(most));
    let base = select(next, (*rows).base, next <= (*rows).base + GROWTH);
    let scale = powers(vec4((*rows).base - base, 0.0, 0.0)).xy;
    let weights = Row(weights_of(x.x0, base), weights_of(x.x1, base), weights_of(x.x2, base), weights_of(x.x3, base));
    let total = (total_of(weights.x0) + total_of(weights.x1)) + (total_of(weights.x2) + total_of(weights.x3));
    (*rows).total = (*rows).total * scale + total;
    (*rows).base = base;
    return Weighed(weights, scale);
}

// Stores 16 columns of an invocation's two rows.
fn store_matrix_columns(sums: Elements, x: u32, places: Places, work: Work, rows: Rows, lane: u32) {
    let column = 16u * x + 2u * (lane % 4u);
    store_result_columns(sums.first, column, places, work, rows);
    store_result_columns(sums.second, column + 8u, places, work, rows);
}

// Stores the bases and totals of an invocation's two rows, if SPLIT. Returns the factor of their sums.
fn finish_rows(rows: Rows, places: Places, work: Work, lane: u32) -> vec2<f32> {
    let total = sums_of_quads(rows.total);
    if SPLIT {
        if lane % 4u == 0u {
            store_totals(places, work, rows, total);
        }
        return vec2(1.0);
    }
    return 1.0 / total;
}

@compute @workgroup_size(WIDTH)
fn tensor_attention_half_ahead(
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
    let own_row = 16u * MATRICES * (i / 32u);
    let own = 256u * (i / 32u);
    var rows_0 = rows_of(work.first_row + own_row + lane / 4u, work.end);
    var rows_1 = rows_of(work.first_row + own_row + lane / 4u + 16u, work.end);
    begin_cleared(i);
    stage_queries(i, work.first_row, params.q.x + work.batch * params.q.y, work.head);
    var step = load_keys_and_values(i, work, work.begin);
    workgroupBarrier();
    // Queries and sums at columns 0 to 7 of the head, or at columns 0 to 3 of two matrices of rows.
    let second = select(own_row, own_row + 16u, MATRICES == 2u);
    let next = select(4u, 0u, MATRICES == 2u);
    let q0 = queries_matrix(own_row, 0u);
    let q1 = queries_matrix(own_row, 1u);
    let q2 = queries_matrix(own_row, 2u);
    let q3 = queries_matrix(own_row, 3u);
    let q4 = queries_matrix(second, next);
    let q5 = queries_matrix(second, next + 1u);
    let q6 = queries_matrix(second, next + 2u);
    let q7 = queries_matrix(second, next + 3u);
    var o0: Sum;
    var o1: Sum;
    var o2: Sum;
    var o3: Sum;
    var o4: Sum;
    var o5: Sum;
    var o6: Sum;
    var o7: Sum;
    for (var key = work.begin; key < work.end; key += KEYS) {
        workgroupBarrier();
        store_keys_and_values(i, step);
        workgroupBarrier();
        let is_masked = is_step_masked(work, key);
        if CAUSAL {
            if is_masked {
                keep_finite(i, KEYS * STRIDE, key);
            }
        }
        // Products of 64 keys with the queries, then those with the second matrix of rows.
        var s0: Sum;
        var s1: Sum;
        var s2: Sum;
        var s3: Sum;
        var s4: Sum;
        var s5: Sum;
        var s6: Sum;
        var s7: Sum;
        let k00 = keys_matrix(0u, 0u);
        s0 = coopMultiplyAdd(q0, k00, s0);
        if MATRICES == 2u { s4 = coopMultiplyAdd(q4, k00, s4); }
        let k10 = keys_matrix(1u, 0u);
        s1 = coopMultiplyAdd(q0, k10, s1);
        if MATRICES == 2u { s5 = coopMultiplyAdd(q4, k10, s5); }
        let k20 = keys_matrix(2u, 0u);
        s2 = coopMultiplyAdd(q0, k20, s2);
        if MATRICES == 2u { s6 = coopMultiplyAdd(q4, k20, s6); }
        let k30 = keys_matrix(3u, 0u);
        s3 = coopMultiplyAdd(q0, k30, s3);
        if MATRICES == 2u { s7 = coopMultiplyAdd(q4, k30, s7); }
        let k01 = keys_matrix(0u, 1u);
        s0 = coopMultiplyAdd(q1, k01, s0);
        if MATRICES == 2u { s4 = coopMultiplyAdd(q5, k01, s4); }
        let k11 = keys_matrix(1u, 1u);
        s1 = coopMultiplyAdd(q1, k11, s1);
        if MATRICES == 2u { s5 = coopMultiplyAdd(q5, k11, s5); }
        let k21 = keys_matrix(2u, 1u);
        s2 = coopMultiplyAdd(q1, k21, s2);
        if MATRICES == 2u { s6 = coopMultiplyAdd(q5, k21, s6); }
        let k31 = keys_matrix(3u, 1u);
        s3 = coopMultiplyAdd(q1, k31, s3);
        if MATRICES == 2u { s7 = coopMultiplyAdd(q5, k31, s7); }
        let k02 = keys_matrix(0u, 2u);
        s0 = coopMultiplyAdd(q2, k02, s0);
        if MATRICES == 2u { s4 = coopMultiplyAdd(q6, k02, s4); }
        let k12 = keys_matrix(1u, 2u);
        s1 = coopMultiplyAdd(q2, k12, s1);
        if MATRICES == 2u { s5 = coopMultiplyAdd(q6, k12, s5); }
        let k22 = keys_matrix(2u, 2u);
        s2 = coopMultiplyAdd(q2, k22, s2);
        if MATRICES == 2u { s6 = coopMultiplyAdd(q6, k22, s6); }
        let k32 = keys_matrix(3u, 2u);
        s3 = coopMultiplyAdd(q2, k32, s3);
        if MATRICES == 2u { s7 = coopMultiplyAdd(q6, k32, s7); }
        let k03 = keys_matrix(0u, 3u);
        s0 = coopMultiplyAdd(q3, k03, s0);
        if MATRICES == 2u { s4 = coopMultiplyAdd(q7, k03, s4); }
        let k13 = keys_matrix(1u, 3u);
        s1 = coopMultiplyAdd(q3, k13, s1);
        if MATRICES == 2u { s5 = coopMultiplyAdd(q7, k13, s5); }
        let k23 = keys_matrix(2u, 3u);
        s2 = coopMultiplyAdd(q3, k23, s2);
        if MATRICES == 2u { s6 = coopMultiplyAdd(q7, k23, s6); }
        let k33 = keys_matrix(3u, 3u);
        s3 = coopMultiplyAdd(q3, k33, s3);
        if MATRICES == 2u { s7 = coopMultiplyAdd(q7, k33, s7); }
        if MATRICES == 1u {
            s0 = coopMultiplyAdd(q4, keys_matrix(0u, 4u), s0);
            s1 = coopMultiplyAdd(q4, keys_matrix(1u, 4u), s1);
            s2 = coopMultiplyAdd(q4, keys_matrix(2u, 4u), s2);
            s3 = coopMultiplyAdd(q4, keys_matrix(3u, 4u), s3);
            s0 = coopMultiplyAdd(q5, keys_matrix(0u, 5u), s0);
            s1 = coopMultiplyAdd(q5, keys_matrix(1u, 5u), s1);
            s2 = coopMultiplyAdd(q5, keys_matrix(2u, 5u), s2);
            s3 = coopMultiplyAdd(q5, keys_matrix(3u, 5u), s3);
            s0 = coopMultiplyAdd(q6, keys_matrix(0u, 6u), s0);
            s1 = coopMultiplyAdd(q6, keys_matrix(1u, 6u), s1);
            s2 = coopMultiplyAdd(q6, keys_matrix(2u, 6u), s2);
            s3 = coopMultiplyAdd(q6, keys_matrix(3u, 6u), s3);
            s0 = coopMultiplyAdd(q7, keys_matrix(0u, 7u), s0);
            s1 = coopMultiplyAdd(q7, keys_matrix(1u, 7u), s1);
            s2 = coopMultiplyAdd(q7, keys_matrix(2u, 7u), s2);
            s3 = coopMultiplyAdd(q7, keys_matrix(3u, 7u), s3);
        }
        let products_0 = Row(
            elements_of(s0, own, lane),
            elements_of(s1, own, lane),
            elements_of(s2, own, lane),
            elements_of(s3, own, lane),
        );
        let weighed_0 = weigh_rows(products_0, &rows_0, key, is_masked, lane);
        let w0 = left_of(weighed_0.weights.x0, own, lane);
        let w1 = left_of(weighed_0.weights.x1, own, lane);
        let w2 = left_of(weighed_0.weights.x2, own, lane);
        let w3 = left_of(weighed_0.weights.x3, own, lane);
        if subgroupAny(any(weighed_0.scale != vec2(1.0))) {
            o0 = matrix_of(scaled(elements_of(o0, own, lane), weighed_0.scale), own, lane);
            o1 = matrix_of(scaled(elements_of(o1, own, lane), weighed_0.scale), own, lane);
            o2 = matrix_of(scaled(elements_of(o2, own, lane), weighed_0.scale), own, lane);
            o3 = matrix_of(scaled(elements_of(o3, own, lane), weighed_0.scale), own, lane);
        }
        if MATRICES == 1u {
            if subgroupAny(any(weighed_0.scale != vec2(1.0))) {
                o4 = matrix_of(scaled(elements_of(o4, own, lane), weighed_0.scale), own, lane);
                o5 = matrix_of(scaled(elements_of(o5, own, lane), weighed_0.scale), own, lane);
                o6 = matrix_of(scaled(elements_of(o6, own, lane), weighed_0.scale), own, lane);
                o7 = matrix_of(scaled(elements_of(o7, own, lane), weighed_0.scale), own, lane);
            }
        }
        var w4: Left;
        var w5: Left;
        var w6: Left;
        var w7: Left;
        if MATRICES == 2u {
            let products_1 = Row(
                elements_of(s4, own, lane),
                elements_of(s5, own, lane),
                elements_of(s6, own, lane),
                elements_of(s7, own, lane),
            );
            let weighed_1 = weigh_rows(products_1, &rows_1, key, is_masked, lane);
            w4 = left_of(weighed_1.weights.x0, own, lane);
            w5 = left_of(weighed_1.weights.x1, own, lane);
            w6 = left_of(weighed_1.weights.x2, own, lane);
            w7 = left_of(weighed_1.weights.x3, own, lane);
            if subgroupAny(any(weighed_1.scale != vec2(1.0))) {
                o4 = matrix_of(scaled(elements_of(o4, own, lane), weighed_1.scale), own, lane);
                o5 = matrix_of(scaled(elements_of(o5, own, lane), weighed_1.scale), own, lane);
                o6 = matrix_of(scaled(elements_of(o6, own, lane), weighed_1.scale), own, lane);
                o7 = matrix_of(scaled(elements_of(o7, own, lane), weighed_1.scale), own, lane);
            }
        }
        let v00 = values_matrix(0u, 0u);
        o0 = coopMultiplyAdd(w0, v00, o0);
        if MATRICES == 2u { o4 = coopMultiplyAdd(w4, v00, o4); }
        let v01 = values_matrix(0u, 1u);
        o1 = coopMultiplyAdd(w0, v01, o1);
        if MATRICES == 2u { o5 = coopMultiplyAdd(w4, v01, o5); }
        let v02 = values_matrix(0u, 2u);
        o2 = coopMultiplyAdd(w0, v02, o2);
        if MATRICES == 2u { o6 = coopMultiplyAdd(w4, v02, o6); }
        let v03 = values_matrix(0u, 3u);
        o3 = coopMultiplyAdd(w0, v03, o3);
        if MATRICES == 2u { o7 = coopMultiplyAdd(w4, v03, o7); }
        let v10 = values_matrix(1u, 0u);
        o0 = coopMultiplyAdd(w1, v10, o0);
        if MATRICES == 2u { o4 = coopMultiplyAdd(w5, v10, o4); }
        let v11 = values_matrix(1u, 1u);
        o1 = coopMultiplyAdd(w1, v11, o1);
        if MATRICES == 2u { o5 = coopMultiplyAdd(w5, v11, o5); }
        let v12 = values_matrix(1u, 2u);
        o2 = coopMultiplyAdd(w1, v12, o2);
        if MATRICES == 2u { o6 = coopMultiplyAdd(w5, v12, o6); }
        let v13 = values_matrix(1u, 3u);
        o3 = coopMultiplyAdd(w1, v13, o3);
        if MATRICES == 2u { o7 = coopMultiplyAdd(w5, v13, o7); }
        let v20 = values_matrix(2u, 0u);
        o0 = coopMultiplyAdd(w2, v20, o0);
        if MATRICES == 2u { o4 = coopMultiplyAdd(w6, v20, o4); }
        let v21 = values_matrix(2u, 1u);
        o1 = coopMultiplyAdd(w2, v21, o1);
        if MATRICES == 2u { o5 = coopMultiplyAdd(w6, v21, o5); }
        let v22 = values_matrix(2u, 2u);
        o2 = coopMultiplyAdd(w2, v22, o2);
        if MATRICES == 2u { o6 = coopMultiplyAdd(w6, v22, o6); }
        let v23 = values_matrix(2u, 3u);
        o3 = coopMultiplyAdd(w2, v23, o3);
        if MATRICES == 2u { o7 = coopMultiplyAdd(w6, v23, o7); }
        let v30 = values_matrix(3u, 0u);
        o0 = coopMultiplyAdd(w3, v30, o0);
        if MATRICES == 2u { o4 = coopMultiplyAdd(w7, v30, o4); }
        let v31 = values_matrix(3u, 1u);
        o1 = coopMultiplyAdd(w3, v31, o1);
        if MATRICES == 2u { o5 = coopMultiplyAdd(w7, v31, o5); }
        let v32 = values_matrix(3u, 2u);
        o2 = coopMultiplyAdd(w3, v32, o2);
        if MATRICES == 2u { o6 = coopMultiplyAdd(w7, v32, o6); }
        let v33 = values_matrix(3u, 3u);
        o3 = coopMultiplyAdd(w3, v33, o3);
        if MATRICES == 2u { o7 = coopMultiplyAdd(w7, v33, o7); }
        if MATRICES == 1u {
            o4 = coopMultiplyAdd(w0, values_matrix(0u, 4u), o4);
            o5 = coopMultiplyAdd(w0, values_matrix(0u, 5u), o5);
            o6 = coopMultiplyAdd(w0, values_matrix(0u, 6u), o6);
            o7 = coopMultiplyAdd(w0, values_matrix(0u, 7u), o7);
            o4 = coopMultiplyAdd(w1, values_matrix(1u, 4u), o4);
            o5 = coopMultiplyAdd(w1, values_matrix(1u, 5u), o5);
            o6 = coopMultiplyAdd(w1, values_matrix(1u, 6u), o6);
            o7 = coopMultiplyAdd(w1, values_matrix(1u, 7u), o7);
            o4 = coopMultiplyAdd(w2, values_matrix(2u, 4u), o4);
            o5 = coopMultiplyAdd(w2, values_matrix(2u, 5u), o5);
            o6 = coopMultiplyAdd(w2, values_matrix(2u, 6u), o6);
            o7 = coopMultiplyAdd(w2, values_matrix(2u, 7u), o7);
            o4 = coopMultiplyAdd(w3, values_matrix(3u, 4u), o4);
            o5 = coopMultiplyAdd(w3, values_matrix(3u, 5u), o5);
            o6 = coopMultiplyAdd(w3, values_matrix(3u, 6u), o6);
            o7 = coopMultiplyAdd(w3, values_matrix(3u, 7u), o7);
        }
        step = load_keys_and_values(i, work, key + KEYS);
    }
    workgroupBarrier();
    let places_0 = result_places(rows_0, work);
    let factor_0 = finish_rows(rows_0, places_0, work, lane);
    store_matrix_columns(scaled(elements_of(o0, own, lane), factor_0), 0u, places_0, work, rows_0, lane);
    store_matrix_columns(scaled(elements_of(o1, own, lane), factor_0), 1u, places_0, work, rows_0, lane);
    store_matrix_columns(scaled(elements_of(o2, own, lane), factor_0), 2u, places_0, work, rows_0, lane);
    store_matrix_columns(scaled(elements_of(o3, own, lane), factor_0), 3u, places_0, work, rows_0, lane);
    if MATRICES == 1u {
        store_matrix_columns(scaled(elements_of(o4, own, lane), factor_0), 4u, places_0, work, rows_0, lane);
        store_matrix_columns(scaled(elements_of(o5, own, lane), factor_0), 5u, places_0, work, rows_0, lane);
        store_matrix_columns(scaled(elements_of(o6, own, lane), factor_0), 6u, places_0, work, rows_0, lane);
        store_matrix_columns(scaled(elements_of(o7, own, lane), factor_0), 7u, places_0, work, rows_0, lane);
    } else {
        let places_1 = result_places(rows_1, work);
        let factor_1 = finish_rows(rows_1, places_1, work, lane);
        store_matrix_columns(scaled(elements_of(o4, own, lane), factor_1), 0u, places_1, work, rows_1, lane);
        store_matrix_columns(scaled(elements_of(o5, own, lane), factor_1), 1u, places_1, work, rows_1, lane);
        store_matrix_columns(scaled(elements_of(o6, own, lane), factor_1), 2u, places_1, work, rows_1, lane);
        store_matrix_columns(scaled(elements_of(o7, own, lane), factor_1), 3u, places_1, work, rows_1, lane);
    }
}
