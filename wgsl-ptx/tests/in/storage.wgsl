// Layouts of storage: structures, vectors of three, nested arrays, an array without size, arrayLength.
// grid: 1 1 1
// output: 1024
struct Item {
    a: vec3<u32>,
    b: u32,
    c: array<vec2<u32>, 2>,
    d: mat2x3<f32>,
}

struct Output {
    count: u32,
    item: Item,
    rest: array<vec4<u32>>,
}

@group(0) @binding(0) var<storage, read> input: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> output: Output;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let v = input[i];
    if i == 0 {
        output.count = arrayLength(&input) * 1000 + arrayLength(&output.rest);
        output.item = Item(vec3(1u, 2u, 3u), 4u, array(vec2(5u, 6u), vec2(7u, 8u)), mat2x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0));
        output.item.c[1].y = v.x;
        output.item.a.y += 40;
        output.item.d[1].z = 9.0;
    }
    storageBarrier();
    workgroupBarrier();
    let item = output.item;
    let at = 2 * i;
    output.rest[at] = vec4(v, item.c[i & 1]);
    output.rest[at].z += item.a[i % 3];
    output.rest[at + 1] = vec4(output.rest[at].zy, item.b, bitcast<u32>(item.d[i & 1][i % 3]));
}
