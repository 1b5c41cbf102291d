// Converts the elements of a strided tensor to another type: f32, f16 (IEEE binary16) or bf16 (bfloat16). Rounds to
// nearest, ties to even. Arithmetic is on bits, so that devices need no type of 16 bits and all engines give the same bits.
//
// One invocation writes one word: one f32, or two elements of 16 bits.
// Bindings: `a`, `out`: words. Elements of 16 bits lie in pairs, the first in the low half. An element of `a` lies at `start`
// plus the sum over all axes of index times stride, in elements. If `out` is of f32, elements lie in it likewise, from `to`
// on; else they are contiguous from its first word on, and a last word with one element has zeros in its high half.
// Preconditions: nothing is 0 but `first`, offsets and strides; `n` is the number of words, `end` that of the last element
// plus 1, and at most the product of `dims`, the innermost axis first; every offset is inside its binding.
// A NaN that is rounded becomes the quiet NaN of its sign; wider or equal types keep its payload.
// Twin: src/tensor/cpu/halves.rs
//
// import: lib/rounded

// Types, as `DType::code` numbers them: 0 is f32, 1 is f16, 2 is bf16.
override FROM: u32 = 0u;
override TO: u32 = 1u;

// Invocations of a workgroup.
override THREADS: u32 = 256u;

struct Params {
    n: u32,
    rank: u32,
    // First element, in the order of the axes, and the end of the elements.
    first: u32,
    end: u32,
    start: u32,
    to: u32,
    pad_0: u32,
    pad_1: u32,
    dims: array<vec4<u32>, 2>,
    strides_a: array<vec4<u32>, 2>,
    strides_out: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

/// Returns the places of an element in `a` and in `out`.
fn places_of(element: u32) -> vec2<u32> {
    var rest = element;
    var at = vec2(params.start, params.to);
    for (var d = 0u; d < params.rank; d++) {
        var outer = 0u;
        var index = rest;
        // The outermost axis needs no division; the only axis of contiguous elements is that.
        if d + 1u < params.rank {
            let dim = params.dims[d >> 2u][d & 3u];
            outer = rest / dim;
            index = rest - outer * dim;
        }
        at += index * vec2(params.strides_a[d >> 2u][d & 3u], params.strides_out[d >> 2u][d & 3u]);
        rest = outer;
    }
    return at;
}

/// Returns the bits of an element of `a`.
fn bits_of_a(at: u32) -> u32 {
    if FROM == 0u {
        return a[at];
    }
    return (a[at >> 1u] >> ((at & 1u) << 4u)) & 0xffffu;
}

/// Returns the bits of the f32 of the same value.
fn widened(bits: u32) -> u32 {
    if FROM == 0u {
        return bits;
    }
    if FROM == 2u {
        return bits << 16u;
    }
    let sign = (bits >> 15u) << 31u;
    let exponent = (bits >> 10u) & 31u;
    let fraction = bits & 1023u;
    if exponent == 0u {
        // A multiple of 2^-24, and normal as f32.
        return sign | bitcast<u32>(f32(fraction) * 5.9604644775390625e-8);
    }
    if exponent == 31u {
        return sign | 0x7f800000u | (fraction << 13u);
    }
    return sign | ((exponent + 112u) << 23u) | (fraction << 13u);
}

@compute @workgroup_size(THREADS)
fn tensor_cast(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let word = (group.y * groups.x + group.x) * THREADS + i;
    if word >= params.n {
        return;
    }
    if TO == 0u {
        let at = places_of(params.first + word);
        out[at.y] = widened(bits_of_a(at.x));
        return;
    }
    let element = params.first + 2u * word;
    var pair = vec2(bits_of_a(places_of(element).x), 0u);
    if element + 1u < params.end {
        pair.y = bits_of_a(places_of(element + 1u).x);
    }
    if FROM == TO {
        out[word] = pair.x | (pair.y << 16u);
    } else {
        out[word] = rounded_pair(bitcast<vec2<f32>>(vec2(widened(pair.x), widened(pair.y))));
    }
}
