// Queries and values in workgroup memory: parts of the kernels of attention of halves.
//
// The file that imports these declares WIDTH, the invocations of a workgroup, and IN_BLOCKS: lines are in blocks, as wgsl-ptx describes for
// `staged_half`, or else padded by a unit, so that eight of them lie in different banks.
//
// import: lib/attention_rows

/// Queries, keys and values are of bfloat16.
override BFLOAT: bool = false;

/// The least bits, without the sign, of a number that is not finite.
override NOT_FINITE: u32 = select(0x7c00u, 0x7f80u, BFLOAT);
// Vectors of four halves from a padded line to the next.
override STRIDE: u32 = 2u * UNITS + 2u;
override CLEARED: u32 = select(DIM, 2u * DIM, WINDOW);

// First keys with a value that is not finite in each column, in steps with masks; then, if WINDOW, keys after the last of these.
var<workgroup> sh_cleared: array<atomic<u32>, CLEARED>;

// Returns the place of a unit of a line, one of `n_lines`.
fn place_in_lines(n_lines: u32, line: u32, unit: u32) -> u32 {
    if IN_BLOCKS {
        return 16u * (n_lines * (unit / 8u) + line) + 2u * ((unit ^ line) % 8u);
    }
    return line * STRIDE + 2u * unit;
}

// Returns the place of a unit of a key's values: blocks have 64 keys.
fn value_place(key: u32, unit: u32) -> u32 {
    if IN_BLOCKS {
        return key / 64u * (128u * UNITS) + place_in_lines(64u, key % 64u, unit);
    }
    return place_in_lines(KEYS, key, unit);
}

fn begin_cleared(i: u32) {
    for (var column = i; column < DIM; column += WIDTH) {
        atomicStore(&sh_cleared[column], 0xffffffffu);
        if WINDOW {
            atomicStore(&sh_cleared[DIM + column], 0u);
        }
    }
}

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
        let to = place_in_lines(ROWS, unit / UNITS, column);
        sh_staged[to] = found.first;
        sh_staged[to + 1u] = found.second;
    }
}

// Returns the bits of two values.
fn bits_of_pair(values: vec2<f16>) -> u32 {
    return pack2x16float(vec2<f32>(values));
}

// Returns which of two values are finite.
fn are_finite(values: vec2<f16>) -> vec2<bool> {
    let bits = bits_of_pair(values);
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
        let at = at_v + value_place(line, column / 2u) + column % 2u;
        let values = sh_staged[at];
        let kept = vec4(finite(values.xy, 4u * column, key + line), finite(values.zw, 4u * column + 2u, key + line));
        if !all(kept) {
            sh_staged[at] = select(vec4<f16>(), values, kept);
        }
    }
    workgroupBarrier();
}
