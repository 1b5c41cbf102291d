// Part of tensor_attention: sums of weighted values, and their results.
//
// import: lib/attention_heads, lib/store4

// Output sums: the invocation's queries for each group of columns.
var<private> sums: array<vec4<f32>, 16>;

fn add_weighted(group: u32, value: vec4<f32>, weight: vec4<f32>, seen: vec4<bool>) {
    if CAUSAL {
        // A select rather than a weight of 0, since 0 * NaN is NaN.
        sums[group] += select(vec4(0.0), weight.x * value, seen.x);
        sums[group + 1u] += select(vec4(0.0), weight.y * value, seen.y);
        sums[group + 2u] += select(vec4(0.0), weight.z * value, seen.z);
        sums[group + 3u] += select(vec4(0.0), weight.w * value, seen.w);
    } else {
        sums[group] += weight.x * value;
        sums[group + 1u] += weight.y * value;
        sums[group + 2u] += weight.z * value;
        sums[group + 3u] += weight.w * value;
    }
}

/// Returns which of four queries see a key. `own_end` is that of the first of them.
fn seen_by(key: u32, own_end: u32) -> vec4<bool> {
    if WINDOW {
        // Keys from the last that the first query sees back to this one; large for later keys, since the difference wraps around.
        let back = own_end - 1u - key;
        return back + vec4(0u, 1u, 2u, 3u) < vec4(params.window);
    }
    return vec4(key) < own_end + vec4(0u, 1u, 2u, 3u);
}

/// Adds a value row, times its weight for each of four queries.
fn add_value(start_v: u32, key: u32, end: u32, own_end: u32, lane_n: u32, weight: vec4<f32>) {
    if !FEWEST && key >= end {
        return;
    }
    let seen = seen_by(key, own_end);
    let col = 4u * lane_n;
    let at = start_v + key * params.v.w + col;
    if FEWEST || col < params.columns { add_weighted(0u, four_of_v(at, col), weight, seen); }
    if DIM_GROUPS >= 2u {
        if col + 64u < params.columns { add_weighted(4u, four_of_v(at + 64u, col + 64u), weight, seen); }
    }
    if DIM_GROUPS == 4u {
        if col + 128u < params.columns { add_weighted(8u, four_of_v(at + 128u, col + 128u), weight, seen); }
        if col + 192u < params.columns { add_weighted(12u, four_of_v(at + 192u, col + 192u), weight, seen); }
    }
}

/// Adds the values of a step, times their weights. Weights of the invocation's queries are 16 vectors apart.
fn add_step(own: Own, start_v: u32, key: u32, key_end: u32) {
    let weights = 16u * OWN_QUERIES * own.lane_m;
    if FEWEST {
        let end = select(key, min(key + KEYS, key_end), 4u * own.lane_n < params.columns);
        for (var next = key; next < end; next++) {
            let at = weights + (next - key) / 4u;
            let i = (next - key) % 4u;
            add_value(start_v, next, key_end, own.end, own.lane_n, vec4(sh_weights[at][i], sh_weights[at + 16u][i], 0.0, 0.0));
        }
        return;
    }
    for (var four = 0u; four < 16u; four++) {
        let w0 = sh_weights[weights + four];
        let w1 = sh_weights[weights + four + 16u];
        let w2 = sh_weights[weights + four + 32u];
        let w3 = sh_weights[weights + four + 48u];
        let first = key + 4u * four;
        add_value(start_v, first, key_end, own.end, own.lane_n, vec4(w0.x, w1.x, w2.x, w3.x));
        add_value(start_v, first + 1u, key_end, own.end, own.lane_n, vec4(w0.y, w1.y, w2.y, w3.y));
        add_value(start_v, first + 2u, key_end, own.end, own.lane_n, vec4(w0.z, w1.z, w2.z, w3.z));
        add_value(start_v, first + 3u, key_end, own.end, own.lane_n, vec4(w0.w, w1.w, w2.w, w3.w));
    }
}

fn scale_sums(scale: vec4<f32>) {
    sums[0] *= scale.x;
    sums[1] *= scale.y;
    sums[2] *= scale.z;
    sums[3] *= scale.w;
    if DIM_GROUPS >= 2u {
        sums[4] *= scale.x;
        sums[5] *= scale.y;
        sums[6] *= scale.z;
        sums[7] *= scale.w;
    }
    if DIM_GROUPS == 4u {
        sums[8] *= scale.x;
        sums[9] *= scale.y;
        sums[10] *= scale.z;
        sums[11] *= scale.w;
        sums[12] *= scale.x;
        sums[13] *= scale.y;
        sums[14] *= scale.z;
        sums[15] *= scale.w;
    }
}

/// Stores the results of one query: 4 columns of each group and, if SPLIT, its maximum and sum.
fn store_query(row_index: u32, split: u32, lane_n: u32, x: array<vec4<f32>, 4>, most: f32, sum: f32) {
    var start = params.out_from + row_index * params.dim;
    if SPLIT {
        start += split * params.n_out;
    }
    let col = 4u * lane_n;
    store4(start + col, col, params.columns, x[0]);
    if DIM_GROUPS >= 2u {
        store4(start + col + 64u, col + 64u, params.columns, x[1]);
    }
    if DIM_GROUPS == 4u {
        store4(start + col + 128u, col + 128u, params.columns, x[2]);
        store4(start + col + 192u, col + 192u, params.columns, x[3]);
    }
    if SPLIT {
        if lane_n == 0u {
            let at = params.all_splits * params.n_out + 2u * (split * (params.n_out / params.dim) + row_index);
            out[at] = most;
            out[at + 1u] = sum;
        }
    }
}
