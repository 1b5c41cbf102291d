// Sizes, parameters and bindings of products of few rows with packed weights.

// Bits per weight: 4, 5, 6, 8 or 16.
override BITS: u32 = 4u;
// Invocations per columns: a power of two.
override WIDTH: u32 = 32u;
override THREADS: u32 = 128u;

struct Params {
    m: u32,
    n: u32,
    k: u32,
    // Workgroups along n, and in total.
    groups_n: u32,
    n_groups: u32,
    pitch_k: u32,
    pitch_n: u32,
    a_from: u32,
    w_from: u32,
    c_from: u32,
    // The bits of the float 2^23.
    exponent: u32,
    pad_0: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
