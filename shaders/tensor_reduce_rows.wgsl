// Reduces the last axis of [rows, cols]: one number for each chunk of each row.
//
// WIDTH invocations reduce a chunk of 64 * WIDTH elements, 16 groups of four each, then in a tree in workgroup memory; a workgroup of
// THREADS takes as many chunks as fit. The order of additions depends on the shape and on WIDTH. Rows of several chunks need another
// pass.
// Bindings: `a`, `b` (bound to `a` again unless OP is 3): f32, in a second text of 16 bits, a whole number of groups of four elements;
// `out`: [rows, chunks] f32.
// Preconditions: nothing is 0; chunks * 64 * WIDTH >= cols; with ALIGNED, cols is a multiple of 4 or rows is 1.
// Twin: src/tensor/cpu/reduce.rs
//
// import: lib/singles/fours, lib/total_order

// 0 sum, 1 max, 2 min, 3 sum of products, 4 sum of squares.
override OP: u32 = 0u;
// A power of two up to THREADS.
override WIDTH: u32 = 256u;
override ALIGNED: bool = true;
// True if eight groups are loaded before any are combined, which takes more registers than one at a time.
override AHEAD: bool = true;

// Invocations of a workgroup.
override THREADS: u32 = 256u;
/// Half of the 16 groups of a chunk that an invocation combines.
const HALF_ITEMS: u32 = 8u;

struct Params {
    rows: u32,
    cols: u32,
    chunks: u32,
    n_out: u32,
}

@group(0) @binding(0) var<storage, read> a: array<Four>;
@group(0) @binding(1) var<storage, read> b: array<Four>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

// Mapped words: bits of floats, or keys.
var<workgroup> sh_partials: array<u32, THREADS>;

alias Words = vec4<u32>;
alias Ints = vec4<i32>;
alias Floats = vec4<f32>;

/// Returns the identity element of `combine`.
fn identity() -> u32 {
    switch OP {
        case 1u: { return 0x80000000u; }
        case 2u: { return 0x7fffffffu; }
        default: { return 0u; }
    }
}

/// Maps an element, or a pair, to the word that `combine` reduces.
fn map(x: vec4<f32>, y: vec4<f32>) -> vec4<u32> {
    switch OP {
        case 1u: { return bitcast<vec4<u32>>(total_order_key(bitcast<vec4<u32>>(x), 0x7fffffff)); }
        case 2u: { return bitcast<vec4<u32>>(total_order_key(bitcast<vec4<u32>>(x), i32(-0x7fffffff) - 1)); }
        case 3u: { return bitcast<vec4<u32>>(x * y); }
        case 4u: { return bitcast<vec4<u32>>(x * x); }
        default: { return bitcast<vec4<u32>>(x); }
    }
}

/// Returns group `item` of lane `lane` of a chunk, mapped; the identity behind the end of the row. `first` is the chunk's
/// first column.
fn item(row: u32, first: u32, item: u32, lane: u32) -> vec4<u32> {
    if ALIGNED {
        let col = first + 4u * (item * WIDTH + lane);
        let at = min((row * params.cols + col) / 4u, (params.rows * params.cols - 1u) / 4u);
        let value = map(four_of(a[at]), four_of(b[at]));
        return select(vec4(identity()), value, vec4(col, col + 1u, col + 2u, col + 3u) < vec4(params.cols));
    }
    let col = vec4(first + 4u * item * WIDTH + lane) + vec4(0u, 1u, 2u, 3u) * WIDTH;
    let at = row * params.cols + min(col, vec4(params.cols - 1u));
    let x = vec4(element_a(at.x), element_a(at.y), element_a(at.z), element_a(at.w));
    var y = x;
    if OP == 3u {
        y = vec4(element_b(at.x), element_b(at.y), element_b(at.z), element_b(at.w));
    }
    return select(vec4(identity()), map(x, y), col < vec4(params.cols));
}

/// Combines the eight groups of a chunk from `base` on in a tree.
fn eight_items(row: u32, first: u32, base: u32, lane: u32) -> vec4<u32> {
    if AHEAD {
        let x0 = item(row, first, base, lane);
        let x1 = item(row, first, base + 1u, lane);
        let x2 = item(row, first, base + 2u, lane);
        let x3 = item(row, first, base + 3u, lane);
        let x4 = item(row, first, base + 4u, lane);
        let x5 = item(row, first, base + 5u, lane);
        let x6 = item(row, first, base + 6u, lane);
        let x7 = item(row, first, base + 7u, lane);
        let low = combine(combine(x0, x1), combine(x2, x3));
        let high = combine(combine(x4, x5), combine(x6, x7));
        return combine(low, high);
    }
    // The same tree: partial results of one, two and four groups, until as many more are combined.
    var one = vec4(identity());
    var two = one;
    var four = one;
    var eight = one;
    // This is eight, but not a constant, so that compilers do not unroll the loop and load all groups at once.
    let n = min(8u, 8u * params.n_out);
    for (var i = 0u; i < n; i++) {
        let x = item(row, first, base + i, lane);
        if (i & 1u) == 0u {
            one = x;
        } else if (i & 2u) == 0u {
            two = combine(one, x);
        } else if i < 4u {
            four = combine(two, combine(one, x));
        } else {
            eight = combine(four, combine(two, combine(one, x)));
        }
    }
    return eight;
}

@compute @workgroup_size(THREADS)
fn tensor_reduce_rows(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let lane = i % WIDTH;
    let chunk = (group.y * groups.x + group.x) * (THREADS / WIDTH) + i / WIDTH;
    // Invocations without a chunk recompute the last one and store nothing, so that barriers stay uniform.
    let at = min(chunk, params.n_out - 1u);
    let row = at / params.chunks;
    let first = (at - row * params.chunks) * 64u * WIDTH;
    var total = vec4(identity());
    for (var half = 0u; half < 2u; half++) {
        if first + half * 32u * WIDTH < params.cols {
            total = combine(total, eight_items(row, first, half * HALF_ITEMS, lane));
        }
    }
    let pair = combine(vec4(total.xy, total.xy), vec4(total.zw, total.zw));
    var own = combine(pair, pair.yyyy).x;
    for (var distance = WIDTH / 2u; distance > 0u; distance /= 2u) {
        workgroupBarrier();
        sh_partials[i] = own;
        workgroupBarrier();
        if lane < distance {
            own = combine(vec4(own), vec4(sh_partials[i + distance])).x;
        }
    }
    if lane == 0u && chunk < params.n_out {
        out[chunk] = finalize(own);
    }
}
