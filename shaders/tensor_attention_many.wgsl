// Flash attention for many queries: as tensor_attention, with larger tiles.
//
// A workgroup takes 64 queries of one head and iterates over the keys, 64 at a time. Scores: 8 queries by 4 keys per
// invocation, with slices of 16 columns of queries and keys in workgroup memory. Online softmax: one invocation finds the
// maxima of 4 queries. Output: 8 queries by 4 or 8 columns per invocation, with weights and values of 16 keys in workgroup
// memory. Each slice is prefetched into registers while the previous one is multiplied.
// Bindings, and what is computed: as in tensor_attention.
// Preconditions: those of tensor_attention.
// Twin: src/tensor/cpu/attention.rs
//
// import: lib/attention_heads, lib/store4

/// Groups of 64 columns: 1 or 2.
override DIM_GROUPS: u32 = 1u;
/// Query i attends to keys up to i + first.
override CAUSAL: bool = false;
override SPLIT: bool = false;
override ALIGNED: bool = true;
/// Vectors of 16 rows of values.
override VALUES: u32 = 256u * DIM_GROUPS;

const QUERIES: u32 = 64u;
const KEYS: u32 = 64u;
/// Pitch of rows of 16 vectors that 16 invocations store at a time, one more against conflicts of banks.
const PITCH: u32 = 17u;
/// The lowest finite number: initial value of a row's maximum.
const LOWEST: f32 = -3.4028234e38;

// Queries, [column][group of 4 queries]; maxima or sums, [lane][group of 4 queries], with PITCH; weights,
// [key][group of 4 queries], with PITCH.
var<workgroup> sh_q: array<vec4<f32>, 272>;
// Keys, [column][group of 4 keys]: group n has the keys n, n + 16, n + 32 and n + 48; values, [key][group of 4 columns].
var<workgroup> sh_k: array<vec4<f32>, VALUES>;
// Maxima of the 16 groups of 4 queries, then factors of their sums.
var<workgroup> sh_rows: array<vec4<f32>, 32>;

// Element j: key lane_n + 16 * j for the first four queries; element 4 + j: for the second four. Scores, then weights.
var<private> scores: array<vec4<f32>, 8>;
// Element r: four columns of query r; element 8 + r: of the second group of columns.
var<private> sums: array<vec4<f32>, 16>;
// What is prefetched: a block of queries or keys, four rows for each of four columns; or four vectors of values.
var<private> block: array<vec4<f32>, 4>;

/// Prefetches four columns of four queries, or of four keys, and transposes them.
fn prefetch_rows(loads_q: bool, row: u32, at: u32, col: u32) {
    var r0: vec4<f32>;
    var r1: vec4<f32>;
    var r2: vec4<f32>;
    var r3: vec4<f32>;
    if loads_q {
        r0 = of_query(row, at, col);
        r1 = of_query(row + 1u, at + params.q.w, col);
        r2 = of_query(row + 2u, at + 2u * params.q.w, col);
        r3 = of_query(row + 3u, at + 3u * params.q.w, col);
    } else {
        r0 = of_key(row, at, col);
        r1 = of_key(row + 16u, at + 16u * params.k.w, col);
        r2 = of_key(row + 32u, at + 32u * params.k.w, col);
        r3 = of_key(row + 48u, at + 48u * params.k.w, col);
    }
    block[0] = vec4(r0.x, r1.x, r2.x, r3.x);
    block[1] = vec4(r0.y, r1.y, r2.y, r3.y);
    block[2] = vec4(r0.z, r1.z, r2.z, r3.z);
    block[3] = vec4(r0.w, r1.w, r2.w, r3.w);
}

/// Returns four columns of a value; 0 from `end` on.
fn of_value(key: u32, end: u32, at: u32, col: u32) -> vec4<f32> {
    if key < end && col < params.dim {
        return four_of_v(at, col);
    }
    return vec4(0.0);
}

/// Prefetches the values of `key` and of the key 8 later, in four columns of each group.
fn prefetch_values(start_v: u32, key: u32, end: u32, col: u32) {
    let at = start_v + key * params.v.w + col;
    let later = at + 8u * params.v.w;
    block[0] = of_value(key, end, at, col);
    block[1] = of_value(key + 8u, end, later, col);
    if DIM_GROUPS == 2u {
        block[2] = of_value(key, end, at + 64u, col + 64u);
        block[3] = of_value(key + 8u, end, later + 64u, col + 64u);
    }
}

/// Adds the products of one column to the scores.
fn add_scores(at_q: u32, at_k: u32) {
    let q0 = sh_q[at_q];
    let q1 = sh_q[at_q + 8u];
    let keys = sh_k[at_k];
    scores[0] += keys.x * q0;
    scores[1] += keys.y * q0;
    scores[2] += keys.z * q0;
    scores[3] += keys.w * q0;
    scores[4] += keys.x * q1;
    scores[5] += keys.y * q1;
    scores[6] += keys.z * q1;
    scores[7] += keys.w * q1;
}

/// Replaces the scores, or weights, of keys that are not seen, whose ends are given for each query.
fn mask_scores(first: u32, ends0: vec4<u32>, ends1: vec4<u32>, x: f32) {
    scores[0] = select(vec4(x), scores[0], vec4(first) < ends0);
    scores[1] = select(vec4(x), scores[1], vec4(first + 16u) < ends0);
    scores[2] = select(vec4(x), scores[2], vec4(first + 32u) < ends0);
    scores[3] = select(vec4(x), scores[3], vec4(first + 48u) < ends0);
    scores[4] = select(vec4(x), scores[4], vec4(first) < ends1);
    scores[5] = select(vec4(x), scores[5], vec4(first + 16u) < ends1);
    scores[6] = select(vec4(x), scores[6], vec4(first + 32u) < ends1);
    scores[7] = select(vec4(x), scores[7], vec4(first + 48u) < ends1);
}

/// Adds the value of a key, times its weight for each query.
fn add_value(at_weight: u32, at_value: u32) {
    let w0 = sh_q[at_weight];
    let w1 = sh_q[at_weight + 8u];
    let value = sh_k[at_value];
    sums[0] += w0.x * value;
    sums[1] += w0.y * value;
    sums[2] += w0.z * value;
    sums[3] += w0.w * value;
    sums[4] += w1.x * value;
    sums[5] += w1.y * value;
    sums[6] += w1.z * value;
    sums[7] += w1.w * value;
    if DIM_GROUPS == 2u {
        let more = sh_k[at_value + 16u];
        sums[8] += w0.x * more;
        sums[9] += w0.y * more;
        sums[10] += w0.z * more;
        sums[11] += w0.w * more;
        sums[12] += w1.x * more;
        sums[13] += w1.y * more;
        sums[14] += w1.z * more;
        sums[15] += w1.w * more;
    }
}

/// Adds the value of a key to four sums, times its weight for the queries that see it. A select rather than a weight of
/// 0, since 0 * NaN is NaN.
fn add_seen(to: u32, weight: vec4<f32>, value: vec4<f32>, seen: vec4<bool>) {
    sums[to] += select(vec4(0.0), weight.x * value, seen.x);
    sums[to + 1u] += select(vec4(0.0), weight.y * value, seen.y);
    sums[to + 2u] += select(vec4(0.0), weight.z * value, seen.z);
    sums[to + 3u] += select(vec4(0.0), weight.w * value, seen.w);
}

/// As `add_value`, for a key that some queries may not see.
fn add_masked_value(at_weight: u32, at_value: u32, seen0: vec4<bool>, seen1: vec4<bool>) {
    let w0 = sh_q[at_weight];
    let w1 = sh_q[at_weight + 8u];
    let value = sh_k[at_value];
    add_seen(0u, w0, value, seen0);
    add_seen(4u, w1, value, seen1);
    if DIM_GROUPS == 2u {
        let more = sh_k[at_value + 16u];
        add_seen(8u, w0, more, seen0);
        add_seen(12u, w1, more, seen1);
    }
}

/// Adds the values of 16 keys. Those from `first` on are masked if `is_masked`.
fn add_values(lane_m: u32, lane_n: u32, is_masked: bool, first: u32, ends0: vec4<u32>, ends1: vec4<u32>) {
    if CAUSAL {
        if is_masked {
            for (var key = 0u; key < 16u; key++) {
                let seen0 = vec4(first + key) < ends0;
                let seen1 = vec4(first + key) < ends1;
                add_masked_value(PITCH * key + lane_m, 16u * DIM_GROUPS * key + lane_n, seen0, seen1);
            }
            return;
        }
    }
    var at_weight = lane_m;
    var at_value = lane_n;
    for (var step = 0u; step < 4u; step++) {
        add_value(at_weight, at_value);
        add_value(at_weight + PITCH, at_value + 16u * DIM_GROUPS);
        add_value(at_weight + 2u * PITCH, at_value + 32u * DIM_GROUPS);
        add_value(at_weight + 3u * PITCH, at_value + 48u * DIM_GROUPS);
        at_weight += 4u * PITCH;
        at_value += 64u * DIM_GROUPS;
    }
}

fn scale_sums(f0: vec4<f32>, f1: vec4<f32>) {
    sums[0] *= f0.x;
    sums[1] *= f0.y;
    sums[2] *= f0.z;
    sums[3] *= f0.w;
    sums[4] *= f1.x;
    sums[5] *= f1.y;
    sums[6] *= f1.z;
    sums[7] *= f1.w;
    if DIM_GROUPS == 2u {
        sums[8] *= f0.x;
        sums[9] *= f0.y;
        sums[10] *= f0.z;
        sums[11] *= f0.w;
        sums[12] *= f1.x;
        sums[13] *= f1.y;
        sums[14] *= f1.z;
        sums[15] *= f1.w;
    }
}

/// Stores the results of one query: 4 columns of each group and, if SPLIT, its maximum and sum.
fn store_query(row_index: u32, split: u32, lane_n: u32, x0: vec4<f32>, x1: vec4<f32>, most: f32, sum: f32) {
    var start = params.out_from + row_index * params.dim;
    if SPLIT {
        start += split * params.n_out;
    }
    let col = 4u * lane_n;
    store4(start + col, col, params.dim, x0);
    if DIM_GROUPS == 2u {
        store4(start + col + 64u, col + 64u, params.dim, x1);
    }
    if SPLIT {
        if lane_n == 0u {
            let at = params.all_splits * params.n_out + 2u * (split * (params.n_out / params.dim) + row_index);
            out[at] = most;
            out[at + 1u] = sum;
        }
    }
}

/// Stores the results of the four queries from `row` on whose sums start at `begin`.
fn store_queries(row: u32, row_index: u32, split: u32, lane_n: u32, begin: u32, most: vec4<f32>, sum: vec4<f32>) {
    let step = params.out_heads;
    if row < params.n_q {
        store_query(row_index, split, lane_n, sums[begin], sums[begin + 8u], most.x, sum.x);
    }
    if row + 1u < params.n_q {
        store_query(row_index + step, split, lane_n, sums[begin + 1u], sums[begin + 9u], most.y, sum.y);
    }
    if row + 2u < params.n_q {
        store_query(row_index + 2u * step, split, lane_n, sums[begin + 2u], sums[begin + 10u], most.z, sum.z);
    }
    if row + 3u < params.n_q {
        store_query(row_index + 3u * step, split, lane_n, sums[begin + 3u], sums[begin + 11u], most.w, sum.w);
    }
}

@compute @workgroup_size(128)
fn tensor_attention_many(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_groups {
        return;
    }
    // The last tiles first, since these have the most keys if CAUSAL.
    let query = (params.tiles - 1u - id % params.tiles) * QUERIES;
    let split = id / params.tiles % params.n_splits;
    let product = id / params.tiles / params.n_splits;
    let batch = product / params.heads;
    let head = product - batch * params.heads;
    let start_v = params.v.x + batch * params.v.y + head / params.heads_per_key * params.v.z;
    let lane_n = i & 15u;
    let lane_m = i >> 4u;

    let key_begin = params.first_key + split * params.split_len;
    var key_end = min(key_begin + params.split_len, params.n_k);
    // End of the keys that all queries attend to.
    var all_end = key_end;
    // Ends of the keys that each query attends to.
    var ends0 = vec4(key_end);
    var ends1 = vec4(key_end);
    if CAUSAL {
        let own_end = query + params.first + 1u;
        all_end = min(all_end, own_end);
        ends0 = min(ends0, own_end + 4u * lane_m + vec4(0u, 1u, 2u, 3u));
        ends1 = min(ends1, own_end + 4u * lane_m + vec4(32u, 33u, 34u, 35u));
        key_end = min(key_end, own_end + QUERIES - 1u);
    }

    // The block of queries or keys that this invocation loads: eight neighbours load blocks that are adjacent in
    // workgroup memory.
    let loads_q = i < 64u;
    let block_x = ((i >> 2u) & 8u) + (i & 7u);
    let block_col = 4u * ((i >> 3u) & 3u);
    let to = 16u * block_col + block_x;
    var row = query + 4u * block_x;
    var at = params.q.x + batch * params.q.y + head * params.q.z + row * params.q.w + block_col;
    if !loads_q {
        row = key_begin + block_x;
        at = params.k.x + batch * params.k.y + head / params.heads_per_key * params.k.z + row * params.k.w + block_col;
    }

    // Maxima of the queries 4 * i to 4 * i + 3, in the first 16 invocations.
    var most = vec4(LOWEST);
    var total0 = vec4(0.0);
    var total1 = vec4(0.0);
    prefetch_rows(loads_q, row, at, block_col);
    for (var key = key_begin; key < key_end; key += KEYS) {
        scores = array<vec4<f32>, 8>();
        for (var depth = 0u; depth < params.dim; depth += 16u) {
            if loads_q {
                sh_q[to] = block[0];
                sh_q[to + 16u] = block[1];
                sh_q[to + 32u] = block[2];
                sh_q[to + 48u] = block[3];
            } else {
                sh_k[to] = block[0];
                sh_k[to + 16u] = block[1];
                sh_k[to + 32u] = block[2];
                sh_k[to + 48u] = block[3];
            }
            workgroupBarrier();
            let next = depth + 16u;
            if next < params.dim {
                prefetch_rows(loads_q, row, at + next, block_col + next);
            } else {
                prefetch_values(start_v, key + lane_m, key_end, 4u * lane_n);
            }
            var at_q = lane_m;
            var at_k = lane_n;
            for (var step = 0u; step < 4u; step++) {
                add_scores(at_q, at_k);
                add_scores(at_q + 16u, at_k + 16u);
                add_scores(at_q + 32u, at_k + 32u);
                add_scores(at_q + 48u, at_k + 48u);
                at_q += 64u;
                at_k += 64u;
            }
            workgroupBarrier();
        }
        if !loads_q {
            row += KEYS;
            at += KEYS * params.k.w;
        }

        for (var j = 0u; j < 8u; j++) {
            scores[j] *= params.scale;
        }
        let is_masked = key + KEYS > all_end;
        if is_masked {
            mask_scores(key + lane_n, ends0, ends1, LOWEST);
        }
        sh_q[PITCH * lane_n + lane_m] = max(max(scores[0], scores[1]), max(scores[2], scores[3]));
        sh_q[PITCH * lane_n + lane_m + 8u] = max(max(scores[4], scores[5]), max(scores[6], scores[7]));
        workgroupBarrier();
        if i < 16u {
            var next = most;
            for (var lane = 0u; lane < 16u; lane++) {
                next = max(next, sh_q[PITCH * lane + i]);
            }
            sh_rows[i] = next;
            sh_rows[16u + i] = exp(most - next);
            most = next;
        }
        workgroupBarrier();
        let most0 = sh_rows[lane_m];
        let most1 = sh_rows[lane_m + 8u];
        for (var j = 0u; j < 4u; j++) {
            scores[j] = exp(scores[j] - most0);
            scores[4u + j] = exp(scores[4u + j] - most1);
        }
        if is_masked {
            mask_scores(key + lane_n, ends0, ends1, 0.0);
        }
        let factor0 = sh_rows[16u + lane_m];
        let factor1 = sh_rows[24u + lane_m];
        total0 = total0 * factor0 + ((scores[0] + scores[1]) + (scores[2] + scores[3]));
        total1 = total1 * factor1 + ((scores[4] + scores[5]) + (scores[6] + scores[7]));
        scale_sums(factor0, factor1);

        for (var j = 0u; j < 4u; j++) {
            sh_q[PITCH * lane_n + lane_m] = scores[j];
            sh_q[PITCH * lane_n + lane_m + 8u] = scores[4u + j];
            sh_k[16u * DIM_GROUPS * lane_m + lane_n] = block[0];
            sh_k[16u * DIM_GROUPS * (lane_m + 8u) + lane_n] = block[1];
            if DIM_GROUPS == 2u {
                sh_k[32u * lane_m + 16u + lane_n] = block[2];
                sh_k[32u * (lane_m + 8u) + 16u + lane_n] = block[3];
            }
            workgroupBarrier();
            let first = key + 16u * j;
            if j < 3u {
                prefetch_values(start_v, first + 16u + lane_m, key_end, 4u * lane_n);
            } else {
                prefetch_rows(loads_q, row, at, block_col);
            }
            add_values(lane_m, lane_n, is_masked, first, ends0, ends1);
            workgroupBarrier();
        }
    }

    sh_q[PITCH * lane_n + lane_m] = total0;
    sh_q[PITCH * lane_n + lane_m + 8u] = total1;
    if i < 16u {
        sh_rows[i] = most;
    }
    workgroupBarrier();
    var sum0 = sh_q[lane_m];
    var sum1 = sh_q[lane_m + 8u];
    for (var lane = 1u; lane < 16u; lane++) {
        sum0 += sh_q[PITCH * lane + lane_m];
        sum1 += sh_q[PITCH * lane + lane_m + 8u];
    }
    if !SPLIT {
        scale_sums(1.0 / sum0, 1.0 / sum1);
    }
    let out_row = query + 4u * lane_m;
    let row_index = (batch * params.n_q + out_row) * params.out_heads + head;
    let out_split = params.splits_before + split;
    store_queries(out_row, row_index, out_split, lane_n, 0u, sh_rows[lane_m], sum0);
    let more = row_index + 32u * params.out_heads;
    store_queries(out_row + 32u, more, out_split, lane_n, 4u, sh_rows[lane_m + 8u], sum1);
}
