// Register tiling, 4x4 per invocation.

// Sums of outer products: element r is row r of the invocation's tile. Not a parameter, since compilers to HLSL would copy
// it in and out of every call.
var<private> register_tile: array<vec4<f32>, 4>;

/// Adds the outer product of a column x and a row y to the tile.
fn add_outer_product(x: vec4<f32>, y: vec4<f32>) {
    register_tile[0] += x.x * y;
    register_tile[1] += x.y * y;
    register_tile[2] += x.z * y;
    register_tile[3] += x.w * y;
}
