// Uniforms: members, arrays and matrices by index.
// grid: 1 1 1
// output: 256
// uniform: 36
struct Parameters {
    a: u32,
    b: vec3<u32>,
    c: array<vec4<u32>, 3>,
    d: mat2x2<f32>,
    e: vec4<u32>,
    f: vec2<u32>,
    g: array<vec4<u32>, 1>,
}

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let at = 4 * i;
    output[at] = parameters.a + parameters.b.z + parameters.f.y;
    output[at + 1] = parameters.c[i % 3][i & 3];
    output[at + 2] = bitcast<u32>(parameters.d[i & 1].y) ^ parameters.e[i & 3];
    let all = parameters;
    output[at + 3] = all.c[2].x + all.g[0].w + input[i];
}
