//! Decodes operations from JavaScript: lists of a name and the parameters other than tensors.

use js_sys::{Array, Float32Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::convert::{bytes, sizes, steps, wrong};
use crate::Result;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::{
    Activation, Epilogue, JsCall, Op, Precision, Quantization, Reduction, Shape, check_len,
};

#[wasm_bindgen(typescript_custom_section)]
const OP: &str = r#"
/** An operation without its tensor arguments. */
export type Op =
  | readonly ["elementwise", steps: readonly Step[]]
  | readonly ["softmax", log: boolean]
  | readonly ["reduce", reduction: string, axes?: Uint32Array]
  | readonly ["dot" | "convolve2d"]
  | readonly ["matmul", activation: string | undefined, bias: boolean, residual: boolean]
  | readonly ["norm", kind: string, epsilon: number, weight: boolean, bias: boolean]
  | readonly ["rotary", first: number]
  | readonly ["attention", causal: boolean, scale: number | undefined, window: number | undefined]
  | readonly ["matmulQuantized", quantization: string, size: Uint32Array, bytes: number];
"#;

/// Decodes an operation. The package's JavaScript creates the list, so only values that come from callers are checked.
pub(super) fn op(given: &Array) -> Result<Op> {
    let name = given.get(0).as_string().unwrap_or_default();
    let (first, second) = (given.get(1), given.get(2));
    let is_set = |i| given.get(i).is_truthy();
    let number = |value: &JsValue| value.as_f64().map(|number| number as f32);
    Ok(match &name[..] {
        "elementwise" => Op::Elementwise(steps(&first)?),
        "softmax" => Op::Softmax { log: is_set(1) },
        "reduce" => {
            let axes = (!second.is_undefined()).then(|| list(&second));
            Op::Reduce(reduction(&first)?, axes.transpose()?)
        }
        "dot" => Op::Dot,
        "matmul" => Op::Matmul(Precision::F32, epilogue(given)?),
        "convolve2d" => Op::Convolve2d,
        "norm" => Op::Norm {
            norm: norm(&first, number(&second).unwrap_or_default())?,
            columns: [is_set(3), is_set(4)],
        },
        "rotary" => Op::Rotary {
            first: first.as_f64().unwrap_or_default() as usize,
        },
        "attention" => Op::Attention(Attention {
            causal: is_set(1),
            window: given.get(3).as_f64().map(|n| n as usize),
            scale: number(&second),
        }),
        "matmulQuantized" => {
            let quantization = quantization(&first)?;
            let [n, k] = list(&second)?[..] else {
                return Err(wrong("size", &second, "give outputs and inputs"));
            };
            // The tensor is zero-padded to whole words, so the bytes are passed separately.
            let n_bytes = given.get(3).as_f64().unwrap_or_default() as usize;
            check_len("weights", n_bytes, quantization.bytes_of(n, k)?)?;
            let size = [n, k];
            Op::MatmulQuantized {
                quantization,
                size,
                precision: Precision::F32,
            }
        }
        _ => return Err(wrong("op", given, "give an operation that the types name")),
    })
}

/// Decodes an operation on arrays, each with a shape.
pub(super) fn call(given: &Array, arrays: &Array, dims: &Array) -> Result<JsCall> {
    let inputs = arrays.iter().zip(shapes(dims)?).map(|(array, shape)| {
        let array: &Float32Array = array.unchecked_ref();
        Ok((bytes(array)?, shape))
    });
    Ok(JsCall {
        op: op(given)?,
        inputs: inputs.collect::<Result<_>>()?,
    })
}

/// Decodes a list of shapes.
pub(super) fn shapes(dims: &Array) -> Result<Vec<Shape>> {
    dims.iter().map(|dims| Shape::new(&list(&dims)?)).collect()
}

/// Returns the numbers of a `Uint32Array`, which the package's JavaScript creates.
pub(super) fn list(words: &JsValue) -> Result<Vec<usize>> {
    sizes(&words.unchecked_ref::<Uint32Array>().to_vec())
}

/// Decodes the epilogue of a product: its activation, and true for bias and residual if they are among the inputs.
fn epilogue(given: &Array) -> Result<Epilogue<()>> {
    let name = given.get(1);
    let activation = match name.is_undefined() {
        true => None,
        false => {
            let found = name.as_string().and_then(|name| Activation::named(&name));
            let expected = "give relu, sigmoid, tanh, swish, gelu or geluTanh";
            Some(found.ok_or_else(|| wrong("activation", &name, expected))?)
        }
    };
    let is_given = |i| given.get(i).is_truthy().then_some(());
    Ok(Epilogue {
        bias: is_given(2),
        activation,
        residual: is_given(3),
    })
}

fn reduction(given: &JsValue) -> Result<Reduction> {
    Ok(match given.as_string().as_deref() {
        Some("sum") => Reduction::Sum,
        Some("max") => Reduction::Max,
        Some("min") => Reduction::Min,
        Some("sumOfSquares") => Reduction::SumOfSquares,
        _ => {
            let expected = "give sum, max, min or sumOfSquares";
            return Err(wrong("reduction", given, expected));
        }
    })
}

pub(super) fn norm(given: &JsValue, epsilon: f32) -> Result<Norm> {
    match given.as_string().as_deref() {
        Some("layer") => Ok(Norm::Layer { epsilon }),
        Some("rms") => Ok(Norm::Rms { epsilon }),
        _ => Err(wrong("norm", given, "give layer or rms")),
    }
}

pub(super) fn quantization(given: &JsValue) -> Result<Quantization> {
    Ok(match given.as_string().as_deref() {
        Some("q4k") => Quantization::Q4K,
        Some("q5k") => Quantization::Q5K,
        Some("q6k") => Quantization::Q6K,
        Some("q8_0") => Quantization::Q8_0,
        Some("f16") => Quantization::F16,
        _ => {
            let expected = "give q4k, q5k, q6k, q8_0 or f16";
            return Err(wrong("quantization", given, expected));
        }
    })
}
