// Naive matrix product, c[m, n] = a[m, k] b[k, n]: the baseline that tensor_matmul is measured against.
//
// One invocation computes one element.
// Bindings: `a`, `b`, `c`: f32, row-major without gaps.
// Preconditions: m and n are not 0.
// Twin: src/tensor/cpu/matmul.rs

// Invocations of a workgroup.
override THREADS: u32 = 256u;

struct Params {
    m: u32,
    n: u32,
    k: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn tensor_matmul_naive(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let element = (group.y * groups.x + group.x) * THREADS + i;
    let row = element / params.n;
    if row >= params.m {
        return;
    }
    let col = element - row * params.n;
    var sum = 0.0;
    for (var k = 0u; k < params.k; k++) {
        sum += a[row * params.k + k] * b[k * params.n + col];
    }
    c[element] = sum;
}
