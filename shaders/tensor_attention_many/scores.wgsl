// Part of tensor_attention_many: scores, and the weights that they become.

// Element j: key lane_n + LANES_N * j for the first four queries; element 4 + j: for the second four; element 8 + j and
// 12 + j: for the second group of keys. Scores, then weights.
var<private> scores: array<vec4<f32>, 16>;

fn clear_four(to: u32) {
    scores[to] = vec4(0.0);
    scores[to + 1u] = vec4(0.0);
    scores[to + 2u] = vec4(0.0);
    scores[to + 3u] = vec4(0.0);
}

fn clear_scores() {
    clear_four(0u);
    clear_four(4u);
    if KEY_GROUPS == 2u {
        clear_four(8u);
        clear_four(12u);
    }
}

/// Adds the products of four keys and four queries.
fn add_four_scores(to: u32, keys: vec4<f32>, queries: vec4<f32>) {
    scores[to] += keys.x * queries;
    scores[to + 1u] += keys.y * queries;
    scores[to + 2u] += keys.z * queries;
    scores[to + 3u] += keys.w * queries;
}

/// Adds the products of one column to the scores.
fn add_column(at_q: u32, at_k: u32) {
    let q0 = sh_q[at_q];
    let q1 = sh_q[at_q + LANES_M];
    let k0 = sh_k[at_k];
    add_four_scores(0u, k0, q0);
    add_four_scores(4u, k0, q1);
    if KEY_GROUPS == 2u {
        let k1 = sh_k[at_k + LANES_N];
        add_four_scores(8u, k1, q0);
        add_four_scores(12u, k1, q1);
    }
}

/// Adds the products of the columns of a slice.
fn add_slice(lane_m: u32, lane_n: u32, depth: u32) {
    var at_q = lane_m;
    if KEPT > 0u {
        at_q += TILE_M4 * depth;
    }
    var at_k = lane_n;
    for (var step = 0u; step < DEPTH; step += 4u) {
        add_column(at_q, at_k);
        add_column(at_q + TILE_M4, at_k + TILE_N4);
        add_column(at_q + 2u * TILE_M4, at_k + 2u * TILE_N4);
        add_column(at_q + 3u * TILE_M4, at_k + 3u * TILE_N4);
        at_q += 4u * TILE_M4;
        at_k += 4u * TILE_N4;
    }
}

fn scale_four(to: u32) {
    scores[to] *= params.scale;
    scores[to + 1u] *= params.scale;
    scores[to + 2u] *= params.scale;
    scores[to + 3u] *= params.scale;
}

fn scale_scores() {
    scale_four(0u);
    scale_four(4u);
    if KEY_GROUPS == 2u {
        scale_four(8u);
        scale_four(12u);
    }
}

/// Keys that four queries see: those before `end`. If WINDOW, those before `key_end` of which the first query sees the last before
/// `own_end`, and each later query one more.
struct Seen {
    end: vec4<u32>,
    own_end: u32,
    key_end: u32,
}

/// Returns the keys before `key_end` that four queries see. `own_end` is one more than the last key that the first of them sees.
fn seen_by_four(own_end: u32, key_end: u32) -> Seen {
    return Seen(min(vec4(key_end), own_end + vec4(0u, 1u, 2u, 3u)), own_end, key_end);
}

/// Returns which of four queries see a key.
fn sees(seen: Seen, key: u32) -> vec4<bool> {
    if WINDOW {
        // Keys from the last that the first query sees back to this one; large for later keys, since the difference wraps around.
        let back = select(seen.own_end - 1u - key, 0xfffffffcu, key >= seen.key_end);
        return back + vec4(0u, 1u, 2u, 3u) < vec4(params.window);
    }
    return vec4(key) < seen.end;
}

/// Replaces the scores, or weights, of four queries for keys that they do not see.
fn mask_four(to: u32, first: u32, seen: Seen, x: f32) {
    scores[to] = select(vec4(x), scores[to], sees(seen, first));
    scores[to + 1u] = select(vec4(x), scores[to + 1u], sees(seen, first + LANES_N));
    scores[to + 2u] = select(vec4(x), scores[to + 2u], sees(seen, first + 2u * LANES_N));
    scores[to + 3u] = select(vec4(x), scores[to + 3u], sees(seen, first + 3u * LANES_N));
}

fn mask_scores(first: u32, seen0: Seen, seen1: Seen, x: f32) {
    mask_four(0u, first, seen0, x);
    mask_four(4u, first, seen1, x);
    if KEY_GROUPS == 2u {
        mask_four(8u, first + 4u * LANES_N, seen0, x);
        mask_four(12u, first + 4u * LANES_N, seen1, x);
    }
}

fn max_of_four(at: u32) -> vec4<f32> {
    return max(max(scores[at], scores[at + 1u]), max(scores[at + 2u], scores[at + 3u]));
}

/// Returns the maxima of four queries over the keys of this invocation.
fn max_of_scores(at: u32) -> vec4<f32> {
    if KEY_GROUPS == 2u {
        return max(max_of_four(at), max_of_four(at + 8u));
    }
    return max_of_four(at);
}

fn weigh_four(to: u32, most: vec4<f32>) {
    scores[to] = exp(scores[to] - most);
    scores[to + 1u] = exp(scores[to + 1u] - most);
    scores[to + 2u] = exp(scores[to + 2u] - most);
    scores[to + 3u] = exp(scores[to + 3u] - most);
}

fn weigh_scores(most0: vec4<f32>, most1: vec4<f32>) {
    weigh_four(0u, most0);
    weigh_four(4u, most1);
    if KEY_GROUPS == 2u {
        weigh_four(8u, most0);
        weigh_four(12u, most1);
    }
}

fn sum_of_four(at: u32) -> vec4<f32> {
    return (scores[at] + scores[at + 1u]) + (scores[at + 2u] + scores[at + 3u]);
}

fn sum_of_scores(at: u32) -> vec4<f32> {
    if KEY_GROUPS == 2u {
        return sum_of_four(at) + sum_of_four(at + 8u);
    }
    return sum_of_four(at);
}

/// Stores the weights of LANES_N keys, the j-th of each invocation.
fn store_weights(at: u32, j: u32) {
    switch j {
        case 0u: { sh_q[at] = scores[0]; sh_q[at + LANES_M] = scores[4]; }
        case 1u: { sh_q[at] = scores[1]; sh_q[at + LANES_M] = scores[5]; }
        case 2u: { sh_q[at] = scores[2]; sh_q[at + LANES_M] = scores[6]; }
        case 3u: { sh_q[at] = scores[3]; sh_q[at + LANES_M] = scores[7]; }
        case 4u: { sh_q[at] = scores[8]; sh_q[at + LANES_M] = scores[12]; }
        case 5u: { sh_q[at] = scores[9]; sh_q[at + LANES_M] = scores[13]; }
        case 6u: { sh_q[at] = scores[10]; sh_q[at + LANES_M] = scores[14]; }
        default: { sh_q[at] = scores[11]; sh_q[at + LANES_M] = scores[15]; }
    }
}
