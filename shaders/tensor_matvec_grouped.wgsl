// Matrix product of one row with quantized weights of 4 or 5 bits: out[n] = a[k] wᵀ, with w [n, k] in blocks of 256 weights (Q4_K, Q5_K of
// ggml).
//
// WIDTH invocations take four columns of the product; a workgroup takes as many columns as fit. In each step an invocation multiplies 64
// weights of its columns: 32 bytes, in two groups with factors of their own. The row's elements are copied to workgroup memory for all
// columns, with a gap after each 64, so that the invocations read different banks. Weights are loaded before the barriers, whose waits
// they overlap. sum(w a) = scale sum(value a) - minimum sum(a) in each group, as in `tensor_matvec_quantized`.
// Bindings: `a`: k f32, from element `a_from` on; `w`: rows of pitch_k / 256 blocks of 144 or 176 bytes, without gaps, from byte `w_from`
// on; `out`: n f32, from element `c_from` on. With ADD the product is accumulated into `out`.
// Preconditions: BITS is 4 or 5, WIDTH 4 or more; no length is 0; k and pitch_k are multiples of 256; a_from is a multiple of 4, w_from of
// 16. Products with an infinite factor are infinite or NaN, not always the same as those of the twin.
// Twin: src/tensor/cpu/quantized.rs
//
// import: lib/add4, lib/group_factors, lib/packed_rows, lib/packed_values, lib/row_sum4, lib/sum4

// Vectors of a block, and of its bytes before the weights' low bits.
override BLOCK: u32 = select(9u, 11u, BITS == 5u);
override LOW_BITS: u32 = BLOCK - 8u;
// 16 vectors and a gap for each invocation of a row.
override N_ELEMENTS: u32 = 17u * WIDTH;
override N_RUNS: u32 = 4u * WIDTH;

var<workgroup> sh_elements: array<vec4<f32>, N_ELEMENTS>;
// Sums of runs of 16 elements, four for each invocation. Not vectors: invocations store neighbouring sums.
var<workgroup> sh_runs: array<f32, N_RUNS>;

/// 64 packed weights of a column: the block's first bytes, two runs of 16 bytes, and the bytes with their fifth bits.
struct Groups {
    head: vec4<u32>,
    first: vec4<u32>,
    second: vec4<u32>,
    first_fifths: vec4<u32>,
    second_fifths: vec4<u32>,
}

// Sums of products of each group's values, without factors, of four columns.
var<private> low: vec4<f32>;
var<private> high: vec4<f32>;

/// Loads the weights of groups 2 `pair` and 2 `pair` + 1. `block` is the vector index of the block.
fn load_groups(block: u32, pair: u32) -> Groups {
    var groups: Groups;
    groups.head = w[block];
    groups.first = w[block + LOW_BITS + 2u * pair];
    groups.second = w[block + LOW_BITS + 2u * pair + 1u];
    if BITS == 5u {
        groups.first_fifths = w[block + 1u] >> vec4(2u * pair);
        groups.second_fifths = w[block + 2u] >> vec4(2u * pair);
    }
    return groups;
}

/// Copies elements of the row, from vector `from_at` on, to workgroup memory.
fn stage_row(i: u32, from_at: u32, n_runs: u32) {
    for (var run = i; run < n_runs; run += THREADS) {
        let at = from_at + 4u * run;
        let x = array(a[at], a[at + 1u], a[at + 2u], a[at + 3u]);
        let to = 4u * run + (run >> 2u);
        sh_elements[to] = x[0];
        sh_elements[to + 1u] = x[1];
        sh_elements[to + 2u] = x[2];
        sh_elements[to + 3u] = x[3];
        sh_runs[run] = (sum4(x[0]) + sum4(x[1])) + (sum4(x[2]) + sum4(x[3]));
    }
}

/// Returns sums with the products of four elements and the values in the bytes of a word of each column, from bit `place` on.
fn with_products(sums: vec4<f32>, x: vec4<f32>, words: vec4<u32>, place: u32) -> vec4<f32> {
    let upper = words >> vec4(16u);
    var y = sums + x.x * values_at(words, place, BITS, 0.0);
    y += x.y * values_at(words, place + 8u, BITS, 0.0);
    y += x.z * values_at(upper, place, BITS, 0.0);
    return y + x.w * values_at(upper, place + 8u, BITS, 0.0);
}

/// Adds the products of four weights of both groups of each column. `at` is the place of the first group's elements.
fn add_word(at: u32, words: vec4<u32>, fifths: vec4<u32>) {
    var first = words;
    var second = words;
    if BITS == 5u {
        first = (words & vec4(0x0f0f0f0fu)) | ((fifths << vec4(4u)) & vec4(0x10101010u));
        second = ((words >> vec4(4u)) & vec4(0x0f0f0f0fu)) | ((fifths << vec4(3u)) & vec4(0x10101010u));
    }
    low = with_products(low, sh_elements[at], first, 0u);
    high = with_products(high, sh_elements[at + 8u], second, select(0u, 4u, BITS == 4u));
}

/// Adds the products of the runs of 16 bytes `p` to `s`, one of each column, with their fifth bits.
fn add_bytes(at: u32, p: vec4<u32>, q: vec4<u32>, r: vec4<u32>, s: vec4<u32>, fifths: array<vec4<u32>, 4>) {
    let f = fifths;
    add_word(at, vec4(p.x, q.x, r.x, s.x), vec4(f[0].x, f[1].x, f[2].x, f[3].x));
    add_word(at + 1u, vec4(p.y, q.y, r.y, s.y), vec4(f[0].y, f[1].y, f[2].y, f[3].y));
    add_word(at + 2u, vec4(p.z, q.z, r.z, s.z), vec4(f[0].z, f[1].z, f[2].z, f[3].z));
    add_word(at + 3u, vec4(p.w, q.w, r.w, s.w), vec4(f[0].w, f[1].w, f[2].w, f[3].w));
}

/// Returns the sums of the products of a part of each column and the lane's elements.
fn group_products(lane: u32, places: FactorPlaces, p: Groups, q: Groups, r: Groups, s: Groups) -> vec4<f32> {
    low = vec4(0.0);
    high = vec4(0.0);
    let at = 17u * lane;
    let fifths = array(p.first_fifths, q.first_fifths, r.first_fifths, s.first_fifths);
    add_bytes(at, p.first, q.first, r.first, s.first, fifths);
    let next_fifths = array(p.second_fifths, q.second_fifths, r.second_fifths, s.second_fifths);
    add_bytes(at + 4u, p.second, q.second, r.second, s.second, next_fifths);
    let first_total = sh_runs[4u * lane] + sh_runs[4u * lane + 1u];
    let second_total = sh_runs[4u * lane + 2u] + sh_runs[4u * lane + 3u];
    let x = factors_at(p.head, places);
    let y = factors_at(q.head, places);
    let z = factors_at(r.head, places);
    let u = factors_at(s.head, places);
    return vec4(x.x, y.x, z.x, u.x) * low - vec4(x.y, y.y, z.y, u.y) * first_total
        + vec4(x.z, y.z, z.z, u.z) * high - vec4(x.w, y.w, z.w, u.w) * second_total;
}

@compute @workgroup_size(THREADS)
fn tensor_matvec_grouped(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_groups {
        return;
    }
    set_exponents();
    let lane = i % WIDTH;
    let col = 4u * (id * (THREADS / WIDTH) + i / WIDTH);
    // Columns behind the last one are that one, and are not stored.
    let cols = min(vec4(col, col + 1u, col + 2u, col + 3u), vec4(params.n - 1u));
    let pair = lane & 3u;
    let places = factor_places(2u * pair);
    let begin = params.w_from >> 4u;
    var blocks = begin + BLOCK * (cols * (params.pitch_k >> 8u) + (lane >> 2u));
    var sums = vec4(0.0);
    let n_parts = params.k >> 6u;
    for (var first = 0u; first < n_parts; first += WIDTH) {
        let has_part = lane < n_parts - first;
        // Other lanes load the first block and do not use it.
        blocks = select(vec4(begin), blocks, has_part);
        let p = load_groups(blocks.x, pair);
        let q = load_groups(blocks.y, pair);
        let r = load_groups(blocks.z, pair);
        let s = load_groups(blocks.w, pair);
        // The previous step has read the elements.
        workgroupBarrier();
        stage_row(i, (params.a_from >> 2u) + 16u * first, 4u * min(WIDTH, n_parts - first));
        workgroupBarrier();
        if has_part {
            sums += group_products(lane, places, p, q, r, s);
        }
        blocks += BLOCK * (WIDTH >> 2u);
    }
    let total = row_sum4(i, lane, sums);
    if lane == 0u {
        add4(params.c_from + col, col, params.n, total);
    }
}
