// Barriers after loops that invocations leave at different times, one of them under a uniform condition.
// grid: 1 1 1
// output: 32
// uniform: 2
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<uniform> choices: vec2<u32>;

var<workgroup> words: array<u32, 32>;

fn steps(value: u32) -> u32 {
    var rest = value;
    while rest > 5u {
        rest = (rest >> 1u) + (rest & 1u);
    }
    return rest * 40503u;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    words[i] = steps(input[i] & 0xffffu);
    // Without this barrier, the next one is the first.
    if choices.x == 7u {
        workgroupBarrier();
        words[i] += 1u;
    }
    workgroupBarrier();
    let other = words[(i + 5u) % 32u];
    workgroupBarrier();
    words[i] = steps(other);
    workgroupBarrier();
    output[i] = words[31u - i];
}
