// Matrix product of few rows with quantized weights: out[m, n] = a[m, k] wᵀ, with w [n, k] in blocks of 256 weights (Q4_K,
// Q5_K, Q6_K of ggml) or 32 (Q8_0) or as f16 or bfloat16. It reads each weight once for up to four rows.
//
// WIDTH invocations take COLS columns of the product and ROWS rows; a workgroup takes as many columns as fit. Invocations
// with consecutive numbers load consecutive 16 bytes of a row of weights: 32 weights of 4 bits, in two runs of 16, or 8 of
// 16 bits. Each uses an element of `a` that it loaded for all its columns. The values of a run of 16 weights are multiplied
// by elements first, and their sum then by the factor of the run: sum(w a) = scale sum(value a) - minimum sum(a).
// Bindings: `a`: rows of `pitch_k` f32, of which k are used, from element `a_from` on; `w`: rows of pitch_k / 256 blocks of
// 144, 176 or 210 bytes, without gaps, or of pitch_k / 32 blocks of 34 bytes, or of pitch_k numbers of 16 bits, from byte `w_from` on; `out`: rows of `pitch_n` f32, of which n
// are used, from element `c_from` on. With ADD the product is accumulated into `out`.
// Preconditions: no length is 0; k and pitch_k are multiples of 256, for 8 bits of 32, for 16 bits of 8; a_from is a multiple of 4, w_from of
// 2 (6 or 8 bits) or 16. Products with an infinite factor are infinite or NaN, not always the same as those of the twin.
// Twin: src/tensor/cpu/quantized.rs
//
// import: lib/add4, lib/group_factors, lib/packed_rows, lib/packed_values, lib/row_sum4, lib/sum4

// Weights of 16 bits are bfloat16 instead of f16.
override BFLOAT: bool = false;
// Rows per workgroup: 1 to 4.
override ROWS: u32 = 1u;
// False for the fewest registers: one row, and one run of one column at a time.
override AHEAD: bool = true;
// Columns of an invocation: 4, or 2 for devices with few registers, where the other two are 0.
override COLS: u32 = 4u;

/// 32 packed weights of a column.
struct Part {
    // Two runs of 16 values, in the lowest bits of a byte each; with 4 bits the same bytes.
    first: vec4<u32>,
    second: vec4<u32>,
    // For each run the factor of a value, and what is subtracted from each weight.
    factors: vec4<f32>,
}

// Sums for each row, of four columns.
var<private> sums: array<vec4<f32>, 4>;
// Sums of a run, of values without factors, and sums of the elements of the rows.
var<private> run_sums: array<vec4<f32>, 4>;
var<private> row_sums: vec4<f32>;
// Vectors of `a` at which the rows start. Rows behind the last one are that one.
var<private> row_starts: vec4<u32>;

fn packed_word(at: u32) -> u32 {
    return w[at >> 2u][at & 3u];
}

/// Returns 16 bytes from an even byte on.
fn sixteen_bytes(at: u32) -> vec4<u32> {
    let start = at >> 2u;
    let x = vec4(packed_word(start), packed_word(start + 1u), packed_word(start + 2u), packed_word(start + 3u));
    let next = vec4(x.yzw, packed_word(start + 4u));
    return select(x, (x >> vec4(16u)) | (next << vec4(16u)), vec4((at & 2u) != 0u));
}

/// Loads two runs of 4 or 5 bits: those in the 16 bytes `part` of a block. `block` is the vector index of the block.
fn load_small(block: u32, part: u32) -> Part {
    let factors = factors_at(w[block], factor_places(part & 6u));
    let bytes = w[block + select(1u, 3u, BITS == 5u) + part];
    if BITS == 4u {
        return Part(bytes, bytes, factors);
    }
    // Runs of neighbouring groups share bytes.
    let fifths = w[block + 1u + (part & 1u)] >> vec4(part & 6u);
    let first = (bytes & vec4(0x0f0f0f0fu)) | ((fifths << vec4(4u)) & vec4(0x10101010u));
    let second = ((bytes >> vec4(4u)) & vec4(0x0f0f0f0fu)) | ((fifths << vec4(3u)) & vec4(0x10101010u));
    return Part(first, second, factors);
}

/// Returns a signed byte.
fn scale_at(at: u32) -> f32 {
    return f32(bitcast<i32>(packed_word(at >> 2u) << (24u - 8u * (at & 3u))) >> 24u);
}

/// Loads two runs of 6 bits: those in the 16 bytes `part` of a block. `block` is the byte index of the block.
fn load_large(block: u32, part: u32) -> Part {
    let low = sixteen_bytes(block + 16u * part);
    let high = sixteen_bytes(block + 128u + 32u * (part >> 2u) + 16u * (part & 1u)) >> vec4(part & 2u);
    let first = (low & vec4(0x0f0f0f0fu)) | ((high & vec4(0x03030303u)) << vec4(4u));
    let second = ((low >> vec4(4u)) & vec4(0x0f0f0f0fu)) | (high & vec4(0x30303030u));
    let scales = block + 192u + 8u * (part >> 2u) + (part & 3u);
    let bits = packed_word((block + 208u) >> 2u);
    let factor = half(select(bits & 0xffffu, bits >> 16u, (block & 2u) != 0u));
    let x = factor * scale_at(scales);
    let y = factor * scale_at(scales + 4u);
    return Part(first, second, vec4(x, 0.0, y, 0.0));
}

/// Loads a block of 8 bits, as values that are 128 more. `block` is its byte index.
fn load_signed(block: u32) -> Part {
    let bits = packed_word(block >> 2u);
    let factor = half(select(bits & 0xffffu, bits >> 16u, (block & 2u) != 0u));
    let first = sixteen_bytes(block + 2u) ^ vec4(0x80808080u);
    let second = sixteen_bytes(block + 18u) ^ vec4(0x80808080u);
    return Part(first, second, vec4(factor, 0.0, factor, 0.0));
}

fn load_part(col: u32, part: u32) -> Part {
    if BITS == 8u {
        return load_signed(params.w_from + 34u * (col * (params.pitch_k >> 5u) + part));
    }
    let block = col * (params.pitch_k >> 8u) + (part >> 3u);
    if BITS == 6u {
        return load_large(params.w_from + 210u * block, part & 7u);
    }
    return load_small((params.w_from >> 4u) + select(9u, 11u, BITS == 5u) * block, part & 7u);
}

/// Returns the sums of products of four elements of a row and as many weights of each column.
fn products_of_row(row: u32, at: u32, w0: vec4<f32>, w1: vec4<f32>, w2: vec4<f32>, w3: vec4<f32>) -> vec4<f32> {
    let x = a[row_starts[row] + at];
    return x.x * w0 + x.y * w1 + x.z * w2 + x.w * w3;
}

/// Adds the products of four weights of each column, `w0` the first of each, and of elements from vector `at` of the rows on.
fn add_products(at: u32, w0: vec4<f32>, w1: vec4<f32>, w2: vec4<f32>, w3: vec4<f32>) {
    sums[0] += products_of_row(0u, at, w0, w1, w2, w3);
    if ROWS > 1u { sums[1] += products_of_row(1u, at, w0, w1, w2, w3); }
    if ROWS > 2u { sums[2] += products_of_row(2u, at, w0, w1, w2, w3); }
    if ROWS > 3u { sums[3] += products_of_row(3u, at, w0, w1, w2, w3); }
}

/// Returns the values in some bits of words, from bit `place` on. Values of 6 bits are 32 more than their numbers, of 8 bits 128.
fn numbers_at(words: vec4<u32>, place: u32) -> vec4<f32> {
    let offset = select(select(0.0, 32.0, BITS == 6u), 128.0, BITS == 8u);
    return values_at(words, place, min(BITS, 8u), offset);
}

/// Adds the products of four elements of a row and as many values of each column to the sums of the run.
fn add_values(row: u32, at: u32, v0: vec4<f32>, v1: vec4<f32>, v2: vec4<f32>, v3: vec4<f32>) {
    let x = a[row_starts[row] + at];
    run_sums[row] += x.x * v0;
    run_sums[row] += x.y * v1;
    run_sums[row] += x.z * v2;
    run_sums[row] += x.w * v3;
    if BITS < 6u {
        row_sums[row] += sum4(x);
    }
}

/// Adds the products of four values of each column, in the bytes of a word from bit `place` on.
fn add_four_values(at: u32, words: vec4<u32>, place: u32) {
    let high = words >> vec4(16u);
    let v0 = numbers_at(words, place);
    let v1 = numbers_at(words, place + 8u);
    let v2 = numbers_at(high, place);
    let v3 = numbers_at(high, place + 8u);
    add_values(0u, at, v0, v1, v2, v3);
    if ROWS > 1u { add_values(1u, at, v0, v1, v2, v3); }
    if ROWS > 2u { add_values(2u, at, v0, v1, v2, v3); }
    if ROWS > 3u { add_values(3u, at, v0, v1, v2, v3); }
}

/// Adds the sums of a run, times their factors, to those of the rows.
fn end_run(factor: vec4<f32>, subtrahend: vec4<f32>) {
    sums[0] += factor * run_sums[0] - subtrahend * row_sums[0];
    if ROWS > 1u { sums[1] += factor * run_sums[1] - subtrahend * row_sums[1]; }
    if ROWS > 2u { sums[2] += factor * run_sums[2] - subtrahend * row_sums[2]; }
    if ROWS > 3u { sums[3] += factor * run_sums[3] - subtrahend * row_sums[3]; }
    run_sums = array<vec4<f32>, 4>();
    row_sums = vec4(0.0);
}

/// Adds the products of a run of 16 values of four columns, `p` to `s`, and elements of the rows from vector `at` on.
fn add_run(at: u32, p: vec4<u32>, q: vec4<u32>, r: vec4<u32>, s: vec4<u32>, place: u32) {
    add_four_values(at, vec4(p.x, q.x, r.x, s.x), place);
    add_four_values(at + 1u, vec4(p.y, q.y, r.y, s.y), place);
    add_four_values(at + 2u, vec4(p.z, q.z, r.z, s.z), place);
    add_four_values(at + 3u, vec4(p.w, q.w, r.w, s.w), place);
}

/// Returns the vector of `a`, from the start of a row on, at which the first run of `part` starts, and that of its second run. Runs of 4 or
/// 5 bits are 32 weights apart, of 6 bits 64, of 8 bits 16.
fn run_starts(part: u32) -> vec2<u32> {
    if BITS == 8u {
        return 8u * part + vec2(0u, 4u);
    }
    if BITS == 6u {
        return 64u * (part >> 3u) + 32u * ((part >> 2u) & 1u) + 8u * ((part >> 1u) & 1u) + 4u * (part & 1u) + vec2(0u, 16u);
    }
    return 64u * (part >> 3u) + 16u * ((part >> 1u) & 3u) + 4u * (part & 1u) + vec2(0u, 8u);
}

/// Adds the products of the packed weights of two columns from `part` of their rows, for the fewest registers, one row and more than 4 bits:
/// one run of one column after the other. The number of runs is unknown to the compiler, which would load all of them first otherwise.
fn add_runs(cols: vec2<u32>, part: u32) {
    let starts = run_starts(part);
    let n_runs = min(4u, 3u + params.m);
    for (var k = 0u; k < n_runs; k++) {
        let second = (k & 2u) != 0u;
        let both = load_part(cols[k & 1u], part);
        let factors = select(both.factors.xy, both.factors.zw, second);
        add_run(select(starts.x, starts.y, second), select(both.first, both.second, second), vec4(0u), vec4(0u), vec4(0u), 0u);
        let sum = factors.x * run_sums[0].x - factors.y * row_sums[0];
        sums[0] += select(vec4(sum, 0.0, 0.0, 0.0), vec4(0.0, sum, 0.0, 0.0), vec4((k & 1u) != 0u));
        run_sums[0] = vec4(0.0);
        row_sums = vec4(0.0);
    }
}

/// Adds the products of the packed weights of each column from `part`, which counts 32 weights, of its row.
fn add_packed(cols: vec4<u32>, part: u32) {
    if !AHEAD && BITS > 4u {
        add_runs(cols.xy, part);
        return;
    }
    let p = load_part(cols.x, part);
    let q = load_part(cols.y, part);
    var r: Part;
    var s: Part;
    if COLS == 4u {
        r = load_part(cols.z, part);
        s = load_part(cols.w, part);
    }
    let starts = run_starts(part);
    add_run(starts.x, p.first, q.first, r.first, s.first, 0u);
    end_run(
        vec4(p.factors.x, q.factors.x, r.factors.x, s.factors.x),
        vec4(p.factors.y, q.factors.y, r.factors.y, s.factors.y),
    );
    add_run(starts.y, p.second, q.second, r.second, s.second, select(0u, 4u, BITS == 4u));
    end_run(
        vec4(p.factors.z, q.factors.z, r.factors.z, s.factors.z),
        vec4(p.factors.w, q.factors.w, r.factors.w, s.factors.w),
    );
}

fn low_halves(words: vec4<u32>) -> vec4<f32> {
    let bits = words & vec4(0xffffu);
    return vec4(
        half_or_bfloat(bits.x, BFLOAT),
        half_or_bfloat(bits.y, BFLOAT),
        half_or_bfloat(bits.z, BFLOAT),
        half_or_bfloat(bits.w, BFLOAT),
    );
}

/// Adds the products of four 16-bit weights of each column: two words of each.
fn add_four_halves(at: u32, first: vec4<u32>, second: vec4<u32>) {
    let w1 = low_halves(first >> vec4(16u));
    let w3 = low_halves(second >> vec4(16u));
    add_products(at, low_halves(first), w1, low_halves(second), w3);
}

/// Adds the products of eight 16-bit weights of each column, from vector `part` of its row on.
fn add_halves(cols: vec4<u32>, part: u32) {
    let at = (params.w_from >> 4u) + cols * (params.pitch_k >> 3u) + part;
    let p = w[at.x];
    let q = w[at.y];
    var r: vec4<u32>;
    var s: vec4<u32>;
    if COLS == 4u {
        r = w[at.z];
        s = w[at.w];
    }
    add_four_halves(2u * part, vec4(p.x, q.x, r.x, s.x), vec4(p.y, q.y, r.y, s.y));
    add_four_halves(2u * part + 1u, vec4(p.z, q.z, r.z, s.z), vec4(p.w, q.w, r.w, s.w));
}

/// Adds the lanes' sums of a row and stores them.
fn store_row(i: u32, row: u32, col: u32, own: vec4<f32>) {
    let x = row_sum4(i, i % WIDTH, select(vec4(own.xy, 0.0, 0.0), own, COLS == 4u));
    if i % WIDTH == 0u && row < params.m {
        add4(params.c_from + row * params.pitch_n + col, col, min(params.n, col + COLS), x);
    }
    // The next row's sums reuse the workgroup memory.
    workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn tensor_matvec_quantized(
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
    let first_row = id / params.groups_n * ROWS;
    let col = COLS * (id % params.groups_n * (THREADS / WIDTH) + i / WIDTH);
    // Columns behind the last one are that one, and are not stored.
    let cols = min(vec4(col, col + 1u, col + 2u, col + 3u), vec4(params.n - 1u));
    let rows = min(vec4(first_row, first_row + 1u, first_row + 2u, first_row + 3u), vec4(params.m - 1u));
    row_starts = (params.a_from + rows * params.pitch_k) >> vec4(2u);
    if BITS == 16u {
        for (var part = lane; part < params.k / 8u; part += WIDTH) {
            add_halves(cols, part);
        }
    } else {
        for (var part = lane; part < params.k / 32u; part += WIDTH) {
            add_packed(cols, part);
        }
    }
    store_row(i, first_row, col, sums[0]);
    if ROWS > 1u { store_row(i, first_row + 1u, col, sums[1]); }
    if ROWS > 2u { store_row(i, first_row + 2u, col, sums[2]); }
    if ROWS > 3u { store_row(i, first_row + 3u, col, sums[3]); }
}
