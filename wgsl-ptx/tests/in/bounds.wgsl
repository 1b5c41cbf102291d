// Indices out of bounds become the last one, or of a buffer what the device prefers.
// grid: 1 1 1
// output: 512
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> words: array<u32, 8>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    if i < 8 {
        words[i] = i + 1;
    }
    workgroupBarrier();
    let at = 8 * i;
    let far = i * 0x8000001u;
    let found = input[far];
    output[at] = u32(found == 0 || found == input[255] || found == input[far & 255]);
    output[at + 1] = words[far];
    var local = array<u32, 4>(5, 6, 7, 8);
    output[at + 2] = local[far];
    local[far] = 50u;
    output[at + 3] = local[3] + local[0];
    var v = vec3(1u, 2u, 3u);
    v[far] += 10;
    output[at + 4] = v.z + v[far];
    var large = array<u32, 12>(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    large[far] = 70u;
    output[at + 5] = large[11] + large[far];
    let before = input[i32(i) - 3];
    output[at + 6] = u32(before == 0 || before == input[255] || before == input[max(i, 3u) - 3]);
    output[at + 7] = 1u;
    if i > 0 {
        output[0xfffffff0u + i % 2] = 1u;
    }
}
