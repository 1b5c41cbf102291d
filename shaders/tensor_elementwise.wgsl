// Element-wise operations: a fused chain of up to four steps per element, one of which may take a second tensor.
//
// One invocation computes four groups of four elements.
// Bindings: `a`, `b` (bound to `a` again where no step takes a second tensor), `out`: f32, in a second text of 16 bits, each a whole
// number of groups of four elements. `out` is contiguous; the padding behind element n in its last group is undefined for f32, and 0
// for 16 bits. `a` and `b` are contiguous like `out`, or strided: `dims`, the strides and the offset give the index of each element.
// Preconditions: n > 0; every index that the strides give is inside its buffer; `groups_x` is the grid's x.
// NaN propagates, tested by its bits: neither WGSL nor drivers guarantee it for min, max and comparisons.
// Twin: src/tensor/cpu/elementwise.rs
//
// import: lib/activations, lib/nan, lib/singles/fours, lib/singles/store_four

// Invocations of a workgroup.
override THREADS: u32 = 256u;

// False for the fewest registers: one group after the other.
override AHEAD: bool = true;

// Operation of each step, as `kernels::tensor::Step` numbers them; 0 is none.
override STEP_0: u32 = 0u;
override STEP_1: u32 = 0u;
override STEP_2: u32 = 0u;
override STEP_3: u32 = 0u;
// 0: contiguous. 1: strided. 2, only for `b`: unused.
override LAYOUT_A: u32 = 0u;
override LAYOUT_B: u32 = 2u;

struct Params {
    n: u32,
    rank: u32,
    offset_a: u32,
    offset_b: u32,
    // Innermost first.
    dims: array<vec4<u32>, 2>,
    strides_a: array<vec4<u32>, 2>,
    strides_b: array<vec4<u32>, 2>,
    // Two parameters per step.
    numbers: array<vec4<f32>, 2>,
}

@group(0) @binding(0) var<storage, read> a: array<Four>;
@group(0) @binding(1) var<storage, read> b: array<Four>;
@group(0) @binding(2) var<storage, read_write> out: array<Four>;
@group(0) @binding(3) var<uniform> params: Params;

/// Returns exp(x) - 1 for x <= 0.
fn exp_minus_1(x: vec4<f32>) -> vec4<f32> {
    let series = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666667 + x * (0.0083333333 + x * 0.0013888889)))));
    return select(exp(x) - 1.0, series, x > vec4(-0.35));
}

/// Returns log(1 + x), where `sum` is 1 + x. The built-in may have an absolute error of 2^-21 near 1, where the result is
/// small.
fn logarithm(sum: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let s = x / (2.0 + x);
    let square = s * s;
    let series = 2.0 * s * (1.0 + square * (0.33333333 + square * (0.2 + square * (0.14285714 + square * 0.11111111))));
    return select(log(sum), series, abs(x) < vec4(0.25));
}

/// Returns the maximum; NaN if either is NaN.
fn maximum(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    return select(select(select(x, y, y > x), x, is_nan(x)), y, is_nan(y));
}

/// Returns the minimum; NaN if either is NaN.
fn minimum(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    return select(select(select(x, y, y < x), x, is_nan(x)), y, is_nan(y));
}

fn unary(step: u32, x: vec4<f32>, p: vec2<f32>) -> vec4<f32> {
    switch step {
        case 2u: { return select(x, p.x * x, x < vec4(0.0)); }
        case 3u: { return select(x, p.x * exp_minus_1(min(x, vec4(0.0))), x < vec4(0.0)); }
        case 9u: { return min(max(x, vec4(p.x)), vec4(p.y)); }
        case 10u: { return x * p.x; }
        case 11u: { return x + p.x; }
        case 12u: { return exp(x); }
        case 13u: { return logarithm(x, x - 1.0); }
        case 14u: { return sqrt(x); }
        case 15u: { return abs(x); }
        case 16u: { return 1.0 / x; }
        case 17u: { return logarithm(1.0 + x, x); }
        default: { return activation(step, x); }
    }
}

fn binary(step: u32, x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    switch step {
        case 32u: { return x + y; }
        case 33u: { return x - y; }
        case 34u: { return x * y; }
        case 35u: { return x / y; }
        case 36u: { return maximum(x, y); }
        case 37u: { return minimum(x, y); }
        default: { return x; }
    }
}

fn apply_step(step: u32, x: vec4<f32>, y: vec4<f32>, p: vec2<f32>) -> vec4<f32> {
    if step == 0u {
        return x;
    }
    if step >= 32u {
        return binary(step, x, y);
    }
    return select(unary(step, x, p), x, is_nan(x));
}

fn apply_steps(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let first = apply_step(STEP_0, x, y, params.numbers[0].xy);
    let second = apply_step(STEP_1, first, y, params.numbers[0].zw);
    let third = apply_step(STEP_2, second, y, params.numbers[1].xy);
    return apply_step(STEP_3, third, y, params.numbers[1].zw);
}

/// Returns the indices in `a` and in `b` of element i of `out`.
fn source_indices(i: u32) -> vec2<u32> {
    var rest = min(i, params.n - 1u);
    var at = vec2(params.offset_a, params.offset_b);
    for (var d = 0u; d < params.rank; d++) {
        let dim = params.dims[d >> 2u][d & 3u];
        let outer = rest / dim;
        let index = rest - outer * dim;
        at += index * vec2(params.strides_a[d >> 2u][d & 3u], params.strides_b[d >> 2u][d & 3u]);
        rest = outer;
    }
    return at;
}

fn four_of_a(i: u32) -> vec4<f32> {
    if LAYOUT_A == 0u {
        return four_of(a[i]);
    }
    return vec4(
        element_a(source_indices(4u * i).x),
        element_a(source_indices(4u * i + 1u).x),
        element_a(source_indices(4u * i + 2u).x),
        element_a(source_indices(4u * i + 3u).x),
    );
}

fn four_of_b(i: u32) -> vec4<f32> {
    if LAYOUT_B == 0u {
        return four_of(b[i]);
    }
    if LAYOUT_B == 1u {
        return vec4(
            element_b(source_indices(4u * i).y),
            element_b(source_indices(4u * i + 1u).y),
            element_b(source_indices(4u * i + 2u).y),
            element_b(source_indices(4u * i + 3u).y),
        );
    }
    return vec4(0.0);
}

@compute @workgroup_size(THREADS)
fn tensor_elementwise(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let last = (params.n - 1u) / 4u;
    let i = (group.y * groups.x + group.x) * 4u * THREADS + lane;
    if !AHEAD {
        // Four, which the compiler does not see: it would have the loads of all in flight otherwise.
        let n_groups = min(4u, 3u + params.n);
        for (var k = 0u; k < n_groups; k++) {
            let own = i + k * THREADS;
            let at = min(own, last);
            let result = apply_steps(four_of_a(at), four_of_b(at));
            if own <= last {
                store_four(own, result);
            }
        }
        return;
    }
    // All loads first, so that they are in flight together; indices are clamped to the last group.
    let i0 = min(i, last);
    let i1 = min(i + THREADS, last);
    let i2 = min(i + 2u * THREADS, last);
    let i3 = min(i + 3u * THREADS, last);
    let x0 = four_of_a(i0);
    let x1 = four_of_a(i1);
    let x2 = four_of_a(i2);
    let x3 = four_of_a(i3);
    let y0 = four_of_b(i0);
    let y1 = four_of_b(i1);
    let y2 = four_of_b(i2);
    let y3 = four_of_b(i3);
    if i <= last {
        store_four(i, apply_steps(x0, y0));
    }
    if i + THREADS <= last {
        store_four(i + THREADS, apply_steps(x1, y1));
    }
    if i + 2u * THREADS <= last {
        store_four(i + 2u * THREADS, apply_steps(x2, y2));
    }
    if i + 3u * THREADS <= last {
        store_four(i + 3u * THREADS, apply_steps(x3, y3));
    }
}
