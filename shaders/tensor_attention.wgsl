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
// import: lib/attention_heads, lib/outer_product
// import: tensor_attention/slices, tensor_attention/weights, tensor_attention/values

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
/// For the fewest registers: one column, query or key at a time, in loops to an end that compilers do not know. DIM_GROUPS is 1 then.
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

// If FEWEST, what would take registers in all loops: the workgroup's task, and maxima and sums of each invocation's two queries.
var<workgroup> sh_task: Task;
var<workgroup> sh_rows: array<vec4<f32>, ALL_ROWS>;

/// Place of an invocation in its workgroup, and end of the keys of its queries.
struct Own {
    lane_n: u32,
    lane_m: u32,
    // End of the keys that its first query attends to.
    end: u32,
}

/// Work of a workgroup: attention of the queries from `query` on of a head to the keys of a split.
struct Task {
    query: u32,
    split: u32,
    batch: u32,
    head: u32,
}

fn task_of(id: u32) -> Task {
    let product = id / params.tiles / params.n_splits;
    let batch = product / params.heads;
    return Task(id % params.tiles * QUERIES, id / params.tiles % params.n_splits, batch, product - batch * params.heads);
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
    let task = task_of(id);
    if FEWEST {
        sh_rows[i] = vec4(LOWEST, LOWEST, 0.0, 0.0);
        if i == 0u {
            sh_task = task;
        }
    }
    let query = task.query;
    let batch = task.batch;
    let head = task.head;
    let start_q = params.q.x + batch * params.q.y + head * params.q.z;
    let start_k = params.k.x + batch * params.k.y + head / params.heads_per_key * params.k.z;
    let start_v = params.v.x + batch * params.v.y + head / params.heads_per_key * params.v.z;
    let lane_n = i & 15u;
    let lane_m = i >> 4u;

    let key_begin = split_begin(query, task.split);
    var key_end = min(key_begin + params.split_len, params.n_k);
    // End of the keys that the first of the invocation's queries attends to; one later for each of the others.
    let own = Own(lane_n, lane_m, query + OWN_QUERIES * lane_m + params.first + 1u);
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
            add_all_scores(lane_n, lane_m, params.dim - depth);
            workgroupBarrier();
        }
        var scale: vec4<f32>;
        if FEWEST {
            scale = weigh_each(i, own, key, key_end);
        } else {
            scale = weigh_all(own, key, key_end, &most, &total);
        }
        scale_sums(scale);
        workgroupBarrier();
        add_step(own, start_v, key, key_end);
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
    var stored = task;
    if FEWEST {
        stored = sh_task;
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
