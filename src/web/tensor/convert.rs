//! Conversion between JavaScript values and types of tensors.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use js_sys::{Array, Float32Array, JSON, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;

use crate::js_bytes::JsBytes;
use crate::tensor::{Shape, Step};
use crate::{Error, Result};

#[wasm_bindgen(typescript_custom_section)]
const STEP: &str = r#"
/** A step of an element-wise operation: its name, or its name and its parameters. */
export type Step = string | readonly [name: string, ...numbers: number[]];
"#;

/// Result of an exported function: a value, or an `Error` with a `code`.
pub(super) type JsResult<T> = std::result::Result<T, JsValue>;

/// Returns a promise of the result of `work`, which is polled once before this returns, so that arrays are read with
/// their current contents.
pub(super) fn promise<T: Into<JsValue>>(
    work: impl Future<Output = Result<T>> + 'static,
) -> Promise {
    settle(Box::pin(async move { Ok(work.await?.into()) }))
}

/// Implements [`promise`] without generics, so that it is compiled only once.
fn settle(mut work: Pin<Box<dyn Future<Output = Result<JsValue>>>>) -> Promise {
    if let Some(error) = crate::web::panic::stopped() {
        return Promise::reject(&error);
    }
    let mut context = Context::from_waker(Waker::noop());
    match work.as_mut().poll(&mut context) {
        Poll::Ready(Ok(value)) => Promise::resolve(&value),
        Poll::Ready(Err(error)) => Promise::reject(&error.into()),
        // The work is polled again there, with a waker.
        Poll::Pending => crate::web::promise::promise(work),
    }
}

/// Returns the elements of an array as bytes.
pub(super) fn bytes(array: &Float32Array) -> Result<JsBytes> {
    JsBytes::of_floats(array)
}

/// Returns an array on the memory of the bytes.
pub(super) fn floats(bytes: JsBytes) -> Float32Array {
    Float32Array::new(&bytes.into_array().buffer())
}

/// Converts lengths, positions or indices of axes.
pub(super) fn sizes(words: &[u32]) -> Result<Vec<usize>> {
    let mut sizes = Vec::new();
    crate::memory::reserve(&mut sizes, words.len())?;
    sizes.extend(words.iter().map(|&word| word as usize));
    Ok(sizes)
}

pub(super) fn shape(dims: &[u32]) -> Result<Shape> {
    Shape::new(&sizes(dims)?)
}

/// Decodes a list of steps: names, or lists of a name and its numbers.
pub(super) fn steps(steps: &JsValue) -> Result<Vec<Step>> {
    if !Array::is_array(steps) {
        return Err(wrong("steps", steps, "give a list of steps"));
    }
    Array::from(steps)
        .iter()
        .map(|given| step(&given))
        .collect()
}

fn step(given: &JsValue) -> Result<Step> {
    let parts = match Array::is_array(given) {
        true => Array::from(given),
        false => Array::of1(given),
    };
    let name = parts.get(0).as_string();
    let numbers: Option<Vec<f32>> = parts
        .iter()
        .skip(1)
        .map(|number| number.as_f64().map(|number| number as f32))
        .collect();
    let step = name
        .zip(numbers)
        .and_then(|(name, numbers)| Step::named(&name, &numbers));
    let expected = "give a name that the types name, and as many numbers as it takes";
    step.ok_or_else(|| wrong("step", given, expected))
}

/// Creates the error for an invalid argument, with the argument as JSON.
pub(super) fn wrong(name: &'static str, value: &JsValue, expected: &'static str) -> Error {
    let text = JSON::stringify(value)
        .ok()
        .and_then(|text| text.as_string());
    Error::InvalidArgument {
        name,
        value: text.unwrap_or_default(),
        expected,
    }
}

/// Creates an object with these properties.
pub(super) fn object(properties: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in properties {
        // A new object is neither frozen nor a proxy, so this cannot fail.
        let _ = Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object
}
