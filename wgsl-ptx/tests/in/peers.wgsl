// The `peers` of shaders/lib, which PTX replaces, beside the same body under a name that it does not know.
// grid: 2 1 1
// output: 512
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> sh_values: array<u32, 32>;
var<workgroup> sh_other_values: array<u32, 32>;

fn peers(lane: u32, value: u32) -> u32 {
    sh_values[lane] = value & 0xfff;
    workgroupBarrier();
    var lanes = 0u;
    for (var i = 0u; i < 32; i++) {
        lanes |= select(0u, 1u << i, sh_values[i] == (value & 0xfff));
    }
    workgroupBarrier();
    return lanes;
}

fn peers_in_words(lane: u32, value: u32) -> u32 {
    sh_other_values[lane] = value & 0xfff;
    workgroupBarrier();
    var lanes = 0u;
    for (var i = 0u; i < 32; i++) {
        lanes |= select(0u, 1u << i, sh_other_values[i] == (value & 0xfff));
    }
    workgroupBarrier();
    return lanes;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let at = 8 * (32 * group.x + i);
    for (var k = 0u; k < 4; k++) {
        // Few values, one for all, one for each lane, of which the upper bits do not count.
        let value = select(select(input[i + k] % (k + 2), group.x, k == 2), i | (i << 12), k == 3) * 97;
        output[at + 2 * k] = peers(i, value);
        output[at + 2 * k + 1] = peers_in_words(i, value);
    }
}
