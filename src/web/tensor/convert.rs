//! What JavaScript gives and gets.

use std::pin::Pin;

use crate::js::{Bytes, Value};
use crate::memory::reserve;
use crate::tensor::{GpuTensor, JsArray, Reduction, Shape, Step};
use crate::web::call::{Call, Done};
use crate::{Error, Result};

/// The array of a number.
pub(super) fn array(number: u32) -> Result<Bytes> {
    let value = Value::new(number).map(Bytes::new);
    value.ok_or_else(nothing)
}

/// A number that stands for nothing where something must be.
pub(super) fn nothing() -> Error {
    Error::Engine {
        engine: "wasm",
        message: "nothing was given".into(),
    }
}

/// Words of an array.
pub(super) fn words(number: u32) -> Result<Vec<u32>> {
    let array = array(number)?;
    let mut words = Vec::new();
    reserve(&mut words, array.len() / 4)?;
    words.resize(array.len() / 4, 0);
    array.read_into(0, bytemuck::cast_slice_mut(&mut words))?;
    Ok(words)
}

/// Lengths, places or numbers of axes.
pub(super) fn sizes(number: u32) -> Result<Vec<usize>> {
    Ok(words(number)?.iter().map(|&word| word as usize).collect())
}

pub(super) fn shape(number: u32) -> Result<Shape> {
    Shape::new(&sizes(number)?)
}

/// Steps, three floats each: which, and its numbers.
pub(super) fn steps(number: u32) -> Result<Vec<Step>> {
    let floats = JsArray::vector(array(number)?).floats()?;
    let (steps, _) = floats.as_chunks::<3>();
    let step = |&[code, x, y]: &[f32; 3]| {
        Step::of_code(code as u32, [x, y]).ok_or_else(|| unknown("step", code as u32))
    };
    steps.iter().map(step).collect()
}

pub(super) fn reduction(number: u32) -> Result<Reduction> {
    Ok(match number {
        0 => Reduction::Sum,
        1 => Reduction::Max,
        2 => Reduction::Min,
        3 => Reduction::SumOfSquares,
        _ => return Err(unknown("reduction", number)),
    })
}

/// A number that stands for nothing.
pub(super) fn unknown(name: &'static str, number: u32) -> Error {
    Error::invalid(name, number.into(), "give one that the types name")
}

/// What a call does whose value is a tensor.
pub(super) type Making = Pin<Box<dyn Future<Output = Result<GpuTensor>>>>;

/// A call that gives the address of a tensor.
pub(super) fn making(work: Making) -> *mut Call {
    Call::begin(Box::pin(async move { Ok(Done::object(work.await?)) }))
}

/// A call that gives the elements of a tensor, in a new array.
pub(super) fn reading(work: Making) -> *mut Call {
    Call::begin(Box::pin(async move {
        Ok(Done::array(work.await?.to_js_async().await?))
    }))
}

impl Done {
    /// The address of an object.
    pub(super) fn object<T>(made: T) -> Self {
        Self::number(Box::into_raw(Box::new(made)) as usize as f64)
    }

    /// The number of an array.
    pub(super) fn array(bytes: Bytes) -> Self {
        Self::number(bytes.into_value().into_number().into())
    }

    pub(super) fn number(number: f64) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }
}
