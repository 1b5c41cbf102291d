//! The surface for JavaScript: classes and functions by wasm-bindgen, which convert, call, and throw errors with a `code`.

#[cfg(feature = "npm")]
mod allocator;
#[cfg(js_engine)]
mod call;
#[cfg(feature = "web-files")]
mod files;
#[cfg(js_pages)]
mod gpu;
#[cfg(feature = "npm")]
mod memory;
#[cfg(feature = "_web")]
mod panic;
#[cfg(feature = "web-seek")]
mod seek;
#[cfg(any(js_pages, feature = "web-files"))]
mod table;
#[cfg(js_tensor)]
mod tensor;
