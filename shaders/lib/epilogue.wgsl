// Epilogue of a product: activation(product + bias) + residual.
//
// The file that imports it declares the bindings `bias`, a f32 for each column, and `residual`, f32 in the layout of the result. Where one is
// not used, any buffer may be bound.
// NaN propagates.
// Twin: src/tensor/cpu/matmul.rs
//
// import: lib/activations, lib/nan

override BIAS: bool = false;
// The activation, as `kernels::tensor::Step` numbers it; 0 is none.
override ACTIVATION: u32 = 0u;
override RESIDUAL: bool = false;

/// Returns the elements of a result at `places`, in these columns, for elements of the product. Those that are not inside of the result are
/// undefined.
fn with_epilogue(product: vec4<f32>, places: vec4<u32>, columns: vec4<u32>, inside: vec4<bool>) -> vec4<f32> {
    var x = product;
    if BIAS {
        let at = select(vec4(0u), columns, inside);
        x += vec4(bias[at.x], bias[at.y], bias[at.z], bias[at.w]);
    }
    if ACTIVATION != 0u {
        x = select(activation(ACTIVATION, x), x, is_nan(x));
    }
    if RESIDUAL {
        let at = select(vec4(0u), places, inside);
        x += vec4(residual[at.x], residual[at.y], residual[at.z], residual[at.w]);
    }
    return x;
}
