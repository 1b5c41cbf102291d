// Copies a block of up to eight axes between two strided tensors that are larger than a binding.
//
// One invocation copies one element.
// Bindings: `a`, `out`: f32. An element lies at `start` (of `out`: `to`) plus the sum over all axes of index times stride.
// Preconditions: nothing is 0 but offsets and strides; n is the product of `dims`, the innermost axis first; every offset is
// inside its binding.
// Twin: none; a view on the CPU is copied element by element

// Invocations of a workgroup.
override THREADS: u32 = 256u;

struct Params {
    n: u32,
    rank: u32,
    start: u32,
    to: u32,
    dims: array<vec4<u32>, 2>,
    strides_a: array<vec4<u32>, 2>,
    strides_out: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn tensor_copy(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let element = (group.y * groups.x + group.x) * THREADS + i;
    if element >= params.n {
        return;
    }
    var rest = element;
    var at = vec2(params.start, params.to);
    for (var d = 0u; d < params.rank; d++) {
        let dim = params.dims[d >> 2u][d & 3u];
        let outer = rest / dim;
        let index = rest - outer * dim;
        at += index * vec2(params.strides_a[d >> 2u][d & 3u], params.strides_out[d >> 2u][d & 3u]);
        rest = outer;
    }
    out[at.y] = a[at.x];
}
