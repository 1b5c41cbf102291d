//! The JavaScript API of the WebAssembly module: classes and functions exported by wasm-bindgen. They convert
//! arguments, call the implementation, and throw errors with a `code`.

#[cfg(web_files)]
mod files;
#[cfg(web_pages)]
mod gpu;
#[cfg(any(web_files, web_pages))]
mod level;
mod panic;
#[cfg(web_engine)]
mod promise;
#[cfg(feature = "web-seek")]
mod seek;
#[cfg(any(web_files, web_pages))]
mod table;
#[cfg(web_tensor)]
mod tensor;
