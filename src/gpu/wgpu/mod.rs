//! The wgpu engine: Vulkan, Metal and DX12 natively, WebGPU in a browser.
//!
//! The main difficulty is that wgpu reports errors separately from the calls that caused them, differently on each
//! target; `fault` converts them to values. Everything else is a thin implementation of [`Backend`](super::Backend).

#![cfg_attr(
    target_arch = "wasm32",
    allow(
        clippy::arc_with_non_send_sync,
        reason = "handles are shared between threads natively; a browser has one"
    )
)]

mod adapter;
#[cfg(target_arch = "wasm32")]
mod adapter_web;
mod allocation;
#[cfg(target_arch = "wasm32")]
mod answer;
#[cfg(vulkan_engine)]
mod bfloat16;
mod choose;
mod compile;
mod device;
mod encoding;
mod external;
#[cfg(web_module)]
mod external_web;
mod fault;
mod groups;
mod host;
#[cfg(target_arch = "wasm32")]
mod host_web;
mod joined;
mod kernel;
mod launch;
mod limits;
#[cfg(target_arch = "wasm32")]
mod listener;
#[cfg(vulkan_engine)]
mod matrix_elements;
mod memory;
#[cfg(target_arch = "wasm32")]
mod open_web;
#[cfg(target_arch = "wasm32")]
mod prompt;
mod queries;
mod shared;
#[cfg(not(target_arch = "wasm32"))]
mod spirv;
mod staging;
mod stream;
mod submission;
mod timer;
mod turn;
#[cfg(not(target_arch = "wasm32"))]
mod turns;
#[cfg(target_arch = "wasm32")]
mod turns_web;

pub use device::WgpuDevice;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use device::{list, open};
pub use host::WgpuHostBuffer;
pub use kernel::WgpuKernel;
#[cfg(web_module)]
pub(crate) use listener::destroy_all;
pub use memory::WgpuBuffer;
#[cfg(target_arch = "wasm32")]
pub(crate) use open_web::{list, open};
pub use stream::WgpuStream;
pub use submission::WgpuSubmission;

/// Name of the engine.
const ENGINE: &str = crate::engine::WGPU;
