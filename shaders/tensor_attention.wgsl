// Flash attention: softmax(scale q kᵀ) v for each head, without storing the matrix of scores. For few queries, and for heads
// of more than 128 elements; tensor_attention_many has larger tiles.
//
// A workgroup takes QUERIES queries of one head and iterates over the keys, 64 at a time. Scores: register tiling, OWN_QUERIES
// times 4 per invocation, with both operands staged in workgroup memory as in tensor_matmul. Online softmax: the sums are rescaled
// whenever the maximum of a row grows. Output: exponentials times values, OWN_QUERIES by 4 to 16 columns per invocation.
// Long rows of keys are split over workgroups, whose results tensor_attention_merge combines.
// Bindings: `q`, `k`, `v`: f32, a whole number of vec4, element [batch, head, row, column] at
// offset + batch * x + head * y + row * z + column; `out`: [batch, n_q, out_heads, dim] f32 from element `out_from` on or, if
// SPLIT, [all_splits] times [batch, n_q, heads, dim] before the final division, then [all_splits] times maximum score and
// sum of exponentials of each row. A launch may take a part of the keys, from `first_key` on: `k` and `v` then hold only
// these, and the offsets count from key 0, which is not in the buffer, so they may wrap around.
// Preconditions: nothing is 0 but offsets and strides; columns <= 64 * DIM_GROUPS; split_len is a multiple of 64;
// first_key + n_splits * split_len >= n_k; if CAUSAL, n_k <= n_q + first; if WINDOW, CAUSAL, window > 0, and n_splits * split_len is at
// least the number of keys that a workgroup's queries see, since splits begin at the first of these; if ALIGNED, dim, offsets and strides are multiples
// of 4.
// A query with a score of NaN or +inf, or with scores of -inf only, yields NaN; masked keys have no influence.
// Twin: src/tensor/cpu/attention.rs
//
// import: lib/attention_heads, lib/outer_product, lib/store4, lib/sum4

/// Groups of 64 columns of values: 1, 2 or 4.
override DIM_GROUPS: u32 = 1u;
/// Query i attends to keys up to i + first.
override CAUSAL: bool = false;
/// Query i attends to `window` keys at most, the last of which is i + first.
override WINDOW: bool = false;
override SPLIT: bool = false;
override ALIGNED: bool = true;

/// Invocations of a workgroup: 128 or 64.
override THREADS: u32 = 128u;
/// Queries of an invocation: 4, or 2 for the fewest registers. Vectors of four queries then have only the first two.
override OWN_QUERIES: u32 = 4u;
/// For the fewest registers: one column or key at a time, in loops to an end that compilers do not know.
override FEWEST: bool = OWN_QUERIES == 2u;
/// Invocations along the queries; 16 lie along the keys, or the columns of values.
override LANES_M: u32 = THREADS / 16u;
override QUERIES: u32 = OWN_QUERIES * LANES_M;
/// Groups of four queries.
override QUERIES4: u32 = QUERIES / 4u;
/// Columns staged in workgroup memory at a time, and groups of four of them.
override DEPTH: u32 = THREADS / 8u;
override DEPTH4: u32 = DEPTH / 4u;
/// Invocations that load keys.
override KEY_LOADERS: u32 = 16u * DEPTH4;
override ALL_Q: u32 = 16u * LANES_M;
override ALL_K: u32 = 16u * DEPTH;
override ALL_WEIGHTS: u32 = 16u * QUERIES;
override ALL_ROWS: u32 = select(1u, THREADS, FEWEST);

const KEYS: u32 = 64u;
/// The lowest finite number: initial value of a row's maximum.
const LOWEST: f32 = -3.4028234e38;

// [column][group of 4 queries]; between two tiles, partial results of each invocation.
var<workgroup> sh_q: array<vec4<f32>, ALL_Q>;
// [column][group of 4 keys]
var<workgroup> sh_k: array<vec4<f32>, ALL_K>;
// [query][group of 4 keys]
var<workgroup> sh_weights: array<vec4<f32>, ALL_WEIGHTS>;

// If FEWEST, what would take registers in all loops: the workgroup's work, and maxima and sums of each invocation's two queries.
var<workgroup> sh_work: Work;
var<workgroup> sh_rows: array<vec4<f32>, ALL_ROWS>;

// Output sums: the invocation's queries for each group of columns.
var<private> sums: array<vec4<f32>, 16>;

/// Stages DEPTH columns of queries and keys: at most one 4x4 block per invocation, transposed in registers.
fn load_slices(i: u32, query: u32, key: u32, start_q: u32, start_k: u32, depth: u32) {
    let block = i / DEPTH4;
    let column4 = i % DEPTH4;
    let col = depth + 4u * column4;
    if i < KEY_LOADERS {
        let row = key + 4u * block;
        let at = start_k + row * params.k.w + col;
        let r0 = of_key(row, at, col);
        let r1 = of_key(row + 1u, at + params.k.w, col);
        let r2 = of_key(row + 2u, at + 2u * params.k.w, col);
        let r3 = of_key(row + 3u, at + 3u * params.k.w, col);
        let to = 64u * column4 + block;
        sh_k[to] = vec4(r0.x, r1.x, r2.x, r3.x);
        sh_k[to + 16u] = vec4(r0.y, r1.y, r2.y, r3.y);
        sh_k[to + 32u] = vec4(r0.z, r1.z, r2.z, r3.z);
        sh_k[to + 48u] = vec4(r0.w, r1.w, r2.w, r3.w);
    } else if i < KEY_LOADERS + QUERIES4 * DEPTH4 {
        let row = query + 4u * (block - 16u);
        let at = start_q + row * params.q.w + col;
        let r0 = of_query(row, at, col);
        let r1 = of_query(row + 1u, at + params.q.w, col);
        let r2 = of_query(row + 2u, at + 2u * params.q.w, col);
        let r3 = of_query(row + 3u, at + 3u * params.q.w, col);
        let to = 4u * QUERIES4 * column4 + block - 16u;
        sh_q[to] = vec4(r0.x, r1.x, r2.x, r3.x);
        sh_q[to + QUERIES4] = vec4(r0.y, r1.y, r2.y, r3.y);
        sh_q[to + 2u * QUERIES4] = vec4(r0.z, r1.z, r2.z, r3.z);
        sh_q[to + 3u * QUERIES4] = vec4(r0.w, r1.w, r2.w, r3.w);
    }
}

/// Returns an element of a key or a query.
fn element(from_k: bool, at: u32) -> f32 {
    if from_k {
        return bitcast<f32>(k[at >> 2u][at & 3u]);
    }
    return bitcast<f32>(q[at >> 2u][at & 3u]);
}

/// Stages a column of a block of four rows; those behind the last one are that one.
fn load_fours(from_k: bool, to: u32, row: u32, at: u32) {
    let pitch = select(params.q.w, params.k.w, from_k);
    let last = select(params.n_q, params.n_k, from_k) - 1u - row;
    let x = vec4(
        element(from_k, at),
        element(from_k, at + min(1u, last) * pitch),
        element(from_k, at + min(2u, last) * pitch),
        element(from_k, at + min(3u, last) * pitch),
    );
    if from_k {
        sh_k[to] = x;
    } else {
        sh_q[to] = x;
    }
}

/// As `load_slices`, but a column of a block at a time. Columns behind the last one, and blocks without rows, stay as they are.
fn load_slices_by_fours(i: u32, query: u32, key: u32, start_q: u32, start_k: u32, depth: u32) {
    let block = i / DEPTH4;
    let first = 4u * (i % DEPTH4);
    let end = min(first + 4u, params.dim - depth);
    if i < KEY_LOADERS {
        let row = key + 4u * block;
        if row >= params.n_k {
            return;
        }
        let at = start_k + row * params.k.w + depth;
        for (var col = first; col < end; col++) {
            load_fours(true, 16u * col + block, row, at + col);
        }
    } else if i < KEY_LOADERS + QUERIES4 * DEPTH4 {
        let row = query + 4u * (block - 16u);
        if row >= params.n_q {
            return;
        }
        let at = start_q + row * params.q.w + depth;
        for (var col = first; col < end; col++) {
            load_fours(false, QUERIES4 * col + block - 16u, row, at + col);
        }
    }
}

/// Adds the products of one column to the scores.
fn add_scores(at_q: u32, at_k: u32, lane_m: u32) {
    var x = sh_q[at_q];
    if OWN_QUERIES == 2u {
        // The second invocation of a group of four takes its last two queries.
        x = select(x, x.zwxy, lane_m % 2u == 1u);
    }
    add_outer_product(x, sh_k[at_k]);
}

/// Stores a value of each of the invocation's queries for the others of their rows.
fn share(lane_n: u32, lane_m: u32, x: vec4<f32>) {
    sh_q[LANES_M * lane_n + lane_m] = select(vec4(x.xy, 0.0, 0.0), x, OWN_QUERIES == 4u);
}

fn max_of(x: vec4<f32>) -> f32 {
    return max(max(x.x, x.y), max(x.z, x.w));
}

/// Returns the maxima of the invocation's queries over the values that the 16 invocations of their rows have shared.
fn maxima_of_rows(lane_m: u32) -> vec4<f32> {
    var most = sh_q[lane_m];
    for (var lane = 1u; lane < 16u; lane++) {
        most = max(most, sh_q[LANES_M * lane + lane_m]);
    }
    return most;
}

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

/// Returns the end of the keys that a query attends to.
fn end_of(own_end: u32, key_end: u32) -> u32 {
    if CAUSAL {
        return min(own_end, key_end);
    }
    return key_end;
}

/// Returns which of four keys a query sees. `own_end` is one more than the last key that it sees of all keys.
fn seen_keys(keys: vec4<u32>, own_end: u32, key_end: u32) -> vec4<bool> {
    let end = end_of(own_end, key_end);
    if WINDOW {
        let begin = max(own_end, params.window) - params.window;
        // For keys before the window, the difference wraps around.
        return keys - vec4(begin) < vec4(end - min(begin, end));
    }
    return keys < vec4(end);
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

// What an invocation has of a step.
struct Own {
    lane_n: u32,
    lane_m: u32,
    // End of the keys that its first query attends to.
    end: u32,
}

/// Makes weights of the products of a step, and raises the maxima and sums of the invocation's queries. Returns the factors of earlier
/// sums. Synchronises the workgroup.
fn weigh_all(own: Own, key: u32, key_end: u32, most: ptr<function, vec4<f32>>, total: ptr<function, vec4<f32>>) -> vec4<f32> {
    let keys = key + 4u * own.lane_n + vec4(0u, 1u, 2u, 3u);
    let seen0 = seen_keys(keys, own.end, key_end);
    let seen1 = seen_keys(keys, own.end + 1u, key_end);
    let seen2 = seen_keys(keys, own.end + 2u, key_end);
    let seen3 = seen_keys(keys, own.end + 3u, key_end);
    let s0 = select(vec4(LOWEST), register_tile[0] * params.scale, seen0);
    let s1 = select(vec4(LOWEST), register_tile[1] * params.scale, seen1);
    let s2 = select(vec4(LOWEST), register_tile[2] * params.scale, seen2);
    let s3 = select(vec4(LOWEST), register_tile[3] * params.scale, seen3);
    share(own.lane_n, own.lane_m, vec4(max_of(s0), max_of(s1), max_of(s2), max_of(s3)));
    workgroupBarrier();
    let next = max(*most, maxima_of_rows(own.lane_m));
    let scale = exp(*most - next);
    *most = next;
    let p0 = select(vec4(0.0), exp(s0 - next.x), seen0);
    let p1 = select(vec4(0.0), exp(s1 - next.y), seen1);
    let p2 = select(vec4(0.0), exp(s2 - next.z), seen2);
    let p3 = select(vec4(0.0), exp(s3 - next.w), seen3);
    *total = *total * scale + vec4(sum4(p0), sum4(p1), sum4(p2), sum4(p3));
    let at = 16u * OWN_QUERIES * own.lane_m + own.lane_n;
    sh_weights[at] = p0;
    sh_weights[at + 16u] = p1;
    if OWN_QUERIES == 4u {
        sh_weights[at + 32u] = p2;
        sh_weights[at + 48u] = p3;
    }
    return scale;
}

/// Keeps the masked scores of a query and four keys where their weights will be. Returns the largest.
fn keep_scores(at: u32, products: vec4<f32>, seen: vec4<bool>) -> f32 {
    let scores = select(vec4(LOWEST), products * params.scale, seen);
    sh_weights[at] = scores;
    return max_of(scores);
}

/// As `weigh_all`, for two queries, one after the other; what they see is found twice, so that it is not in registers. Maxima and sums
/// are those in `sh_rows`.
fn weigh_each(i: u32, own: Own, key: u32, key_end: u32) -> vec4<f32> {
    let keys = key + 4u * own.lane_n + vec4(0u, 1u, 2u, 3u);
    let first = 32u * own.lane_m + own.lane_n;
    var most = vec2(0.0);
    for (var n = 0u; n < min(2u, 1u + params.n_q); n++) {
        let products = select(register_tile[1], register_tile[0], n == 0u);
        let x = keep_scores(first + 16u * n, products, seen_keys(keys, own.end + n, key_end));
        most = select(vec2(most.x, x), vec2(x, 0.0), n == 0u);
    }
    share(own.lane_n, own.lane_m, most.xyxy);
    workgroupBarrier();
    let before = sh_rows[i];
    let next = max(before.xy, maxima_of_rows(own.lane_m).xy);
    let scale = exp(before.xy - next);
    var total = before.zw * scale;
    // To an end that compilers do not know.
    for (var n = 0u; n < min(2u, 1u + params.n_q); n++) {
        let at = first + 16u * n;
        let seen = seen_keys(keys, own.end + n, key_end);
        let weights = select(vec4(0.0), exp(sh_weights[at] - select(next.y, next.x, n == 0u)), seen);
        sh_weights[at] = weights;
        total += select(vec2(0.0, sum4(weights)), vec2(sum4(weights), 0.0), n == 0u);
    }
    sh_rows[i] = vec4(next, total);
    return scale.xyxy;
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

/// What a workgroup computes: queries from `query` on of a head, with the keys of a split.
struct Work {
    query: u32,
    split: u32,
    batch: u32,
    head: u32,
}

fn work_of(id: u32) -> Work {
    let product = id / params.tiles / params.n_splits;
    let batch = product / params.heads;
    return Work(id % params.tiles * QUERIES, id / params.tiles % params.n_splits, batch, product - batch * params.heads);
}

@compute @workgroup_size(THREADS)
fn tensor_attention(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_groups {
        return;
    }
    let work = work_of(id);
    if FEWEST {
        sh_rows[i] = vec4(LOWEST, LOWEST, 0.0, 0.0);
        if i == 0u {
            sh_work = work;
        }
    }
    let query = work.query;
    let batch = work.batch;
    let head = work.head;
    let start_q = params.q.x + batch * params.q.y + head * params.q.z;
    let start_k = params.k.x + batch * params.k.y + head / params.heads_per_key * params.k.z;
    let start_v = params.v.x + batch * params.v.y + head / params.heads_per_key * params.v.z;
    let lane_n = i & 15u;
    let lane_m = i >> 4u;

    let key_begin = split_begin(query, work.split);
    var key_end = min(key_begin + params.split_len, params.n_k);
    // End of the keys that the first of the invocation's queries attends to; one later for each of the others.
    let own_end = query + OWN_QUERIES * lane_m + params.first + 1u;
    let own_weights = 16u * OWN_QUERIES * lane_m;
    if CAUSAL {
        key_end = min(key_end, query + QUERIES + params.first);
    }
    var most = vec4(LOWEST);
    var total = vec4(0.0);
    for (var key = key_begin; key < key_end; key += KEYS) {
        register_tile[0] = vec4(0.0);
        register_tile[1] = vec4(0.0);
        register_tile[2] = vec4(0.0);
        register_tile[3] = vec4(0.0);
        for (var depth = 0u; depth < params.dim; depth += DEPTH) {
            if FEWEST {
                load_slices_by_fours(i, query, key, start_q, start_k, depth);
            } else {
                load_slices(i, query, key, start_q, start_k, depth);
            }
            workgroupBarrier();
            let first_q = select(lane_m / 2u, lane_m, OWN_QUERIES == 4u);
            if FEWEST {
                for (var column = 0u; column < min(DEPTH, params.dim - depth); column++) {
                    add_scores(QUERIES4 * column + first_q, 16u * column + lane_n, lane_m);
                }
            } else {
                for (var step = 0u; step < DEPTH4; step++) {
                    let at_q = 4u * QUERIES4 * step + first_q;
                    let at_k = 64u * step + lane_n;
                    add_scores(at_q, at_k, lane_m);
                    add_scores(at_q + QUERIES4, at_k + 16u, lane_m);
                    add_scores(at_q + 2u * QUERIES4, at_k + 32u, lane_m);
                    add_scores(at_q + 3u * QUERIES4, at_k + 48u, lane_m);
                }
            }
            workgroupBarrier();
        }
        let own = Own(lane_n, lane_m, own_end);
        var scale: vec4<f32>;
        if FEWEST {
            scale = weigh_each(i, own, key, key_end);
        } else {
            scale = weigh_all(own, key, key_end, &most, &total);
        }
        scale_sums(scale);
        workgroupBarrier();
        if FEWEST && 4u * lane_n < params.columns {
            for (var own = key; own < min(key + KEYS, key_end); own++) {
                let at = own_weights + (own - key) / 4u;
                let weights = vec4(sh_weights[at][(own - key) % 4u], sh_weights[at + 16u][(own - key) % 4u], 0.0, 0.0);
                add_value(start_v, own, key_end, own_end, lane_n, weights);
            }
        }
        if !FEWEST {
            for (var four = 0u; four < 16u; four++) {
                let at = own_weights + four;
                let w0 = sh_weights[at];
                let w1 = sh_weights[at + 16u];
                var w2 = vec4(0.0);
                var w3 = vec4(0.0);
                if OWN_QUERIES == 4u {
                    w2 = sh_weights[at + 32u];
                    w3 = sh_weights[at + 48u];
                }
                let first = key + 4u * four;
                add_value(start_v, first, key_end, own_end, lane_n, vec4(w0.x, w1.x, w2.x, w3.x));
                add_value(start_v, first + 1u, key_end, own_end, lane_n, vec4(w0.y, w1.y, w2.y, w3.y));
                add_value(start_v, first + 2u, key_end, own_end, lane_n, vec4(w0.z, w1.z, w2.z, w3.z));
                add_value(start_v, first + 3u, key_end, own_end, lane_n, vec4(w0.w, w1.w, w2.w, w3.w));
            }
        }
    }

    workgroupBarrier();
    if FEWEST {
        most = sh_rows[i].xyxy;
        total = sh_rows[i].zwzw;
    }
    share(lane_n, lane_m, total);
    workgroupBarrier();
    var sum = sh_q[lane_m];
    for (var lane = 1u; lane < 16u; lane++) {
        sum += sh_q[LANES_M * lane + lane_m];
    }
    if !SPLIT {
        scale_sums(1.0 / sum);
    }
    var stored = work;
    if FEWEST {
        stored = sh_work;
    }
    let row = stored.query + OWN_QUERIES * lane_m;
    let row_index = (stored.batch * params.n_q + row) * params.out_heads + stored.head;
    let out_split = params.splits_before + stored.split;
    if row < params.n_q {
        store_query(row_index, out_split, lane_n, array(sums[0], sums[4], sums[8], sums[12]), most.x, sum.x);
    }
    if row + 1u < params.n_q {
        let at = row_index + params.out_heads;
        store_query(at, out_split, lane_n, array(sums[1], sums[5], sums[9], sums[13]), most.y, sum.y);
    }
    if OWN_QUERIES == 4u && row + 2u < params.n_q {
        let at = row_index + 2u * params.out_heads;
        store_query(at, out_split, lane_n, array(sums[2], sums[6], sums[10], sums[14]), most.z, sum.z);
    }
    if OWN_QUERIES == 4u && row + 3u < params.n_q {
        let at = row_index + 3u * params.out_heads;
        store_query(at, out_split, lane_n, array(sums[3], sums[7], sums[11], sums[15]), most.w, sum.w);
    }
}
