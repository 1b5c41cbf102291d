// A workgroup of less than a warp: its barriers are those of the warp.
// grid: 3 1 1
// output: 240
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> words: array<u32, 20>;

@compute @workgroup_size(20)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let at = (group.x * 20 + i) * 4;
    words[i] = input[i] + group.x;
    workgroupBarrier();
    output[at] = words[19 - i];
    output[at + 1] = workgroupUniformLoad(&words[7]);
    for (var d = 1u; d < 20; d *= 2) {
        var other = 0u;
        if i >= d {
            other = words[i - d];
        }
        workgroupBarrier();
        words[i] += other;
        workgroupBarrier();
    }
    output[at + 2] = words[i];
    output[at + 3] = output[at] ^ words[0];
}
