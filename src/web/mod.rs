//! The JavaScript API of the WebAssembly module: classes and functions exported by wasm-bindgen. They convert
//! arguments, call the implementation, and throw errors with a `code`.

#[cfg(any(web_files, web_formats))]
mod bytes;
#[cfg(feature = "web-cuda-c")]
mod cuda_c;
#[cfg(feature = "web-dictionary")]
mod dictionary;
#[cfg(feature = "web-faults")]
mod faults;
#[cfg(web_files)]
mod files;
#[cfg(web_formats)]
mod formats;
#[cfg(web_pages)]
mod gpu;
#[cfg(any(web_files, web_formats, web_pages))]
mod level;
mod panic;
#[cfg(web_engine)]
mod pending;
#[cfg(web_engine)]
mod promise;
#[cfg(feature = "web-seek")]
mod seek;
#[cfg(feature = "web-snapshot")]
mod snapshot;
#[cfg(any(web_files, web_pages))]
mod table;
#[cfg(web_tensor)]
mod tensor;

/// The allocator of the modules. After compression it is 1 kB smaller than that of the standard library.
#[global_allocator]
// SAFETY: `new_global` requires one thread, and the modules are compiled without atomics, so none of their memory is shared.
static ALLOCATOR: talc::TalckWasm = unsafe { talc::TalckWasm::new_global() };
