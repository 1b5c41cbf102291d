// Sum of four components.

/// Returns the sum of the components of a vector, in pairs.
fn sum4(x: vec4<f32>) -> f32 {
    return (x.x + x.y) + (x.z + x.w);
}
