// Private and local variables: in registers, and arrays indexed at run time, small, large and constant.
// grid: 1 1 1
// output: 640
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const PRIMES = array<u32, 10>(2, 3, 5, 7, 11, 13, 17, 19, 23, 29);

var<private> seed: u32 = 12345;
var<private> history: array<u32, 20>;
var<private> zero: vec3<u32>;

fn random() -> u32 {
    seed = seed * 1664525 + 1013904223;
    history[seed >> 28] += 1;
    return seed;
}

fn sum(values: ptr<function, array<u32, 40>>, n: u32) -> u32 {
    var total = 0u;
    for (var k = 0u; k < n; k++) {
        total += (*values)[k];
    }
    return total;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 10 * i;
    output[at] = seed + zero.y;
    seed ^= i;
    for (var k = 0u; k < 30; k++) {
        random();
    }
    output[at + 1] = seed;
    output[at + 2] = history[i % 16] + history[19];
    var small = array<u32, 5>(1, 2, 3, 4, 5);
    small[i % 5] = 100u;
    output[at + 3] = small[(i + 1) % 5] + small[i % 5];
    var large: array<u32, 40>;
    for (var k = 0u; k < 40; k++) {
        large[(k * 7) % 40] = k + i;
    }
    output[at + 4] = sum(&large, i % 40);
    output[at + 5] = PRIMES[i % 10];
    var v = vec4(1u, 2u, 3u, 4u);
    v[i & 3] = i;
    output[at + 6] = v[(i + 1) & 3] * 10 + v.x;
    var grid: array<array<u32, 3>, 4>;
    grid[i & 3][i % 3] = 9u;
    output[at + 7] = grid[i & 3][i % 3] + grid[(i + 1) & 3][i % 3];
    let copy = large;
    large[3] = 0u;
    output[at + 8] = copy[3] + large[3] + copy[i % 40];
    var b: bool = i > 7;
    b = !b || i == 9;
    output[at + 9] = u32(b) + u32(any(vec2(b, i > 60)));
}
