// Windows of attention.
//
// The kernel's parameters have `first`, the last key that query 0 sees, and `window`, the number of keys that a query sees at most.

/// Returns the first key that a query sees.
fn window_begin(query: u32) -> u32 {
    return max(query + params.first + 1u, params.window) - params.window;
}
