// Elements of matrices on matrix units as values of an invocation, so that a kernel can compute with rows of a product.
//
// Intrinsics: wgsl-ptx knows these functions by their names and texts. The file that imports them declares `sh_elements` and `sh_sums`,
// arrays of f32, and `sh_left`, an array of f16, in workgroup memory, with 256 elements for each subgroup from element `own` on.

alias Left = coop_mat16x16<f16, A>;
alias Sum = coop_mat16x16<f32, C>;

// Those of row lane / 4 in `xy` and of the row 8 further down in `zw`, from column 2 * (lane % 4) on in `first` and 8 columns further right
// in `second`.
struct Elements {
    first: vec4<f32>,
    second: vec4<f32>,
}

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

// Rounds elements to halves, or to bfloat16 where the compiler takes halves as bfloat16.
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
