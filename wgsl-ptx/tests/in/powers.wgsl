// Powers, exponentials, logarithms, trigonometric and hyperbolic functions.
// grid: 1 1 1
// output: 1536
// floats: 1e-3
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = (f32(i) - 31.5) / 8.0;
    let p = f32(i + 1) / 7.0;
    let u = a / 4.0;
    let at = 24 * i;
    output[at] = exp(a);
    output[at + 1] = exp2(a);
    output[at + 2] = log(p);
    output[at + 3] = log2(p);
    output[at + 4] = pow(p, a);
    output[at + 5] = sin(a);
    output[at + 6] = cos(a);
    output[at + 7] = tan(a * 0.3);
    output[at + 8] = asin(u);
    output[at + 9] = acos(u);
    output[at + 10] = atan(a);
    output[at + 11] = atan2(a, p - 4.0);
    output[at + 12] = sinh(a);
    output[at + 13] = cosh(a);
    output[at + 14] = tanh(a);
    output[at + 15] = asinh(a);
    output[at + 16] = acosh(1.0 + p);
    output[at + 17] = atanh(u * 0.9);
    output[at + 18] = sin(a * 40.0);
    output[at + 19] = cos(a * 40.0);
    output[at + 20] = tanh(a * 30.0);
    output[at + 21] = atan2(-a, 0.0);
    output[at + 22] = exp(-20.0 * p);
    output[at + 23] = length(vec2(sin(p), cos(p)));
}
