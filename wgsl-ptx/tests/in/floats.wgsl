// Arithmetic, rounding and comparison of floats.
// grid: 1 1 1
// output: 2048
// floats: 1e-5
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = (f32(i) - 30.0) * 0.375;
    let b = f32(input[i] >> 20) / 512.0 - 3.9;
    let at = 32 * i;
    output[at] = a + b;
    output[at + 1] = a - b;
    output[at + 2] = a * b;
    output[at + 3] = a / b;
    output[at + 4] = a % 1.75;
    output[at + 5] = -a;
    output[at + 6] = floor(a);
    output[at + 7] = ceil(a);
    output[at + 8] = round(a);
    output[at + 9] = trunc(a);
    output[at + 10] = fract(a);
    output[at + 11] = abs(a);
    output[at + 12] = sign(a);
    output[at + 13] = min(a, b);
    output[at + 14] = max(a, b);
    output[at + 15] = clamp(a, -2.5, 3.25);
    output[at + 16] = saturate(b);
    output[at + 17] = mix(a, b, 0.3);
    output[at + 18] = step(a, b);
    output[at + 19] = smoothstep(-4.0, 4.0, a);
    output[at + 20] = sqrt(abs(a));
    output[at + 21] = inverseSqrt(abs(b) + 0.01);
    output[at + 22] = fma(a, b, 1.5);
    output[at + 23] = radians(a) + degrees(b);
    output[at + 24] = f32(a < b) + 2.0 * f32(a >= b) + 4.0 * f32(a == a) + 8.0 * f32(a != b);
    output[at + 25] = quantizeToF16(a * 1.2345);
    output[at + 26] = select(a, b, a > b);
    output[at + 27] = mix(vec2(a, b), vec2(b, a), 0.25).y;
    output[at + 28] = ldexp(a, i32(i % 20u) - 10);
    output[at + 29] = modf(a).fract + 10.0 * modf(a).whole;
    output[at + 30] = frexp(a).fract;
    output[at + 31] = f32(frexp(a * 1000.0).exp);
}
