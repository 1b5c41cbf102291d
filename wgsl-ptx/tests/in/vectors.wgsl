// Functions of vectors; swizzles, comparison, selection by component.
// grid: 1 1 1
// output: 2048
// floats: 1e-4
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let t = f32(i) / 16.0;
    let a = vec3(t - 2.0, 0.5, 1.5 - t);
    let b = vec3(0.25, t, -1.0);
    let n = normalize(b);
    let at = 32 * i;
    output[at] = dot(a, b);
    let c = cross(a, b);
    output[at + 1] = c.x;
    output[at + 2] = c.y;
    output[at + 3] = c.z;
    output[at + 4] = length(a);
    output[at + 5] = distance(a, b);
    output[at + 6] = n.y;
    output[at + 7] = reflect(a, n).z;
    output[at + 8] = refract(normalize(a), n, 0.8).x;
    output[at + 9] = faceForward(a, b, n).x;
    output[at + 10] = a.zyx.x + a.xx.y * 2.0;
    output[at + 11] = f32(all(a < b)) + 2.0 * f32(any(a < b)) + 4.0 * f32(all(a == a.xyz));
    output[at + 12] = select(a, b, a > b).y;
    output[at + 13] = select(a, b, t > 2.0).z;
    output[at + 14] = (a * 2.0 + 1.0 / b.zzz).x;
    output[at + 15] = vec4(a.xy, b.xy).z;
    output[at + 16] = (vec2(1.0, t) - vec2(t)).x;
    var v = vec4(a, t);
    v.y += 3.0;
    v = v.wzyx;
    output[at + 17] = v.z;
    output[at + 18] = max(a, b).x + min(a, b).y + clamp(a, vec3(-1.0), vec3(1.0)).z;
    output[at + 19] = f32(dot(vec2(i32(i), 3), vec2(2, -5)));
    output[at + 20] = length(t - 3.0) + distance(t, 1.0);
    for (var k = 21u; k < 32; k++) {
        output[at + k] = v[k & 3] + a[k % 3];
    }
}
