// Packed weights as f32: out[n, k], row-major.
//
// An invocation unpacks four weights.
// Bindings: `w`: packed weights, as lib/packed_weights has them; `out`: vectors of four.
// Preconditions: no length is 0; k is a multiple of 4, n_vectors = n * k / 4.
// Twin: src/tensor/cpu/quantized.rs
//
// import: lib/packed_weights

const WIDTH: u32 = 256u;

struct Params {
    n: u32,
    k: u32,
    pitch_k: u32,
    w_from: u32,
    n_vectors: u32,
    pad_0: u32,
    pad_1: u32,
    pad_2: u32,
}

@group(0) @binding(0) var<storage, read> w: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WIDTH)
fn tensor_unpack(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let at = (group.y * groups.x + group.x) * WIDTH + i;
    if at < params.n_vectors {
        let row = at / (params.k / 4u);
        out[at] = weights(row, 4u * (at - row * (params.k / 4u)));
    }
}
