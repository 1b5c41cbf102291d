//! [`rotary_turns`]: the table of angles of rotary positions.

use crate::memory::with_room;
use crate::ops::lengths::product;
use crate::{Error, Result};

/// Returns the table that `rotary` takes, `[positions, elements]`: for each position, cosine and sine of the angle
/// position · `base`^(-2 i / `elements`) of each pair i of a head of `elements` elements. `base` is often 10,000.
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd number of elements; [`Error::OutOfMemory`].
pub fn rotary_turns(base: f32, elements: usize, positions: usize) -> Result<Vec<f32>> {
    if !elements.is_multiple_of(2) {
        let expected = "even: elements of a head are rotated in pairs";
        return Err(Error::invalid("elements", elements as u64, expected));
    }
    let n_numbers = product(&[positions, elements]);
    let mut turns = with_room(usize::try_from(n_numbers).unwrap_or(usize::MAX))?;
    if elements == 0 {
        return Ok(turns);
    }
    for position in 0..positions {
        for i in 0..elements / 2 {
            let exponent = -2.0 * i as f64 / elements as f64;
            let angle = position as f64 * power(f64::from(base), exponent);
            turns.extend(cos_sin(angle));
        }
    }
    Ok(turns)
}

#[cfg(not(web))]
fn power(base: f64, exponent: f64) -> f64 {
    base.powf(exponent)
}

#[cfg(not(web))]
fn cos_sin(angle: f64) -> [f32; 2] {
    [angle.cos() as f32, angle.sin() as f32]
}

/// Computes the power in JavaScript: Rust's function would be part of the module, which is downloaded.
#[cfg(web)]
fn power(base: f64, exponent: f64) -> f64 {
    js_sys::Math::pow(base, exponent)
}

#[cfg(web)]
fn cos_sin(angle: f64) -> [f32; 2] {
    [js_sys::Math::cos(angle), js_sys::Math::sin(angle)].map(|x| x as f32)
}
