// Elements of products with an epilogue. In second texts of kernels it takes the place of shaders/lib/plain/finish.wgsl.
//
// import: lib/epilogue

/// The kernel has an epilogue.
const IS_FUSED: bool = true;

@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read> residual: array<f32>;

/// Returns the elements that are stored at `places`, in these columns, for elements of the product. Those that are not inside of the result
/// are undefined.
fn finished(product: vec4<f32>, places: vec4<u32>, columns: vec4<u32>, inside: vec4<bool>) -> vec4<f32> {
    return with_epilogue(product, places, columns, inside);
}
