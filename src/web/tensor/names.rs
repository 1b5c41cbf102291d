//! Names that arguments have.

use wasm_bindgen::prelude::*;

/// Speed or battery, where there are several GPUs.
#[wasm_bindgen(js_name = PowerPreference)]
#[derive(Debug, Clone, Copy)]
pub enum WebPowerPreference {
    /// Speed.
    HighPerformance = "high-performance",
    /// Battery.
    LowPower = "low-power",
}
