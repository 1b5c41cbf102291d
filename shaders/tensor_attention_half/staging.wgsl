// Part of tensor_attention_half: queries, keys and values on their way to workgroup memory.
//
// import: lib/stage

// Copies a workgroup's queries to the start of `sh_staged`.
fn stage_queries(i: u32, first_row: u32, start: u32, head: u32) {
    for (var unit = i; unit < ROWS * UNITS; unit += WIDTH) {
        let row = first_row + unit / UNITS;
        let column = unit % UNITS;
        var found = Unit();
        if row < params.rows && 8u * column < params.dim {
            let at = start + (head + row % params.n_shared) * params.q.z + row / params.n_shared * params.q.w + column;
            found = q[at];
        }
        let to = unit / UNITS * STRIDE + 2u * column;
        sh_staged[to] = found.first;
        sh_staged[to + 1u] = found.second;
    }
}

// Starts the copies of 64 keys and values.
fn stage_keys(i: u32, stage: u32, key: u32, end: u32, start_k: u32, start_v: u32) {
    let column = i % UNITS;
    let has_column = 8u * column < params.dim;
    let to = ROWS * STRIDE + stage * STAGE + 2u * column;
    for (var line = i / UNITS; line < KEYS; line += WIDTH / UNITS) {
        let inside = has_column && key + line < end;
        stage_left(to + line * STRIDE, start_k + (key + line) * params.k.w + column, inside);
        stage_right(to + (KEYS + line) * STRIDE, start_v + (key + line) * params.v.w + column, inside);
    }
    end_stage();
}

// Returns which of two values are finite.
fn are_finite(values: vec2<f16>) -> vec2<bool> {
    let bits = pack2x16float(vec2<f32>(values));
    return (vec2(bits, bits >> 16u) & vec2(0x7fffu)) < vec2(NOT_FINITE);
}

// Notes a key whose value in a column is cleared.
fn note_cleared(column: u32, key: u32) {
    atomicMin(&sh_cleared[column], key);
    if WINDOW {
        atomicMax(&sh_cleared[DIM + column], key + 1u);
    }
}

// Returns which of two values of a key are finite, and notes the key for those that are not.
fn finite(values: vec2<f16>, column: u32, key: u32) -> vec2<bool> {
    let kept = are_finite(values);
    if !kept.x { note_cleared(column, key); }
    if !kept.y { note_cleared(column + 1u, key); }
    return kept;
}

// Clears the staged values that are not finite, from vector `at_v` on: times the weight 0 of a masked key, they would be NaN.
fn keep_finite(i: u32, at_v: u32, key: u32) {
    for (var own = i; own < KEYS * UNITS * 2u; own += WIDTH) {
        let line = own / (2u * UNITS);
        let column = own % (2u * UNITS);
        let at = at_v + line * STRIDE + column;
        let values = sh_staged[at];
        let kept = vec4(finite(values.xy, 4u * column, key + line), finite(values.zw, 4u * column + 2u, key + line));
        if !all(kept) {
            sh_staged[at] = select(vec4<f16>(), values, kept);
        }
    }
    workgroupBarrier();
}
