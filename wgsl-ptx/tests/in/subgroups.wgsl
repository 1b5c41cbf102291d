// Subgroup operations, checked against the same computed through workgroup memory: 1 is right. Subgroups may have any
// size.
// grid: 1 1 1
// output: 1536
// needs: subgroups
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> values: array<u32, 96>;
var<workgroup> owners: array<u32, 96>;
var<workgroup> lanes: array<u32, 96>;

struct Expected {
    sum: u32,
    least: u32,
    greatest: u32,
    conjunction: u32,
    disjunction: u32,
    parity: u32,
    before: u32,
    n: u32,
    product: u32,
}

// Over those of the subgroup whose value leaves `rest` modulo `modulus`.
fn expect_of(group: u32, lane: u32, modulus: u32, rest: u32) -> Expected {
    var e = Expected(0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0u, 0u, 0u, 1u);
    for (var k = 0u; k < 96; k++) {
        if owners[k] == group && values[k] % modulus == rest {
            let v = values[k];
            e.sum += v;
            e.least = min(e.least, v);
            e.greatest = max(e.greatest, v);
            e.conjunction &= v;
            e.disjunction |= v;
            e.parity ^= v;
            e.product *= v | 1;
            e.n += 1;
            if lanes[k] < lane {
                e.before += v;
            }
        }
    }
    return e;
}

fn value_of(group: u32, lane: u32) -> u32 {
    for (var k = 0u; k < 96; k++) {
        if owners[k] == group && lanes[k] == lane {
            return values[k];
        }
    }
    return 0u;
}

@compute @workgroup_size(96)
fn main(
    @builtin(local_invocation_index) i: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_id) group: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let v = input[i] >> 3;
    values[i] = v;
    owners[i] = group;
    lanes[i] = lane;
    workgroupBarrier();
    let e = expect_of(group, lane, 1u, 0u);
    let at = 16 * i;
    let sum = subgroupAdd(v);
    let least = subgroupMin(v);
    let greatest = subgroupMax(v);
    let logic = vec3(subgroupAnd(v), subgroupOr(v), subgroupXor(v));
    let exclusive = subgroupExclusiveAdd(v);
    let inclusive = subgroupInclusiveAdd(v);
    let ballot = subgroupBallot(v % 2 == 1);
    let votes = vec2(subgroupAll(v < 0x40000000u), subgroupAny(v == greatest));
    let first = subgroupBroadcastFirst(v);
    let third = subgroupBroadcast(v, 3u);
    let neighbour = subgroupShuffleXor(v, 1u);
    let shuffled = subgroupShuffle(v, (lane + 1) % size);
    let floats = subgroupAdd(f32(v % 16));
    let product = subgroupMul(v | 1);
    output[at] = u32(sum == e.sum);
    output[at + 1] = u32(least == e.least && greatest == e.greatest);
    output[at + 2] = u32(all(logic == vec3(e.conjunction, e.disjunction, e.parity)));
    output[at + 3] = u32(exclusive == e.before && inclusive == e.before + v);
    output[at + 4] = u32(((ballot[lane / 32] >> (lane % 32)) & 1) == v % 2);
    output[at + 5] = u32(votes.x && votes.y);
    output[at + 6] = u32(first == value_of(group, 0u) && third == value_of(group, 3u));
    output[at + 7] = u32(neighbour == value_of(group, lane ^ 1));
    output[at + 8] = u32(shuffled == value_of(group, (lane + 1) % size));
    output[at + 9] = u32(floats > 0.0 && floats < 16.0 * f32(size));
    output[at + 10] = u32(product == e.product);
    output[at + 11] = u32(e.n == size);
    // Only some take part.
    output[at + 12] = 1u;
    output[at + 13] = 1u;
    output[at + 14] = 1u;
    if v % 3 == 1 {
        let some = expect_of(group, lane, 3u, 1u);
        let partial = subgroupAdd(v);
        let scanned = subgroupExclusiveAdd(v);
        let partial_product = subgroupMul(v | 1);
        output[at + 12] = u32(partial == some.sum);
        output[at + 13] = u32(scanned == some.before);
        output[at + 14] = u32(partial_product == some.product);
    }
    output[at + 15] = 1u;
}
