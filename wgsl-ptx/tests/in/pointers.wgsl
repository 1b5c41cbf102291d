// Pointers to members and elements as arguments: 1 is right.
// grid: 1 1 1
// output: 256
// needs: pointers
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

struct Pair {
    low: u32,
    high: array<u32, 3>,
}

var<private> pairs: array<Pair, 12>;

fn swap(a: ptr<function, u32>, b: ptr<function, u32>) {
    let t = *a;
    *a = *b;
    *b = t;
}

fn raise(a: ptr<private, u32>) -> bool {
    *a += 5;
    return *a > 0;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    var pair = Pair(1u, array(2u, 3u, 4u));
    swap(&pair.low, &pair.high[1]);
    let at = 4 * i;
    let first = pair.low == 3 && pair.high[1] == 1;
    swap(&pair.high[i % 3], &pair.low);
    output[at] = u32(first && pair.high[i % 3] == 3);
    let raised = raise(&pairs[i % 12].high[i % 3]);
    // The right side is not computed where the left one decides.
    let both = i > 1000 && raise(&pairs[i % 12].low);
    output[at + 1] = u32(raised && pairs[i % 12].high[i % 3] == 5 && pairs[i % 12].low == 0 && !both);
    var grid: array<Pair, 20>;
    for (var k = 0u; k < 20; k++) {
        swap(&grid[(k + i) % 20].high[k % 3], &grid[k].low);
        grid[k].low = k + 1;
    }
    swap(&grid[i % 20].low, &grid[(i + 1) % 20].low);
    output[at + 2] = u32(grid[i % 20].low == (i + 1) % 20 + 1);
    output[at + 3] = u32(grid[(i + 2) % 20].low == (i + 2) % 20 + 1);
}
