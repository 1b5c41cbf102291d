//! Enumerations of string arguments.

use wasm_bindgen::prelude::*;

/// Preference between several GPUs.
#[wasm_bindgen(js_name = PowerPreference)]
#[derive(Debug, Clone, Copy)]
pub enum WebPowerPreference {
    /// Prefers the faster GPU.
    HighPerformance = "high-performance",
    /// Prefers the GPU that uses less power.
    LowPower = "low-power",
}
