// Flash attention for many queries: as tensor_attention, with larger tiles.
//
// A workgroup takes 64 or 128 queries of one head and iterates over the keys, 64 or 128 at a time. Scores: 8 queries by 4 or
// 8 keys per invocation, with slices of the columns of keys, and of queries unless these are kept, in workgroup memory. Online
// softmax: one invocation finds the maxima of 4 queries. Output: 8 queries by 4 or 8 columns per invocation, with weights and
// values of LANES_N keys in workgroup memory. What is stored there next is prefetched into registers during the products.
// Bindings, preconditions and results: those of tensor_attention; dim <= 4 * LANES_N * COL_GROUPS.
// Twin: src/tensor/cpu/attention.rs
//
// import: tensor_attention_many/stage, tensor_attention_many/scores, tensor_attention_many/sums

// Invocations along keys and columns, and groups of 4 keys and of 4 columns per invocation. Four forms exist: 16, 1, 1 and
// 16, 1, 2 fit in 16 KiB of workgroup memory; 8, 2, 2 and 16, 2, 2 take 46 KiB and keep all queries there.
override LANES_N: u32 = 16u;
override KEY_GROUPS: u32 = 1u;
override COL_GROUPS: u32 = 1u;
/// Query i attends to keys up to i + first.
override CAUSAL: bool = false;
/// Query i attends to `window` keys at most, the last of which is i + first.
override WINDOW: bool = false;
override SPLIT: bool = false;
override ALIGNED: bool = true;

/// Invocations along the queries. Each has two groups of 4 queries.
override LANES_M: u32 = 128u / LANES_N;
override QUERIES: u32 = 8u * LANES_M;
override KEYS: u32 = 4u * LANES_N * KEY_GROUPS;
/// Columns of a slice.
override DEPTH: u32 = 256u / LANES_N;
/// Groups of 4 queries, of 4 keys, and of 4 columns of values.
override TILE_M4: u32 = 2u * LANES_M;
override TILE_N4: u32 = LANES_N * KEY_GROUPS;
override TILE_D4: u32 = LANES_N * COL_GROUPS;
/// Vectors that an invocation loads of the values of LANES_N keys: 1, 2 or 4.
override VALUES_EACH: u32 = LANES_N * TILE_D4 / 128u;
/// Vectors of workgroup memory in which all queries are kept.
override KEPT: u32 = select(0u, 2048u, KEY_GROUPS == 2u);
/// Pitch of rows that invocations store side by side, one more than the row against conflicts of banks.
override PITCH: u32 = TILE_M4 + 1u;
override ALL_Q: u32 = KEPT + LANES_N * PITCH;
override ALL_K: u32 = 256u * COL_GROUPS;

/// The lowest finite number: initial value of a row's maximum.
const LOWEST: f32 = -3.4028234e38;

// Queries, [column][group of 4 queries]: a slice or, if KEPT, all. From KEPT on: maxima or sums,
// [lane][group of 4 queries], with PITCH; or weights, [key][group of 4 queries], with PITCH.
var<workgroup> sh_q: array<vec4<f32>, ALL_Q>;
// Keys, [column][group of 4 keys], or values, [key][group of 4 columns].
var<workgroup> sh_k: array<vec4<f32>, ALL_K>;
// Maxima of the groups of 4 queries, then factors of their sums.
var<workgroup> sh_rows: array<vec4<f32>, 64>;

/// Returns the maxima of four queries over the keys up to now, from those over earlier keys and those of all lanes. Stores
/// them, and the factors by which they lower the sums.
fn raised(most: vec4<f32>, four: u32) -> vec4<f32> {
    var next = most;
    for (var lane = 0u; lane < LANES_N; lane++) {
        next = max(next, sh_q[KEPT + PITCH * lane + four]);
    }
    sh_rows[four] = next;
    sh_rows[TILE_M4 + four] = exp(most - next);
    return next;
}

/// Returns the sums of four queries that all lanes have stored.
fn sum_of_lanes(four: u32) -> vec4<f32> {
    var sum = vec4(0.0);
    for (var lane = 0u; lane < LANES_N; lane++) {
        sum += sh_q[KEPT + PITCH * lane + four];
    }
    return sum;
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
    // The last tiles of all heads first, since these have the most keys if CAUSAL.
    let product = id % params.products;
    let split = id / params.products % params.n_splits;
    let query = (params.tiles - 1u - id / params.products / params.n_splits) * QUERIES;
    let batch = product / params.heads;
    let head = product - batch * params.heads;
    let start_q = params.q.x + batch * params.q.y + head * params.q.z;
    let start_v = params.v.x + batch * params.v.y + head / params.heads_per_key * params.v.z;
    // A subgroup of 32 has 8 by 4 invocations, so that its loads from workgroup memory touch few vectors.
    let lane_n = i % 8u + 8u * (i / 32u % (LANES_N / 8u));
    let lane_m = i / 8u % 4u + 4u * (i / 32u / (LANES_N / 8u));
    // Index in workgroup memory of this invocation's maxima, sums and weights.
    let place = KEPT + PITCH * lane_n + lane_m;

    let key_begin = split_begin(query, split);
    var key_end = min(key_begin + params.split_len, params.n_k);
    // End of the keys that all queries attend to.
    var all_end = key_end;
    // Beginning of the keys that all queries attend to.
    var all_begin = 0u;
    // Keys that each query attends to.
    var seen0 = Seen(vec4(key_end), key_end, key_end);
    var seen1 = seen0;
    if CAUSAL {
        let own_end = query + params.first + 1u;
        all_end = min(all_end, own_end);
        seen0 = seen_by_four(own_end + 4u * lane_m, key_end);
        seen1 = seen_by_four(own_end + 4u * (lane_m + LANES_M), key_end);
        key_end = min(key_end, own_end + QUERIES - 1u);
    }
    if WINDOW {
        all_begin = window_begin(query + QUERIES - 1u);
    }

    // The block of queries or keys that this invocation loads: eight neighbours load blocks that are adjacent in
    // workgroup memory.
    let part = (i / 32u) / (TILE_N4 / 8u);
    let loads_q = KEPT == 0u && part == 0u;
    let block_x = 8u * (i / 32u % (TILE_N4 / 8u)) + i % 8u;
    let block_col = 4u * (i / 8u % 4u) + select(0u, 16u * part, KEPT > 0u);
    let to = TILE_N4 * block_col + block_x;
    var row = key_begin + 4u * LANES_N * (block_x / LANES_N) + block_x % LANES_N;
    var at = params.k.x + batch * params.k.y + head / params.heads_per_key * params.k.z + row * params.k.w + block_col;
    if loads_q {
        row = query + 4u * block_x;
        at = start_q + row * params.q.w + block_col;
    }
    let value_col = 4u * (i % TILE_D4);
    let value_row = i / TILE_D4;

    // Maxima of the queries 4 * i to 4 * i + 3, in the first TILE_M4 invocations.
    var most = vec4(LOWEST);
    var total0 = vec4(0.0);
    var total1 = vec4(0.0);
    keep_queries(i, query, start_q);
    prefetch_rows(loads_q, row, at, block_col);
    for (var key = key_begin; key < key_end; key += KEYS) {
        clear_scores();
        for (var depth = 0u; depth < params.dim; depth += DEPTH) {
            store_rows(loads_q, to);
            workgroupBarrier();
            let next = depth + DEPTH;
            if next < params.dim {
                prefetch_rows(loads_q, row, at + next, block_col + next);
            } else {
                prefetch_values(start_v, key + value_row, key_end, value_col);
            }
            add_slice(lane_m, lane_n, depth);
            workgroupBarrier();
        }
        if !loads_q {
            row += KEYS;
            at += KEYS * params.k.w;
        }

        scale_scores();
        var is_masked = key + KEYS > all_end;
        if WINDOW {
            is_masked = is_masked || key < all_begin;
        }
        if is_masked {
            mask_scores(key + lane_n, seen0, seen1, LOWEST);
        }
        sh_q[place] = max_of_scores(0u);
        sh_q[place + LANES_M] = max_of_scores(4u);
        workgroupBarrier();
        if i < TILE_M4 {
            most = raised(most, i);
        }
        workgroupBarrier();
        weigh_scores(sh_rows[lane_m], sh_rows[lane_m + LANES_M]);
        if is_masked {
            mask_scores(key + lane_n, seen0, seen1, 0.0);
        }
        let factor0 = sh_rows[TILE_M4 + lane_m];
        let factor1 = sh_rows[TILE_M4 + lane_m + LANES_M];
        total0 = total0 * factor0 + sum_of_scores(0u);
        total1 = total1 * factor1 + sum_of_scores(4u);
        lower_sums(factor0, factor1);

        for (var j = 0u; j < 4u * KEY_GROUPS; j++) {
            store_weights(place, j);
            store_values(i);
            workgroupBarrier();
            let first = key + LANES_N * j;
            if j + 1u < 4u * KEY_GROUPS {
                prefetch_values(start_v, first + LANES_N + value_row, key_end, value_col);
            } else {
                prefetch_rows(loads_q, row, at, block_col);
            }
            add_seen_values(lane_m, lane_n, is_masked, first, seen0, seen1);
            workgroupBarrier();
        }
    }

    sh_q[place] = total0;
    sh_q[place + LANES_M] = total1;
    if i < TILE_M4 {
        sh_rows[i] = most;
    }
    workgroupBarrier();
    let sum0 = sum_of_lanes(lane_m);
    let sum1 = sum_of_lanes(lane_m + LANES_M);
    if !SPLIT {
        lower_sums(1.0 / sum0, 1.0 / sum1);
    }
    let out_row = query + 4u * lane_m;
    let row_index = (batch * params.n_q + out_row) * params.out_heads + head;
    let out_split = params.splits_before + split;
    store_queries(out_row, row_index, out_split, lane_n, 0u, sh_rows[lane_m], sum0);
    let more = row_index + 4u * LANES_M * params.out_heads;
    store_queries(out_row + 4u * LANES_M, more, out_split, lane_n, 4u, sh_rows[lane_m + LANES_M], sum1);
}
