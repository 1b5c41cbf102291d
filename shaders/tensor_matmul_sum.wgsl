// Sums the slices of products and applies an epilogue: out[m, n] = activation(sum of slices + bias) + residual. With one slice it applies the
// epilogue to a product that another kernel computed.
//
// One invocation computes four elements of the result, THREADS apart, so that neighbouring lanes load neighbouring elements. The order of additions is
// that of tensor_reduce_columns.
// Bindings: `slices`: [batch, n_slices, m, n] f32; `bias`: [n] f32; `residual`, `out`: [batch, m, n] f32. Where bias or residual are not used,
// `slices` is bound again.
// Preconditions: nothing is 0; n_out is batch * inner, and inner m * n.
// Twin: src/tensor/cpu/matmul.rs
//
// import: lib/epilogue

// Invocations of a workgroup.
override THREADS: u32 = 256u;

struct Params {
    n_out: u32,
    // Elements of one product.
    inner: u32,
    // Columns.
    n: u32,
    n_slices: u32,
}

@group(0) @binding(0) var<storage, read> slices: array<f32>;
@group(0) @binding(1) var<storage, read> bias: array<f32>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

/// Returns the elements of all slices at these places of the first ones.
fn slice_elements(at: vec4<u32>) -> vec4<f32> {
    return vec4(slices[at.x], slices[at.y], slices[at.z], slices[at.w]);
}

@compute @workgroup_size(THREADS)
fn tensor_matmul_sum(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = (group.y * groups.x + group.x) * 4u * THREADS + lane;
    let places = first + vec4(0u, THREADS, 2u * THREADS, 3u * THREADS);
    let inside = places < vec4(params.n_out);
    let known = select(vec4(0u), places, inside);
    let products = known / params.inner;
    var at = products * params.n_slices * params.inner + known % params.inner;
    var sums = slice_elements(at);
    var slice = 1u;
    while slice + 4u <= params.n_slices {
        let x0 = slice_elements(at + params.inner);
        let x1 = slice_elements(at + 2u * params.inner);
        let x2 = slice_elements(at + 3u * params.inner);
        let x3 = slice_elements(at + 4u * params.inner);
        sums = sums + ((x0 + x1) + (x2 + x3));
        at += vec4(4u * params.inner);
        slice += 4u;
    }
    while slice < params.n_slices {
        at += vec4(params.inner);
        sums += slice_elements(at);
        slice += 1u;
    }
    let found = with_epilogue(sums, known, known % params.n, inside);
    if inside.x { out[places.x] = found.x; }
    if inside.y { out[places.y] = found.y; }
    if inside.z { out[places.z] = found.z; }
    if inside.w { out[places.w] = found.w; }
}
