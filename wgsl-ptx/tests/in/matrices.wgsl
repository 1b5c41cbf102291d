// Matrices: products, sums, transpose, determinant, columns by index, in storage and in variables.
// grid: 1 1 1
// output: 1024
// floats: 1e-4
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

struct Shapes {
    a: mat3x3<f32>,
    b: mat4x2<f32>,
}

var<workgroup> shapes: array<Shapes, 16>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
    let t = f32(input[i] >> 24) / 64.0;
    let m = mat3x3(1.0, t, 2.0, -1.0, 0.5, t, 3.0, t * t, 1.0);
    let n = mat4x2(t, 1.0, 2.0, 3.0, -t, 0.5, 1.0, t);
    let v = vec3(t, 1.0, -2.0);
    let at = 64 * i;
    let mv = m * v;
    let vm = v * m;
    output[at] = mv.x;
    output[at + 1] = mv.z;
    output[at + 2] = vm.x;
    output[at + 3] = vm.y;
    let mm = m * transpose(m);
    output[at + 4] = mm[1][2];
    output[at + 5] = determinant(m);
    output[at + 6] = determinant(mat2x2(t, 1.0, 2.0, 3.0));
    output[at + 7] = determinant(mat4x4(t, 1.0, 2.0, 3.0, 0.0, t, 1.0, 1.0, 4.0, 2.0, t, 1.0, 1.0, 0.0, 3.0, t));
    let nn = n * transpose(n);
    output[at + 8] = nn[0][1];
    output[at + 9] = (n * vec4(1.0, 2.0, t, 4.0)).y;
    output[at + 10] = (vec2(1.0, t) * n).w;
    output[at + 11] = (m + m * 2.0 - 0.5 * m)[2].y;
    var w = m;
    w[1] = v;
    w[2].x = 7.0;
    w[i % 3u][i % 2u] += 0.25;
    output[at + 12] = w[1].y + w[2][i % 3u];
    shapes[i].a = w;
    shapes[i].b = n;
    shapes[i].a[i % 3u].y = t;
    workgroupBarrier();
    let other = shapes[15u - i];
    output[at + 13] = other.a[0].y + other.a[2].x;
    output[at + 14] = shapes[15u - i].b[i & 3u].y;
    output[at + 15] = (shapes[15u - i].a * v).y;
    for (var k = 16u; k < 64u; k++) {
        output[at + k] = w[k % 3u][(k / 3u) % 3u] + n[k & 3u][k & 1u];
    }
}
