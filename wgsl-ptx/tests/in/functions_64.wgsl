// Double precision.
// grid: 1 1 1
// output: 512
// floats: 1e-6
// needs: float64
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = f64(f32(i)) * 1.25lf - 3.0lf;
    let b = f64(input[i]) + 0.5lf;
    let at = 16 * i;
    output[at] = f32(a + b);
    output[at + 1] = f32(a * b - b / a);
    output[at + 2] = f32(sqrt(abs(a)));
    output[at + 3] = f32(floor(a) + ceil(b));
    output[at + 4] = f32(min(a, b) + max(a, 1.0lf));
    output[at + 5] = f32(clamp(a, -1.0lf, 1.0lf));
    output[at + 6] = f32(fract(a) + trunc(a));
    output[at + 7] = f32(a < b) + 2.0 * f32(a == a);
    output[at + 8] = f32(i32(a));
    output[at + 9] = f32(fma(a, a, 1.0lf));
    output[at + 10] = f32(dot(vec2(a, b), vec2(1.0lf, 0.5lf)));
    output[at + 11] = f32(select(a, b, i > 16));
    output[at + 12] = f32(-a);
    output[at + 13] = f32(abs(a) + sign(a));
    output[at + 14] = f32(mix(a, b, 0.25lf));
    output[at + 15] = f32(step(a, 2.0lf));
}
