// Attention of up to four queries of a head to many keys (flash decoding): as tensor_attention, without tiles of queries.
//
// A workgroup takes the queries of a head and a part of the keys, 128 at a time. Scores: four invocations share two keys, each
// with a quarter of their vectors. Online softmax: an invocation has the scores of one key; the upper half of the invocations
// repeats what the lower half does. Output: an invocation adds up four or eight columns of some values.
// Each key and each value is loaded once for all queries, in its own type, so that device memory is the limit.
// Bindings, preconditions and results: those of tensor_attention; n_q <= 4; n_k < 2^31; dim <= 4 * COLUMNS4. Queries, and keys and values, may be
// of 16 bits, as lib/attention_halves has it; arithmetic and results are in f32.
// Twin: src/tensor/cpu/attention.rs
//
// import: lib/attention_halves, lib/attention_heads, lib/store4

/// Groups of four columns: 16 or 32.
override COLUMNS4: u32 = 32u;
/// Query i attends to keys up to i + first.
override CAUSAL: bool = false;
override WINDOW: bool = false;
override SPLIT: bool = false;
override ALIGNED: bool = true;
// Types of keys and values, and of queries, as `DType::code` numbers them: 0 is f32, 1 is f16, 2 is bf16.
override FROM: u32 = 0u;
override FROM_Q: u32 = 0u;

/// For the fewest registers: one key and one result at a time; sums of weights are in workgroup memory between two steps.
override FEWEST: bool = false;

const THREADS: u32 = 256u;
/// Keys of a step.
const KEYS: u32 = 128u;
/// Distance of the two keys of an invocation.
const APART: u32 = 64u;
/// Pitch of the partial products of a lane, two more than KEYS against conflicts of banks.
const PITCH: u32 = 130u;
/// The lowest finite number: initial value of a row's maximum.
const LOWEST: f32 = -3.4028234e38;
/// Columns of a head, rounded up.
override ALL_COLUMNS: u32 = 4u * COLUMNS4;
/// Groups of four columns that an invocation takes at once, 2 only for 16 bits, and invocations that share a value.
override FOURS: u32 = 1u;
override SHARERS: u32 = COLUMNS4 / FOURS;

// A component for each of four queries: [column].
var<workgroup> sh_q: array<vec4<f32>, ALL_COLUMNS>;
// [lane][key]: products of the queries and the lane's part of a key; at the end, sums of each invocation.
var<workgroup> sh_parts: array<vec4<f32>, 520>;
// Scores, then weights, of the key of each invocation; at the end, sums of weights. If FEWEST, those of KEYS keys, then their sums.
var<workgroup> sh_weights: array<vec4<f32>, 256>;
// Maxima of eight keys; at the end, sums.
var<workgroup> sh_eights: array<vec4<f32>, 16>;
// Largest score of each query so far; not a private variable, which would take registers in all loops.
var<workgroup> sh_most: vec4<f32>;
// If FEWEST, split, head and batch of the workgroup, for the same reason.
var<workgroup> sh_origin: vec3<u32>;
// Factors of the sums over earlier keys.
var<workgroup> sh_factors: vec4<f32>;

// Products of the queries and an invocation's part of two keys.
var<private> products: array<vec4<f32>, 2>;
// Sums of four columns for each query.
var<private> sums: array<vec4<f32>, 4>;
// Those of the four columns behind them, if FOURS is 2.
var<private> next_sums: array<vec4<f32>, 4>;

/// Stores queries in workgroup memory, those behind the last one as 0.
fn keep_few_queries(i: u32, start: u32) {
    if i < COLUMNS4 {
        let col = 4u * i;
        let at = start + col;
        let r0 = of_any_query(0u, at, col);
        let r1 = of_any_query(1u, at + params.q.w, col);
        let r2 = of_any_query(2u, at + 2u * params.q.w, col);
        let r3 = of_any_query(3u, at + 3u * params.q.w, col);
        sh_q[col] = vec4(r0.x, r1.x, r2.x, r3.x);
        sh_q[col + 1u] = vec4(r0.y, r1.y, r2.y, r3.y);
        sh_q[col + 2u] = vec4(r0.z, r1.z, r2.z, r3.z);
        sh_q[col + 3u] = vec4(r0.w, r1.w, r2.w, r3.w);
    }
}

/// Returns the products of the queries and four columns of a key.
fn products_of(col: u32, x: vec4<f32>) -> vec4<f32> {
    return x.x * sh_q[col] + x.y * sh_q[col + 1u] + x.z * sh_q[col + 2u] + x.w * sh_q[col + 3u];
}

/// Computes the products of the queries and a lane's part of two keys.
fn multiply_keys(key: u32, start_k: u32, lane: u32) {
    products[0] = vec4(0.0);
    products[1] = vec4(0.0);
    let at = start_k + key * params.k.w;
    let next = at + APART * params.k.w;
    for (var unit = lane; unit < SHARERS; unit += 4u) {
        let col = 4u * FOURS * unit;
        if FROM == 0u {
            let x = of_key(key, at + col, col);
            let y = of_key(key + APART, next + col, col);
            products[0] += products_of(col, x);
            products[1] += products_of(col, y);
        } else {
            let x = halves_of_key(key, at + col, col);
            let y = halves_of_key(key + APART, next + col, col);
            products[0] += products_of(col, x.first) + products_of(col + 4u, x.second);
            products[1] += products_of(col, y.first) + products_of(col + 4u, y.second);
        }
    }
}

/// Computes and stores the same, one key after the other: 0 for those that are not among the first `n`.
fn multiply_each(key: u32, n: u32, start_k: u32, slot: u32, lane: u32) {
    // To KEYS, which compilers do not know.
    for (var own = slot; own < min(KEYS, KEYS - 1u + n); own += APART) {
        let at = start_k + (key + own) * params.k.w;
        let end = select(0u, params.dim, own < n);
        var sum = vec4(0.0);
        for (var col = 4u * lane; col < end; col += 16u) {
            if FROM == 0u {
                sum += products_of(col, four_of_k(at + col, col));
            } else {
                sum += products_of(col, four_halves_of_k(at + col, col));
            }
        }
        sh_parts[PITCH * lane + own] = sum;
    }
}

/// Returns the products of the queries and key `own` of the step, after all lanes have stored their parts.
fn own_product(own: u32, slot: u32, lane: u32) -> vec4<f32> {
    if !FEWEST {
        sh_parts[PITCH * lane + slot] = products[0];
        sh_parts[PITCH * lane + slot + APART] = products[1];
    }
    workgroupBarrier();
    return (sh_parts[own] + sh_parts[PITCH + own]) + (sh_parts[2u * PITCH + own] + sh_parts[3u * PITCH + own]);
}

/// Returns the largest score of each query in the step.
fn max_of_keys(i: u32) -> vec4<f32> {
    if i < 16u {
        var most = sh_weights[8u * i];
        for (var n = 1u; n < 8u; n++) { most = max(most, sh_weights[8u * i + n]); }
        sh_eights[i] = most;
    }
    workgroupBarrier();
    var most = sh_eights[0];
    for (var n = 1u; n < 16u; n++) { most = max(most, sh_eights[n]); }
    return most;
}

/// Returns the sums of each query's numbers of all keys in sh_weights.
fn sum_of_keys(i: u32) -> vec4<f32> {
    if i < 16u {
        var sum = sh_weights[8u * i];
        for (var n = 1u; n < 8u; n++) { sum += sh_weights[8u * i + n]; }
        sh_eights[i] = sum;
    }
    workgroupBarrier();
    var sum = sh_eights[0];
    for (var n = 1u; n < 16u; n++) { sum += sh_eights[n]; }
    return sum;
}

/// Adds four columns of a value, times its weights, to the sums of the queries that see it.
fn add_value_to(to: ptr<private, array<vec4<f32>, 4>>, value: vec4<f32>, weight: vec4<f32>, seen: vec4<bool>) {
    if CAUSAL {
        // A select rather than a weight of 0, since 0 * NaN is NaN.
        (*to)[0] += select(vec4(0.0), weight * value.x, seen);
        (*to)[1] += select(vec4(0.0), weight * value.y, seen);
        (*to)[2] += select(vec4(0.0), weight * value.z, seen);
        (*to)[3] += select(vec4(0.0), weight * value.w, seen);
    } else {
        (*to)[0] += weight * value.x;
        (*to)[1] += weight * value.y;
        (*to)[2] += weight * value.z;
        (*to)[3] += weight * value.w;
    }
}

/// Adds an invocation's columns of the value of a key of the step.
fn add_decoded(at: u32, col: u32, key: u32, seen: vec4<bool>) {
    if FROM == 0u {
        add_value_to(&sums, four_of_v(at, col), sh_weights[key], seen);
    } else if FOURS == 1u {
        add_value_to(&sums, four_halves_of_v(at, col), sh_weights[key], seen);
    } else {
        let value = eight_of_v(at, col);
        let weight = sh_weights[key];
        add_value_to(&sums, value.first, weight, seen);
        add_value_to(&next_sums, value.second, weight, seen);
    }
}

fn scale_each(all: ptr<private, array<vec4<f32>, 4>>, factor: vec4<f32>) {
    (*all)[0] *= factor;
    (*all)[1] *= factor;
    (*all)[2] *= factor;
    (*all)[3] *= factor;
}

/// Returns the sums of four columns of a query.
fn columns_of(all: ptr<private, array<vec4<f32>, 4>>, query: u32) -> vec4<f32> {
    return vec4((*all)[0][query], (*all)[1][query], (*all)[2][query], (*all)[3][query]);
}

/// Returns for each query whether it sees a key, which must be before the end of the split and, with a mask, among the last keys up to
/// the query's own: any number of them, or those of its window.
fn seen_of(key: u32, key_end: u32) -> vec4<bool> {
    let seen = vec4(key < key_end);
    if CAUSAL {
        // Distance from the key to the query's own, which wraps around for a key behind it. There are less than 2^31 keys.
        let distance = vec4(params.first - key) + vec4(0u, 1u, 2u, 3u);
        return seen & (distance < vec4(select(0x80000000u, params.window, WINDOW)));
    }
    return seen;
}

/// Makes a weight of the scores of key i of the step, and adds it to the sums of weights. What queries see is found again, so that it is
/// not in registers.
fn weigh_key(i: u32, most: vec4<f32>, factor: vec4<f32>, key: u32, key_end: u32) {
    let weight = select(vec4(0.0), exp(sh_weights[i] - most), seen_of(key, key_end));
    sh_weights[KEYS + i] = sh_weights[KEYS + i] * factor + weight;
    sh_weights[i] = weight;
}

/// Adds up the sums of all invocations with the same columns, and stores them as the result of a query: divided by the sum of
/// its weights or, if SPLIT, beside its maximum and that sum. `own` are the invocation's, the second four only if FOURS is 2.
fn store_decoded(i: u32, row: u32, row_index: u32, split: u32, own: array<vec4<f32>, 2>, most: f32, total: f32) {
    workgroupBarrier();
    sh_parts[FOURS * i] = own[0];
    if FOURS == 2u { sh_parts[2u * i + 1u] = own[1]; }
    workgroupBarrier();
    if i >= COLUMNS4 || row >= params.n_q {
        return;
    }
    var sum = sh_parts[i];
    for (var at = i + COLUMNS4; at < FOURS * THREADS; at += COLUMNS4) { sum += sh_parts[at]; }
    var start = params.out_from + row_index * params.dim;
    if SPLIT {
        start += split * params.n_out;
        if i == 0u {
            let at = params.all_splits * params.n_out + 2u * (split * (params.n_out / params.dim) + row_index);
            out[at] = most;
            out[at + 1u] = total;
        }
    } else {
        sum /= total;
    }
    store4(start + 4u * i, 4u * i, params.dim, sum);
}

@compute @workgroup_size(THREADS)
fn tensor_attention_decode(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_groups {
        return;
    }
    let split = id % params.n_splits;
    let product = id / params.n_splits;
    let batch = product / params.heads;
    let head = product - batch * params.heads;
    let start_k = params.k.x + batch * params.k.y + head / params.heads_per_key * params.k.z;
    let start_v = params.v.x + batch * params.v.y + head / params.heads_per_key * params.v.z;
    let key_begin = split_begin(0u, split);
    let key_end = min(key_begin + params.split_len, params.n_k);

    // For scores a lane of four, and two keys; for weights one key; for values four or eight columns.
    let lane = i % 4u;
    let slot = i / 4u;
    let own_key = i % KEYS;
    let col = 4u * FOURS * (i % SHARERS);
    let first_value = i / SHARERS;
    if i == 0u { sh_most = vec4(LOWEST); }
    var total = vec4(0.0);
    if FEWEST {
        sh_weights[i] = vec4(0.0);
        if i == 0u { sh_origin = vec3(split, head, batch); }
    }
    keep_few_queries(i, params.q.x + batch * params.q.y + head * params.q.z);
    workgroupBarrier();
    for (var key = key_begin; key < key_end; key += KEYS) {
        if FEWEST {
            multiply_each(key, key_end - key, start_k, slot, lane);
        } else {
            multiply_keys(key + slot, start_k, lane);
        }
        let product = own_product(own_key, slot, lane);
        let seen = seen_of(key + own_key, key_end);
        let score = select(vec4(LOWEST), product * params.scale, seen);
        if !FEWEST || i < KEYS { sh_weights[i] = score; }
        workgroupBarrier();
        let largest = max_of_keys(i);
        let next = max(sh_most, largest);
        let factor = exp(sh_most - next);
        if FEWEST {
            if i < KEYS { weigh_key(i, next, factor, key + i, key_end); }
        } else {
            let weight = select(vec4(0.0), exp(score - next), seen);
            total = total * factor + weight;
            sh_weights[i] = weight;
        }
        if i == 0u { sh_factors = factor; }
        workgroupBarrier();
        if i == 0u { sh_most = next; }
        scale_each(&sums, sh_factors);
        if FOURS == 2u { scale_each(&next_sums, sh_factors); }
        let end = min(KEYS, key_end - key);
        var at = start_v + (key + first_value) * params.v.w + col;
        for (var n = first_value; n < select(KEYS, end, FEWEST); n += THREADS / SHARERS) {
            if n < end && col < params.dim { add_decoded(at, col, n, seen_of(key + n, key_end)); }
            at += THREADS / SHARERS * params.v.w;
        }
    }

    workgroupBarrier();
    if FEWEST {
        if i < KEYS { sh_weights[i] = sh_weights[KEYS + i]; }
    } else {
        sh_weights[i] = total;
    }
    workgroupBarrier();
    total = sum_of_keys(i);
    let pitch = params.out_heads;
    if FEWEST {
        let first = sh_origin.z * params.n_q * pitch + sh_origin.y;
        for (var row = 0u; row < params.n_q; row++) {
            let own = columns_of(&sums, row);
            store_decoded(i, row, first + row * pitch, params.splits_before + sh_origin.x, array(own, own), sh_most[row], total[row]);
        }
        return;
    }
    let row_index = batch * params.n_q * params.out_heads + head;
    let to = params.splits_before + split;
    store_decoded(i, 0u, row_index, to, array(columns_of(&sums, 0u), columns_of(&next_sums, 0u)), sh_most.x, total.x);
    store_decoded(i, 1u, row_index + pitch, to, array(columns_of(&sums, 1u), columns_of(&next_sums, 1u)), sh_most.y, total.y);
    store_decoded(i, 2u, row_index + 2u * pitch, to, array(columns_of(&sums, 2u), columns_of(&next_sums, 2u)), sh_most.z, total.z);
    store_decoded(i, 3u, row_index + 3u * pitch, to, array(columns_of(&sums, 3u), columns_of(&next_sums, 3u)), sh_most.w, total.w);
}
