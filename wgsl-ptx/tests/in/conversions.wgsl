// Conversions saturate from floats and keep the value elsewhere; bit casts keep the bits.
// grid: 1 1 1
// output: 1024
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = input[i];
    let x = bitcast<i32>(a);
    let f = (f32(i) - 32.0) * exp2(f32(i % 40));
    let at = 16 * i;
    output[at] = u32(f);
    output[at + 1] = bitcast<u32>(i32(f));
    output[at + 2] = bitcast<u32>(f32(a));
    output[at + 3] = bitcast<u32>(f32(x));
    output[at + 4] = u32(x);
    output[at + 5] = bitcast<u32>(i32(a));
    output[at + 6] = u32(bool(a & 1)) + 2 * u32(bool(x & 2)) + 4 * u32(bool(f));
    output[at + 7] = bitcast<u32>(f32(i > 20)) ^ bitcast<u32>(i32(i > 30));
    output[at + 8] = bitcast<u32>(f);
    output[at + 9] = bitcast<u32>(vec2<f32>(vec2<i32>(-3, i32(i))).y);
    output[at + 10] = vec2<u32>(vec2<f32>(2.75, f32(i) * 1.5)).y;
    output[at + 11] = u32(bool(-0.0 * f32(i)));
    output[at + 12] = dot(vec3<u32>(vec3<bool>(i > 1, i > 2, i > 3)), vec3(1u, 2u, 4u));
    output[at + 13] = bitcast<vec2<u32>>(vec2<i32>(x, 5)).x;
    output[at + 14] = u32(abs(f) * 1e-3);
    output[at + 15] = bitcast<u32>(i32(-f));
}
