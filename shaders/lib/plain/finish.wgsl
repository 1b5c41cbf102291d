// Elements of products without an epilogue. shaders/lib/fused/finish.wgsl takes its place in second texts of kernels.

/// The kernel has an epilogue.
const IS_FUSED: bool = false;

/// Returns the elements that are stored at `places`, in these columns, for elements of the product.
fn finished(product: vec4<f32>, places: vec4<u32>, columns: vec4<u32>, inside: vec4<bool>) -> vec4<f32> {
    return product;
}
