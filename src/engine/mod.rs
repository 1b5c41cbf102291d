//! The vocabulary of engine choice.
//!
//! An *engine* is an implementation that runs work: the CPU, wgpu or CUDA. A *backend* is the caller's request
//! ([`BackendRequest`] for the codec, [`EngineChoice`] for a device); an *adapter* is a GPU as the system enumerates
//! it; a *device* is an opened adapter. Every choice is reported with its reason and with the candidates that were
//! rejected.
//!
//! This module imports nothing of the crate but `error`. The public modules re-export its types.

mod choice;
mod request;
#[cfg(gpu_engine)]
mod select;
#[cfg(gpu_engine)]
mod used;

pub use choice::{BackendChoice, Rejected};
#[cfg(gpu_engine)]
pub use request::EngineChoice;
pub use request::{BackendRequest, PowerPreference};
#[cfg(gpu_engine)]
pub(crate) use select::BENEFIT_PAGES;
#[cfg(gpu_engine)]
pub use select::{SelectedBackend, select_backend};
#[cfg(gpu_engine)]
pub use used::BackendUsed;

/// Name of the engine that runs on the CPU.
pub(crate) const CPU: &str = "cpu";

/// Name of the CUDA engine.
#[cfg(gpu_engine)]
pub(crate) const CUDA: &str = "cuda";

/// Name of the wgpu engine.
#[cfg(gpu_engine)]
pub(crate) const WGPU: &str = "wgpu";
