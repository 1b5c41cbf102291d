// Half precision.
// grid: 1 1 1
// output: 512
// floats: 2e-3
// needs: float16
enable f16;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

var<workgroup> halves: array<vec3<f16>, 32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = f16(f32(i) * 0.25 - 3.0);
    let b = f16(f32(input[i] >> 24) / 64.0);
    halves[i] = vec3(a, b, a + b);
    workgroupBarrier();
    let h = halves[31 - i];
    let at = 16 * i;
    output[at] = f32(h.x) + f32(h.z);
    output[at + 1] = f32(a * b);
    output[at + 2] = f32(a / (b + 1.0h));
    output[at + 3] = f32(max(a, b) - min(a, b));
    output[at + 4] = f32(floor(a));
    output[at + 5] = f32(sqrt(abs(a)));
    output[at + 6] = f32(exp2(a));
    output[at + 7] = f32(fma(a, b, 1.5h));
    output[at + 8] = f32(a < b) + 2.0 * f32(a == a);
    output[at + 9] = f32(i32(a));
    output[at + 10] = f32(dot(vec2(a, b), vec2(2.0h, 1.0h)));
    output[at + 11] = f32(length(vec2(a, b)));
    output[at + 12] = f32(clamp(a, -1.0h, 1.0h));
    output[at + 13] = f32(sin(a));
    output[at + 14] = f32(abs(a) + sign(a));
    output[at + 15] = f32(-a);
}
