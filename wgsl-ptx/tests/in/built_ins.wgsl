// Built-in values in three dimensions.
// grid: 2 3 2
// output: 3456
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

struct Inputs {
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) n: vec3<u32>,
}

@compute @workgroup_size(4, 3, 2)
fn main(in: Inputs, @builtin(local_invocation_index) i: u32, @builtin(local_invocation_id) local: vec3<u32>) {
    let group = (in.group.z * in.n.y + in.group.y) * in.n.x + in.group.x;
    let at = (group * 24 + i) * 12;
    output[at] = in.id.x;
    output[at + 1] = in.id.y;
    output[at + 2] = in.id.z;
    output[at + 3] = local.x;
    output[at + 4] = local.y;
    output[at + 5] = local.z;
    output[at + 6] = in.group.x;
    output[at + 7] = in.group.y;
    output[at + 8] = in.group.z;
    output[at + 9] = in.n.x;
    output[at + 10] = in.n.y;
    output[at + 11] = in.n.z;
}
