//! Values that every module takes and gives.

use js_sys::Reflect;
use wasm_bindgen::JsValue;

use crate::batch::PowerPreference;
use crate::{Error, Result};

/// Sets a property of an object that was made here, which cannot fail: it is neither frozen nor a proxy.
pub(super) fn set(object: &JsValue, key: &str, value: impl Into<JsValue>) {
    let _ = Reflect::set(object, &JsValue::from_str(key), &value.into());
}

pub(super) fn power_preference_from(name: &str) -> Result<PowerPreference> {
    match name {
        "high-performance" => Ok(PowerPreference::HighPerformance),
        "low-power" => Ok(PowerPreference::LowPower),
        _ => Err(wrong(
            "powerPreference",
            name,
            "give high-performance or low-power",
        )),
    }
}

/// A name that stands for nothing.
pub(super) fn wrong(name: &'static str, value: &str, expected: &'static str) -> Error {
    Error::InvalidArgument {
        name,
        value: value.to_owned(),
        expected,
    }
}
