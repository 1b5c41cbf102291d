//! The engine of the npm package: WebGPU of a browser, Deno or Node, driven by JavaScript of the package.
//!
//! wgpu does the same for Rust programs on wasm32, but all that it is able to do beside would be two thirds of what a page
//! loads. Here the module has numbers for what the browser's objects are (`crate::js`), and `webgpu.ts` of the package
//! makes the calls: few, since a submission is one.

mod calls;
mod device;
mod kernel;
mod memory;
mod stream;

pub use device::WebDevice;
pub(crate) use device::{list, open};
pub use kernel::WebKernel;
pub use memory::{WebBuffer, WebHostBuffer};
pub use stream::{WebStream, WebSubmission};

/// Name of the engine.
const ENGINE: &str = "webgpu";
