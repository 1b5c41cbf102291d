// Rotary position embedding (RoPE): rotates the pair of element i and element i + half of each head by the angle of its
// position.
//
// One invocation rotates one pair.
// Bindings: `a`: [rows, heads, 2 half] f32 from element `start` on; `rotations`: [positions, half] of cosine and sine, those
// of row 0 from pair `first` on; `out`: like `a`, from element `to` on.
// Preconditions: nothing is 0 but `start`, `first` and `to`; there is a position for each row.
// Twin: src/tensor/cpu/rotary.rs

// Invocations of a workgroup.
override THREADS: u32 = 256u;

struct Params {
    // Pairs in total.
    n: u32,
    heads: u32,
    half: u32,
    first: u32,
    start: u32,
    to: u32,
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> rotations: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn tensor_rotary(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let pair = (group.y * groups.x + group.x) * THREADS + i;
    if pair >= params.n {
        return;
    }
    let head = pair / params.half;
    let index = pair - head * params.half;
    let row = head / params.heads;
    let rotation = rotations[params.first + row * params.half + index];
    let at = 2u * head * params.half + index;
    let x = a[params.start + at];
    let y = a[params.start + at + params.half];
    out[params.to + at] = x * rotation.x - y * rotation.y;
    out[params.to + at + params.half] = y * rotation.x + x * rotation.y;
}
