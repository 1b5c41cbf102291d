// Subgroup operations in loops that a subgroup leaves together include all its invocations, also after some have diverged.
// grid: 1 1 1
// output: 384
// uniform: 2
// needs: subgroups
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<uniform> bounds: vec2<u32>;

// Leaves the loop after 0 to 7 iterations.
fn steps(value: u32) -> u32 {
    var rest = value & 7u;
    var sum = value;
    loop {
        if rest == 0u {
            return sum;
        }
        sum = sum * 1664525u + rest;
        if (sum >> 16u) % 5u == 0u {
            break;
        }
        rest--;
    }
    return sum ^ 1u;
}

@compute @workgroup_size(96)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32) {
    var value = input[i];
    var n_whole = 0u;
    for (var k = 0u; k < bounds.y * 20u; k++) {
        value = steps(value + k);
        n_whole += select(0u, 1u, subgroupAdd(1u) == size);
    }
    output[i] = n_whole;
    // The compiler cannot know that a subgroup leaves this loop together: any invocations of it give the same.
    var n_rounds = 0u;
    var k = 0u;
    loop {
        if bounds.x == 0u {
            break;
        }
        k++;
        value = steps(value);
        n_rounds += select(0u, 1u, subgroupMax(k) == subgroupMin(k));
        if k >= 19u {
            break;
        }
    }
    output[96u + i] = n_rounds;
    // Invocations that left the loop take no part: the others count themselves.
    var left = i & 3u;
    var counted = 0u;
    while left > 0u {
        counted += select(0u, 1u, subgroupAny(left > 1u) || left == 1u);
        left--;
    }
    output[192u + i] = counted;
    output[288u + i] = value;
}
