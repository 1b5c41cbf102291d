// Values too large for registers: copied between variables, passed to functions and returned, zero, constant.
// grid: 1 1 1
// output: 256
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

struct Table {
    rows: array<array<u32, 14>, 10>,
    n: u32,
}

const SQUARES = array<vec2<u32>, 6>(vec2(0, 1), vec2(4, 9), vec2(16, 25), vec2(36, 49), vec2(64, 81), vec2(100, 121));

var<workgroup> shared_table: Table;

fn changed(table: Table, i: u32) -> Table {
    if i > 40 {
        return Table();
    }
    var copy = table;
    copy.rows[i % 10][i % 14] += 1000;
    copy.n = i;
    return copy;
}

fn total(table: Table) -> u32 {
    var sum = table.n;
    for (var k = 0u; k < 140; k++) {
        sum = sum * 3 + table.rows[k / 14][k % 14];
    }
    return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    var own: Table;
    for (var k = 0u; k < 140; k++) {
        own.rows[k / 14][k % 14] = input[(k + i) % 256];
    }
    let before = own;
    own.rows[3][3] = 1u;
    let after = changed(own, i);
    if i == 7 {
        shared_table = after;
    }
    workgroupBarrier();
    let met = shared_table;
    output[4 * i] = total(before);
    output[4 * i + 1] = total(after);
    output[4 * i + 2] = met.n + met.rows[i % 10][3];
    let empty = changed(Table(), 3u);
    output[4 * i + 3] = SQUARES[i % 6][i & 1] + empty.rows[3][3] + empty.rows[i % 10][i % 14];
}
