// Atomic operations on workgroup memory, with and without their results.
// grid: 1 1 1
// output: 320
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> u: array<atomic<u32>, 16>;
var<workgroup> s: array<atomic<i32>, 4>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let v = input[i];
    atomicStore(&u[5], 0xffffffffu);
    workgroupBarrier();
    atomicAdd(&u[0], v);
    atomicSub(&u[1], v);
    atomicMax(&u[2], v);
    atomicMin(&u[5], v);
    atomicOr(&u[3], 1u << (i & 31));
    atomicXor(&u[4], v);
    atomicAnd(&u[6], v);
    atomicMax(&s[0], bitcast<i32>(v));
    atomicMin(&s[1], bitcast<i32>(v));
    atomicAdd(&s[2], -i32(i));
    let ticket = atomicAdd(&u[7], 1u);
    atomicOr(&u[8 + ticket / 32], 1u << (ticket & 31));
    let swapped = atomicCompareExchangeWeak(&u[10], 0u, i + 1);
    if swapped.exchanged {
        atomicAdd(&u[11], 1u);
        atomicStore(&u[12], swapped.old_value + 3);
    }
    let before = atomicExchange(&u[13], i + 1);
    atomicAdd(&u[14], before);
    workgroupBarrier();
    if i == 0 {
        atomicAdd(&u[14], atomicLoad(&u[13]));
    }
    workgroupBarrier();
    // Who came first is not the same everywhere.
    let winner = u32(atomicLoad(&u[10]) != 0);
    output[5 * i] = atomicLoad(&u[i % 10]);
    output[5 * i + 1] = bitcast<u32>(atomicLoad(&s[i % 4]));
    output[5 * i + 2] = winner;
    output[5 * i + 3] = atomicLoad(&u[11]) * 10 + atomicLoad(&u[12]);
    output[5 * i + 4] = atomicLoad(&u[14]);
}
