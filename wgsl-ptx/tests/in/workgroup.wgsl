// Workgroup memory: zero at the start, seen by all after a barrier, loaded uniformly; several warps.
// grid: 2 1 1
// output: 1536
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

struct Cell {
    flag: bool,
    value: vec3<u32>,
}

var<workgroup> words: array<u32, 300>;
var<workgroup> cells: array<Cell, 96>;
var<workgroup> chosen: u32;
var<workgroup> flags: array<bool, 96>;

@compute @workgroup_size(96)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let at = (group.x * 96 + i) * 8;
    output[at] = words[i] + words[i + 200] + u32(flags[i]) + cells[i].value.z;
    workgroupBarrier();
    words[i] = input[i] ^ group.x;
    cells[95 - i] = Cell(i % 3 == 0, vec3(i, i * 2, i * 3));
    flags[i] = i % 5 == 0;
    if i == 70 {
        chosen = 17 + group.x;
    }
    workgroupBarrier();
    output[at + 1] = words[95 - i];
    output[at + 2] = select(1u, 2u, cells[i].flag);
    output[at + 3] = cells[i].value.x + cells[i].value[i % 3];
    output[at + 4] = workgroupUniformLoad(&chosen);
    output[at + 5] = u32(flags[(i + 1) % 96]);
    words[i] += 1;
    for (var d = 1u; d < 96; d *= 2) {
        workgroupBarrier();
        let other = words[(i + d) % 96];
        workgroupBarrier();
        words[i] += other;
    }
    output[at + 6] = words[i];
    output[at + 7] = words[i + 204];
}
