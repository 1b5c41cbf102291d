// Functions: pointers to variables, members and elements; structures and arrays in and out; several returns.
// grid: 1 1 1
// output: 768
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

struct Pair {
    low: u32,
    high: array<u32, 3>,
}

fn swap(a: ptr<function, u32>, b: ptr<function, u32>) {
    let t = *a;
    *a = *b;
    *b = t;
}

fn fill(p: ptr<function, Pair>, v: u32) {
    (*p).low = v;
    for (var k = 0u; k < 3; k++) {
        (*p).high[k] = v + k;
    }
}

fn make(v: u32) -> Pair {
    if v > 40 {
        return Pair(1u, array(v, v, v));
    }
    var p: Pair;
    fill(&p, v);
    return p;
}

fn total(p: Pair) -> u32 {
    return p.low + p.high[0] * 3 + p.high[1] * 5 + p.high[2] * 7;
}

fn early(v: u32, seen: ptr<function, u32>) -> u32 {
    loop {
        *seen += 1;
        if *seen > v {
            return *seen * 100;
        }
        if *seen > 20 {
            break;
        }
    }
    return 7u;
}

fn nothing(v: ptr<private, u32>) {
    if *v > 3 {
        return;
    }
    *v += 10;
}

var<private> counter: u32 = 2;

fn bump() -> u32 {
    counter += 1;
    return counter;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 12 * i;
    var a = i;
    var b = input[i];
    swap(&a, &b);
    output[at] = a;
    output[at + 1] = b;
    var pair = make(i);
    output[at + 2] = total(pair);
    var low = pair.low;
    var other = pair.high[1];
    swap(&low, &other);
    pair.low = low;
    pair.high[1] = other;
    output[at + 3] = pair.low * 2 + pair.high[1];
    pair.high[i % 3] = a;
    output[at + 4] = total(pair) ^ a;
    var seen = 0u;
    output[at + 5] = early(i, &seen);
    output[at + 6] = seen;
    output[at + 7] = bump() * 10 + bump();
    nothing(&counter);
    output[at + 8] = counter;
    let copy = pair;
    pair.low = 0u;
    output[at + 9] = copy.low;
    output[at + 10] = total(make(i + 1)) + total(make(50u));
    if i > 1000 {
        bump();
    }
    output[at + 11] = counter;
}
