// Elements of cooperative matrices: the intrinsics, and functions with their texts under other names, give the same.
// grid: 2 1 1
// output: 4352
// floats: 0
// needs: cooperative
enable f16;
enable wgpu_cooperative_matrix;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sum = coop_mat16x16<f32, C>;

struct Elements {
    first: vec4<f32>,
    second: vec4<f32>,
}

var<workgroup> a: array<f16, 256>;
var<workgroup> b: array<f16, 256>;
var<workgroup> sh_elements: array<f32, 512>;
var<workgroup> sh_sums: array<f32, 512>;
var<workgroup> sh_left: array<f16, 512>;
var<workgroup> other_elements: array<f32, 512>;
var<workgroup> other_sums: array<f32, 512>;
var<workgroup> other_left: array<f16, 512>;

fn elements_of(sum: Sum, own: u32, lane: u32) -> Elements {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    coopStoreT(sum, &sh_elements[own], 16);
    workgroupBarrier();
    let first = vec4(sh_elements[at], sh_elements[at + 1], sh_elements[at + 128], sh_elements[at + 129]);
    let second = vec4(sh_elements[at + 8], sh_elements[at + 9], sh_elements[at + 136], sh_elements[at + 137]);
    workgroupBarrier();
    return Elements(first, second);
}

fn matrix_of(elements: Elements, own: u32, lane: u32) -> Sum {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    sh_sums[at] = elements.first.x;
    sh_sums[at + 1] = elements.first.y;
    sh_sums[at + 128] = elements.first.z;
    sh_sums[at + 129] = elements.first.w;
    sh_sums[at + 8] = elements.second.x;
    sh_sums[at + 9] = elements.second.y;
    sh_sums[at + 136] = elements.second.z;
    sh_sums[at + 137] = elements.second.w;
    workgroupBarrier();
    let sum = coopLoadT<Sum>(&sh_sums[own], 16);
    workgroupBarrier();
    return sum;
}

fn left_of(elements: Elements, own: u32, lane: u32) -> Left {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    sh_left[at] = f16(elements.first.x);
    sh_left[at + 1] = f16(elements.first.y);
    sh_left[at + 128] = f16(elements.first.z);
    sh_left[at + 129] = f16(elements.first.w);
    sh_left[at + 8] = f16(elements.second.x);
    sh_left[at + 9] = f16(elements.second.y);
    sh_left[at + 136] = f16(elements.second.z);
    sh_left[at + 137] = f16(elements.second.w);
    workgroupBarrier();
    let left = coopLoadT<Left>(&sh_left[own], 16);
    workgroupBarrier();
    return left;
}

fn normal_exp2(x: f32) -> f32 {
    return select(exp2(x), 0.0, x < -126.0);
}

fn elements_of_by_text(sum: Sum, own: u32, lane: u32) -> Elements {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    coopStoreT(sum, &other_elements[own], 16);
    workgroupBarrier();
    let first = vec4(other_elements[at], other_elements[at + 1], other_elements[at + 128], other_elements[at + 129]);
    let second = vec4(other_elements[at + 8], other_elements[at + 9], other_elements[at + 136], other_elements[at + 137]);
    workgroupBarrier();
    return Elements(first, second);
}

fn matrix_of_by_text(elements: Elements, own: u32, lane: u32) -> Sum {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    other_sums[at] = elements.first.x;
    other_sums[at + 1] = elements.first.y;
    other_sums[at + 128] = elements.first.z;
    other_sums[at + 129] = elements.first.w;
    other_sums[at + 8] = elements.second.x;
    other_sums[at + 9] = elements.second.y;
    other_sums[at + 136] = elements.second.z;
    other_sums[at + 137] = elements.second.w;
    workgroupBarrier();
    let sum = coopLoadT<Sum>(&other_sums[own], 16);
    workgroupBarrier();
    return sum;
}

fn left_of_by_text(elements: Elements, own: u32, lane: u32) -> Left {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    other_left[at] = f16(elements.first.x);
    other_left[at + 1] = f16(elements.first.y);
    other_left[at + 128] = f16(elements.first.z);
    other_left[at + 129] = f16(elements.first.w);
    other_left[at + 8] = f16(elements.second.x);
    other_left[at + 9] = f16(elements.second.y);
    other_left[at + 136] = f16(elements.second.z);
    other_left[at + 137] = f16(elements.second.w);
    workgroupBarrier();
    let left = coopLoadT<Left>(&other_left[own], 16);
    workgroupBarrier();
    return left;
}

fn store(at: u32, elements: Elements) {
    for (var e = 0u; e < 4; e++) {
        output[at + e] = elements.first[e];
        output[at + 4 + e] = elements.second[e];
    }
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    for (var at = i; at < 256; at += 64) {
        let bits = input[at] >> group.x;
        a[at] = f16(i32(bits & 7) - 3);
        b[at] = f16(i32((bits >> 3) & 7) - 4);
    }
    workgroupBarrier();
    let lane = i % 32;
    let own = 256 * (i / 32);
    let to = 2176 * group.x;

    // The second subgroup has twice the elements.
    let right = coopLoadT<Right>(&b[0], 16);
    let product = coopMultiplyAdd(coopLoadT<Left>(&a[0], 16), right, Sum());
    let found = elements_of(product, own, lane);
    let by_text = elements_of_by_text(product, own, lane);
    let sums = Elements(found.first * f32(1 + i / 32), by_text.second - f32(lane));
    store(to + 8 * i, sums);
    coopStoreT(matrix_of(sums, own, lane), &output[to + 512 + own], 16);
    coopStoreT(matrix_of_by_text(sums, own, lane), &output[to + 1024 + own], 16);

    // From 2048 on, halves are even.
    let odd = Elements(sums.first + 2049, sums.second - 2049);
    let rounded = coopMultiplyAdd(left_of(odd, own, lane), right, Sum());
    let one = elements_of(rounded, own, lane);
    let two = elements_of(coopMultiplyAdd(left_of_by_text(odd, own, lane), right, Sum()), own, lane);
    coopStoreT(rounded, &output[to + 1536 + own], 16);
    let is_same = all(one.first == two.first) && all(one.second == two.second);
    output[to + 2048 + i] = f32(is_same) + f32(all(found.first == by_text.first));
    output[to + 2112 + i] = normal_exp2(f32(i) - 130) + normal_exp2(f32(i % 8));
}
