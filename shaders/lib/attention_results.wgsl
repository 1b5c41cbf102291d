// Results of attention of halves: parts of its kernels.
//
// import: lib/rounded, lib/attention_rows, lib/attention_staging

/// Type of the result, as `DType::code` numbers it: 0 is f32, 1 is f16, 2 is bf16.
override TO: u32 = 1u;

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
        return select(x, vec4(params.not_a_number), vec4(upper, lower));
    }
    let first = vec2(atomicLoad(&sh_cleared[column]), atomicLoad(&sh_cleared[column + 1u]));
    return select(x, vec4(params.not_a_number), first.xyxy < rows.ends.xxyy);
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

// Places of an invocation's two rows in the result, and whether there are such rows.
struct Places {
    first: vec2<u32>,
    is_row: vec2<bool>,
}

fn result_places(rows: Rows, work: Work) -> Places {
    let numbers = vec2(rows.row, rows.row + 8u);
    let queries = work.batch * (params.rows / params.n_shared) + numbers / params.n_shared;
    let places = queries * params.key_heads * params.n_shared + work.head + numbers % params.n_shared;
    return Places(places, numbers < vec2(params.rows));
}

// Stores bases, as natural exponents, and sums of exponentials of two rows.
fn store_totals(places: Places, work: Work, rows: Rows, total: vec2<f32>) {
    let at = params.n_splits * params.n_out + 2u * work.split * (params.n_out / params.dim);
    let base = 0.6931472 * rows.base;
    if places.is_row.x { store_pair(at + 2u * places.first.x, vec2(base.x, total.x)); }
    if places.is_row.y { store_pair(at + 2u * places.first.y, vec2(base.y, total.y)); }
}

// Stores two rows' elements of a column and the next.
fn store_result_columns(elements: vec4<f32>, column: u32, places: Places, work: Work, rows: Rows) {
    var x = elements;
    if CAUSAL {
        x = with_cleared(x, column, rows, work.start_v);
    }
    if column < params.dim {
        var start = 0u;
        if SPLIT {
            start = work.split * params.n_out;
        }
        if places.is_row.x { store_pair(start + places.first.x * params.dim + column, x.xy); }
        if places.is_row.y { store_pair(start + places.first.y * params.dim + column, x.zw); }
    }
}
