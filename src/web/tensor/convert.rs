//! JavaScript values from and to those of tensors.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

use super::call::Call;
use crate::gpu::{Capabilities, GpuDeviceInfo, PowerPreference};
use crate::tensor::{Reduction, Shape, Step};
use crate::{Error, Result};

/// What a function gives that JavaScript calls: a value, or an `Error` with a `code`.
pub(super) type Given<T> = std::result::Result<T, JsValue>;

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

/// A call that gives `{ value }`. The package does not cancel it.
pub(super) fn call<T: Into<JsValue>>(work: impl Future<Output = Result<T>> + 'static) -> Call {
    Call::new(|state| async move {
        let done = state.unless_cancelled(work).await;
        let value = done.unwrap_or(Err(Error::Cancelled))?;
        let outcome = Object::new();
        set(&outcome, "value", value);
        Ok(outcome.into())
    })
}

/// Lengths, places and numbers of axes.
pub(super) fn sizes_from(words: &[u32]) -> Vec<usize> {
    words.iter().map(|&word| word as usize).collect()
}

pub(super) fn shape_from(dims: &[u32]) -> Result<Shape> {
    Shape::new(&sizes_from(dims))
}

pub(super) fn words_of(sizes: &[usize]) -> Vec<u32> {
    sizes.iter().map(|&size| size as u32).collect()
}

/// Steps from their names, with spaces between, and two numbers for each.
pub(super) fn steps_from(names: &str, numbers: &[f32]) -> Result<Vec<Step>> {
    let (pairs, _) = numbers.as_chunks::<2>();
    let steps = names.split_whitespace().zip(pairs);
    steps.map(|(name, &[x, y])| step_from(name, x, y)).collect()
}

fn step_from(name: &str, x: f32, y: f32) -> Result<Step> {
    Ok(match name {
        "relu" => Step::Relu,
        "leakyRelu" => Step::LeakyRelu(x),
        "elu" => Step::Elu(x),
        "sigmoid" => Step::Sigmoid,
        "tanh" => Step::Tanh,
        "swish" => Step::Swish,
        "gelu" => Step::Gelu,
        "geluTanh" => Step::GeluTanh,
        "clip" => Step::Clip(x, y),
        "scale" => Step::Scale(x),
        "offset" => Step::Offset(x),
        "exp" => Step::Exp,
        "log" => Step::Log,
        "sqrt" => Step::Sqrt,
        "abs" => Step::Abs,
        "reciprocal" => Step::Reciprocal,
        "add" => Step::Add,
        "sub" => Step::Sub,
        "mul" => Step::Mul,
        "div" => Step::Div,
        "max" => Step::Max,
        "min" => Step::Min,
        _ => return Err(wrong("step", name, "give a step that the types name")),
    })
}

pub(super) fn reduction_from(name: &str) -> Result<Reduction> {
    Ok(match name {
        "sum" => Reduction::Sum,
        "max" => Reduction::Max,
        "min" => Reduction::Min,
        "sumOfSquares" => Reduction::SumOfSquares,
        _ => {
            let expected = "give sum, max, min or sumOfSquares";
            return Err(wrong("reduction", name, expected));
        }
    })
}

/// `{ name, vendor, engine, kind, software }`.
pub(super) fn info_to_js(info: &GpuDeviceInfo) -> Object {
    let value = Object::new();
    set(&value, "name", info.name.as_str());
    set(&value, "vendor", info.vendor.as_str());
    set(&value, "engine", info.api);
    set(&value, "software", info.is_software());
    value
}

/// The limits by their names.
pub(super) fn capabilities_to_js(capabilities: &Capabilities) -> Object {
    let value = Object::new();
    let number = |key: &str, number: u64| set(&value, key, number as f64);
    number("maxBindingBytes", capabilities.max_binding_bytes);
    number("maxBufferBytes", capabilities.max_buffer_bytes);
    number("maxWorkgroupBytes", capabilities.max_workgroup_bytes.into());
    number(
        "maxWorkgroupInvocations",
        capabilities.max_workgroup_invocations.into(),
    );
    number("maxGrid", capabilities.max_grid.into());
    number("maxStorageBuffers", capabilities.max_storage_buffers.into());
    set(&value, "timestamps", capabilities.timestamps);
    value
}
