// Powers of two for weights, which do without numbers below the normal ones.
//
// Intrinsic: wgsl-ptx knows this function by its name and text.

fn normal_exp2(x: f32) -> f32 {
    return select(exp2(x), 0.0, x < -126.0);
}
