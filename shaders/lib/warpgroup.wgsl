// Sums of products of 128 invocations that an engine may run asynchronously.
//
// Intrinsic: wgsl-ptx knows `await_products` by its name and text.

// Sums of an invocation: of 64 columns, of 8 columns, of two neighbouring columns in one row and eight rows further down.
alias GroupSums = array<array<vec4<f32>, 8>, 4>;

// Waits for all products but the last `n_pending`. Until then, their sums are not read and their factors not changed.
fn await_products(n_pending: u32) {
}
