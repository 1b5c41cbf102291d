//! Enumerations of string arguments.

use wasm_bindgen::prelude::*;

use super::convert::wrong;
use crate::Result;
use crate::tensor::DType;

/// Preference between several GPUs.
#[wasm_bindgen(js_name = PowerPreference)]
#[derive(Debug, Clone, Copy)]
pub enum WebPowerPreference {
    /// Prefers the faster GPU.
    HighPerformance = "high-performance",
    /// Prefers the GPU that uses less power.
    LowPower = "low-power",
}

/// Type of the elements of a tensor.
#[wasm_bindgen(js_name = DType)]
#[derive(Debug, Clone, Copy)]
pub enum WebDType {
    /// 32-bit floats.
    Float32 = "float32",
    /// 16-bit floats (IEEE binary16).
    Float16 = "float16",
    /// 16-bit floats with the exponent of 32-bit floats.
    Bfloat16 = "bfloat16",
}

impl WebDType {
    /// Returns the type that has this name.
    pub(super) fn named(self) -> Result<DType> {
        Ok(match self {
            Self::Float32 => DType::F32,
            Self::Float16 => DType::F16,
            Self::Bfloat16 => DType::BF16,
            _ => {
                let expected = "give float32, float16 or bfloat16";
                return Err(wrong("dtype", &"another name".into(), expected));
            }
        })
    }
}

impl From<DType> for WebDType {
    fn from(dtype: DType) -> Self {
        match dtype {
            DType::F32 => Self::Float32,
            DType::F16 => Self::Float16,
            DType::BF16 => Self::Bfloat16,
        }
    }
}
