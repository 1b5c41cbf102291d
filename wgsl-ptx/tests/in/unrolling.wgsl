// Loops with a known number of turns, with everything that may be in them.
// grid: 1 1 1
// output: 768
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn power(base: u32, n: u32) -> u32 {
    var p = 1u;
    for (var k = 0u; k < n; k++) {
        p *= base;
    }
    return p;
}

// About 30 expressions.
fn stirred(x: u32) -> u32 {
    let a = (x ^ (x << 13)) * 0x9e3779b1 + (x >> 7);
    let b = (a ^ (a >> 15)) * 0x85ebca6b + (a << 3);
    return ((b ^ (b >> 13)) * 0xc2b2ae35) ^ (a & 0xffff) ^ (b | 0x10001);
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 12 * i;
    var table: array<u32, 6>;
    for (var k = 0u; k < 6; k++) {
        table[k] = input[i + k] >> k;
    }
    var sum = 0u;
    for (var k = 5i; k >= 0; k--) {
        if (table[k] & 1) == 1 {
            continue;
        }
        sum += table[k];
        if sum > 0xf0000000u {
            break;
        }
    }
    output[at] = sum;
    var bits = 0u;
    for (var d = 1u; d < 32; d *= 2) {
        bits |= d << (i & 1);
    }
    output[at + 1] = bits;
    var nested = 0u;
    for (var turn = 0u; turn < i % 3 + 1; turn++) {
        for (var k = 0u; k < 4; k++) {
            nested = nested * 3 + k + turn;
        }
    }
    output[at + 2] = nested;
    // The inner counter goes on where it was.
    var carried = 0u;
    var total = 0u;
    for (var turn = 0u; turn < 3 + i; turn++) {
        for (; carried < 4; carried++) {
            total += 1;
        }
    }
    output[at + 3] = total;
    // The counter is read after the loop.
    var last = 0u;
    for (last = 0u; last < 5; last++) {
        if input[i + last] % 3 == 0 {
            break;
        }
    }
    output[at + 4] = last;
    // The counter changes in the body.
    var skipped = 0u;
    for (var k = 0u; k < 9; k++) {
        if k == 3 {
            k += 2;
        }
        skipped += k;
    }
    output[at + 5] = skipped;
    output[at + 6] = power(3u, 4u);
    output[at + 7] = power(i, i % 5);
    var none = 1u;
    for (var k = 4u; k < 4; k++) {
        none = 2u;
    }
    output[at + 8] = none;
    var many = 0u;
    for (var k = 0u; k < 40; k += 3) {
        many += k ^ i;
    }
    output[at + 9] = many;
    var shift = 0u;
    for (var k = 64u; k > 1; k >>= 1) {
        shift += k;
    }
    output[at + 10] = shift;
    var grown = 0u;
    for (var k = 0u; k <= 3; k++) {
        grown = grown + output[at + k];
    }
    // A long body that indexes an array, which stays in registers.
    var kept: array<u32, 8>;
    for (var k = 0u; k < 8; k++) {
        kept[k] = stirred(stirred(stirred(input[i] + k))) ^ stirred(k);
    }
    for (var k = 0u; k < 8; k++) {
        grown ^= kept[k];
    }
    output[at + 11] = grown;
}
