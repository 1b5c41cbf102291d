// Atomic operations on storage, over several workgroups.
// grid: 4 1 1
// output: 64
struct Output {
    first: atomic<u32>,
    words: array<atomic<u32>, 31>,
    signed: array<atomic<i32>>,
}

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: Output;

// The buffer starts with all bits set.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = input[id.x];
    atomicAdd(&output.first, id.x);
    atomicAdd(&output.words[0], v);
    atomicSub(&output.words[1], v);
    atomicMin(&output.words[2], v);
    atomicAnd(&output.words[3], v | 0x0f0f0f0fu);
    atomicXor(&output.words[4], v);
    atomicMax(&output.signed[0], bitcast<i32>(v));
    atomicMin(&output.signed[1], bitcast<i32>(v));
    let ticket = atomicAdd(&output.words[5], 1u) + 1;
    atomicAnd(&output.words[6 + ticket / 32], ~(1u << (ticket & 31)));
    let swapped = atomicCompareExchangeWeak(&output.words[20], 0xffffffffu, 5u);
    if swapped.exchanged {
        atomicStore(&output.words[21], swapped.old_value - 1);
    }
    atomicExchange(&output.words[22], 77u);
    if id.x == 0 {
        atomicStore(&output.signed[5], i32(arrayLength(&output.signed)));
    }
}
