// Part of tensor_attention: weights of the keys of a step, by online softmax.
//
// import: lib/outer_product, lib/sum4

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
    sh_weights[at + 32u] = p2;
    sh_weights[at + 48u] = p3;
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
    // To 2, which compilers do not know; so below.
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
