// Part of tensor_attention_many: sums of weighted values.
//
// import: lib/store4, tensor_attention_many/scores

// Element r: four columns of query r; element 8 + r: of the second group of columns.
var<private> sums: array<vec4<f32>, 16>;

/// Adds four columns, times the weights of four queries, to their sums.
fn add_to_sums(to: u32, weight: vec4<f32>, value: vec4<f32>) {
    sums[to] += weight.x * value;
    sums[to + 1u] += weight.y * value;
    sums[to + 2u] += weight.z * value;
    sums[to + 3u] += weight.w * value;
}

/// Adds the value of a key, times its weight for each query.
fn add_key(at_weight: u32, at_value: u32) {
    let w0 = sh_q[at_weight];
    let w1 = sh_q[at_weight + LANES_M];
    let v0 = sh_k[at_value];
    add_to_sums(0u, w0, v0);
    add_to_sums(4u, w1, v0);
    if COL_GROUPS == 2u {
        let v1 = sh_k[at_value + LANES_N];
        add_to_sums(8u, w0, v1);
        add_to_sums(12u, w1, v1);
    }
}

/// As `add_to_sums`, for the queries that see the key. A select rather than a weight of 0, since 0 * NaN is NaN.
fn add_seen(to: u32, weight: vec4<f32>, value: vec4<f32>, seen: vec4<bool>) {
    sums[to] += select(vec4(0.0), weight.x * value, seen.x);
    sums[to + 1u] += select(vec4(0.0), weight.y * value, seen.y);
    sums[to + 2u] += select(vec4(0.0), weight.z * value, seen.z);
    sums[to + 3u] += select(vec4(0.0), weight.w * value, seen.w);
}

/// As `add_key`, for a key that some queries may not see.
fn add_masked_key(at_weight: u32, at_value: u32, seen0: vec4<bool>, seen1: vec4<bool>) {
    let w0 = sh_q[at_weight];
    let w1 = sh_q[at_weight + LANES_M];
    let v0 = sh_k[at_value];
    add_seen(0u, w0, v0, seen0);
    add_seen(4u, w1, v0, seen1);
    if COL_GROUPS == 2u {
        let v1 = sh_k[at_value + LANES_N];
        add_seen(8u, w0, v1, seen0);
        add_seen(12u, w1, v1, seen1);
    }
}

/// Adds the values of LANES_N keys from `first` on, to those queries that see them if `is_masked`.
fn add_seen_values(lane_m: u32, lane_n: u32, is_masked: bool, first: u32, seen0: Seen, seen1: Seen) {
    var at_weight = KEPT + lane_m;
    var at_value = lane_n;
    if CAUSAL {
        if is_masked {
            for (var key = first; key < first + LANES_N; key++) {
                add_masked_key(at_weight, at_value, sees(seen0, key), sees(seen1, key));
                at_weight += PITCH;
                at_value += TILE_D4;
            }
            return;
        }
    }
    for (var step = 0u; step < LANES_N; step += 4u) {
        add_key(at_weight, at_value);
        add_key(at_weight + PITCH, at_value + TILE_D4);
        add_key(at_weight + 2u * PITCH, at_value + 2u * TILE_D4);
        add_key(at_weight + 3u * PITCH, at_value + 3u * TILE_D4);
        at_weight += 4u * PITCH;
        at_value += 4u * TILE_D4;
    }
}

fn lower_four(to: u32, f: vec4<f32>) {
    sums[to] *= f.x;
    sums[to + 1u] *= f.y;
    sums[to + 2u] *= f.z;
    sums[to + 3u] *= f.w;
}

fn lower_sums(f0: vec4<f32>, f1: vec4<f32>) {
    lower_four(0u, f0);
    lower_four(4u, f1);
    if COL_GROUPS == 2u {
        lower_four(8u, f0);
        lower_four(12u, f1);
    }
}

/// Stores the results of one query: 4 columns of each group and, if SPLIT, its maximum and sum.
fn store_sums(row_index: u32, split: u32, lane_n: u32, x0: vec4<f32>, x1: vec4<f32>, most: f32, sum: f32) {
    var start = params.out_from + row_index * params.dim;
    if SPLIT {
        start += split * params.n_out;
    }
    let col = 4u * lane_n;
    store4(start + col, col, params.dim, x0);
    if COL_GROUPS == 2u {
        let more = col + 4u * LANES_N;
        store4(start + more, more, params.dim, x1);
    }
    if SPLIT {
        if lane_n == 0u {
            let at = params.all_splits * params.n_out + 2u * (split * (params.n_out / params.dim) + row_index);
            out[at] = most;
            out[at + 1u] = sum;
        }
    }
}

/// Stores the results of the four queries from `row` on, whose sums start at `begin`.
fn store_queries(row: u32, row_index: u32, split: u32, lane_n: u32, begin: u32, most: vec4<f32>, sum: vec4<f32>) {
    let step = params.out_heads;
    if row < params.n_q {
        store_sums(row_index, split, lane_n, sums[begin], sums[begin + 8u], most.x, sum.x);
    }
    if row + 1u < params.n_q {
        store_sums(row_index + step, split, lane_n, sums[begin + 1u], sums[begin + 9u], most.y, sum.y);
    }
    if row + 2u < params.n_q {
        store_sums(row_index + 2u * step, split, lane_n, sums[begin + 2u], sums[begin + 10u], most.z, sum.z);
    }
    if row + 3u < params.n_q {
        store_sums(row_index + 3u * step, split, lane_n, sums[begin + 3u], sums[begin + 11u], most.w, sum.w);
    }
}
