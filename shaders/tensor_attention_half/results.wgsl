// Part of tensor_attention_half: results.
//
// import: lib/rounded, tensor_attention_half/staging

// Returns in which of two neighbouring columns, from an even one on, a row attends to a value that is not finite, if WINDOW. Reads only keys
// from the first to the last with a cleared value.
fn attends_to_cleared(column: u32, begin: u32, end: u32, start_v: u32) -> vec2<bool> {
    let first = min(atomicLoad(&sh_cleared[column]), atomicLoad(&sh_cleared[column + 1u]));
    let last = max(atomicLoad(&sh_cleared[DIM + column]), atomicLoad(&sh_cleared[DIM + column + 1u]));
    var x = false;
    var y = false;
    for (var key = max(begin, first); key < min(end, last); key++) {
        let unit = right[start_v + key * params.v.w + column / 8u];
        let four = select(unit.second, unit.first, column % 8u < 4u);
        let kept = are_finite(select(four.zw, four.xy, column % 4u < 2u));
        x = x || !kept.x;
        y = y || !kept.y;
    }
    return vec2(x, y);
}

// Returns elements of two rows, NaN in columns where a value that a row attends to was cleared.
fn with_cleared(x: vec4<f32>, column: u32, rows: Rows, start_v: u32) -> vec4<f32> {
    if WINDOW {
        let begins = begins_of(rows.row, rows.ends);
        let upper = attends_to_cleared(column, begins.x, rows.ends.x, start_v);
        let lower = attends_to_cleared(column, begins.y, rows.ends.y, start_v);
        return select(x, vec4(params.masked - params.masked), vec4(upper, lower));
    }
    let first = vec2(atomicLoad(&sh_cleared[column]), atomicLoad(&sh_cleared[column + 1u]));
    return select(x, vec4(params.masked - params.masked), first.xyxy < rows.ends.xxyy);
}

// Stores two neighbouring numbers from element `at` of the result on.
fn store_pair(at: u32, x: vec2<f32>) {
    if SPLIT || TO == 0u {
        out[at] = bitcast<u32>(x.x);
        out[at + 1u] = bitcast<u32>(x.y);
    } else {
        out[at / 2u] = rounded_pair(x);
    }
}

// Stores a row's elements of 16 columns.
fn store_pairs(at: u32, column: u32, first: vec2<f32>, second: vec2<f32>) {
    if column < params.dim {
        store_pair(at + column, first);
    }
    if column + 8u < params.dim {
        store_pair(at + column + 8u, second);
    }
}

// Stores the results of an invocation's two rows of matrix `y`.
fn store_results(
    sums: ptr<function, Outputs>,
    y: u32,
    rows: Rows,
    split: u32,
    batch: u32,
    head: u32,
    start_v: u32,
    own: u32,
    lane: u32,
) {
    let total = sums_of_quads(rows.total);
    if !SPLIT {
        scale_outputs(sums, y, 1.0 / total, own, lane);
    }
    let numbers = vec2(rows.row, rows.row + 8u);
    let queries = batch * (params.rows / params.n_shared) + numbers / params.n_shared;
    let places = queries * params.key_heads * params.n_shared + head + numbers % params.n_shared;
    let is_row = numbers < vec2(params.rows);
    var start = 0u;
    if SPLIT {
        start = split * params.n_out;
        if lane % 4u == 0u {
            // Bases are natural exponents there.
            let at = params.n_splits * params.n_out + 2u * split * (params.n_out / params.dim);
            let base = 0.6931472 * rows.base;
            if is_row.x { store_pair(at + 2u * places.x, vec2(base.x, total.x)); }
            if is_row.y { store_pair(at + 2u * places.y, vec2(base.y, total.y)); }
        }
    }
    for (var x = 0u; x < DIM / 16u; x++) {
        var elements = elements_of((*sums)[y][x], own, lane);
        let column = 16u * x + 2u * (lane % 4u);
        if CAUSAL {
            elements.first = with_cleared(elements.first, column, rows, start_v);
            elements.second = with_cleared(elements.second, column + 8u, rows, start_v);
        }
        if is_row.x {
            store_pairs(start + places.x * params.dim, column, elements.first.xy, elements.second.xy);
        }
        if is_row.y {
            store_pairs(start + places.y * params.dim, column, elements.first.zw, elements.second.zw);
        }
    }
}
