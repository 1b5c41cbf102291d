// Branches, switches, loops with continuing and break-if, jumps out of nests.
// grid: 1 1 1
// output: 512
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn classify(v: u32) -> u32 {
    switch v % 9 {
        case 0, 3: {
            return 10u;
        }
        case 1 {
            if v > 30 {
                break;
            }
            return 11u;
        }
        case 2, default: {
            return 12u;
        }
        case 7: {}
    }
    return 13u;
}

fn signed_switch(v: i32) -> u32 {
    var r = 0u;
    switch v {
        case -2: { r = 1u; }
        case -1: { r = 2u; }
        default: { r = 3u; }
    }
    return r;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 8 * i;
    output[at] = classify(i);
    var sum = 0u;
    for (var k = 0u; k < i; k++) {
        if k % 3 == 1 {
            continue;
        }
        if k > 40 {
            break;
        }
        sum += k * k;
    }
    output[at + 1] = sum;
    var n = i + 1;
    var steps = 0u;
    while n != 1 {
        n = select(n / 2, 3 * n + 1, n % 2 == 1);
        steps++;
    }
    output[at + 2] = steps;
    var a = 0u;
    loop {
        a += 2;
        if a == 6 {
            continue;
        }
        continuing {
            a += 1;
            break if a > i;
        }
    }
    output[at + 3] = a;
    var found = 0u;
    for (var y = 0u; y < 8; y++) {
        for (var x = 0u; x < 8; x++) {
            if x * y == i {
                found = 8 * y + x;
                break;
            }
            switch x {
                case 5: { continue; }
                default: { found += 1; }
            }
        }
        if found > 40 {
            break;
        }
    }
    output[at + 4] = found;
    output[at + 5] = signed_switch(i32(i) - 3);
    if i < 10 {
        output[at + 6] = 1u;
    } else if i < 20 {
        output[at + 6] = 2u;
    } else {
        output[at + 6] = 3u;
    }
    if i % 2 == 0 {
        output[at + 7] = 5u;
        return;
    }
    output[at + 7] = u32(i > 5 && input[i] > 7 || i == 1);
}
