//! Tolerances of each operation: `relative` to the exact result or, near zero, `absolute`. `docs/tolerances.md` lists them.

use pagepress::tensor::{DType, Reduction, Step};

#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    pub relative: f64,
    pub absolute: f64,
}

const fn within(relative: f64, absolute: f64) -> Tolerance {
    Tolerance { relative, absolute }
}

/// Tolerance of results with a single rounding.
const ROUNDED: Tolerance = within(2e-7, 1e-37);
/// Tolerance of division and square root, for which GPUs guarantee 2.5 units in the last place.
const NEARLY: Tolerance = within(4e-7, 1e-37);

pub fn of_step(step: Step) -> Tolerance {
    match step {
        Step::Relu | Step::Clip(..) | Step::Abs | Step::Max | Step::Min => within(0.0, 0.0),
        Step::LeakyRelu(_) | Step::Scale(_) | Step::Offset(_) => ROUNDED,
        Step::Add | Step::Sub | Step::Mul => ROUNDED,
        Step::Div | Step::Sqrt | Step::Reciprocal => NEARLY,
        // The rounding error of the argument grows with its magnitude.
        Step::Exp | Step::Sigmoid | Step::Swish | Step::Gelu | Step::GeluTanh => {
            within(3e-5, 1e-30)
        }
        Step::Elu(_) | Step::Tanh => within(4e-6, 1e-30),
        // Vulkan guarantees 2^-21 from 0.5 to 2; near 1 the kernel uses its own approximation.
        Step::Log | Step::Log1p => within(3e-6, 1e-37),
        _ => panic!("no tolerance for {step:?}"),
    }
}

/// Returns the tolerance of a reduction, relative to the sum of magnitudes.
pub fn of_reduction(reduction: Reduction) -> f64 {
    match reduction {
        Reduction::Max | Reduction::Min => 0.0,
        _ => 1e-6,
    }
}

pub const SOFTMAX: Tolerance = within(3e-5, 1e-30);
pub const LOG_SOFTMAX: Tolerance = within(2e-6, 2e-6);
/// Tolerance of normalised rows, whose elements are about 1.
pub const NORM: Tolerance = within(4e-6, 4e-6);
/// Tolerance of rotated pairs, relative to the sum of the magnitudes of both terms.
pub const ROTARY: f64 = 4e-7;
/// Tolerance of attention, relative to the weighted mean of magnitudes.
pub const ATTENTION: f64 = 2e-5;
/// The same on matrix units, where weights and result are rounded to the type.
pub const fn attention_of(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => ATTENTION,
        DType::F16 => 1.5e-3,
        _ => 1.2e-2,
    }
}
/// Tolerance of the rows of a layer, whose elements are about 1.
#[cfg(not(target_arch = "wasm32"))]
pub const LAYER: Tolerance = within(1e-4, 1e-4);
/// Tolerance of sums of products, relative to the sum of their magnitudes.
pub const PRODUCTS: f64 = 2e-6;
/// The same of factors that are rounded to TF32, each by 2^-11 at most, in addition to that of the sums.
pub const TF32_PRODUCTS: f64 = 1.0 / 1023.0;

/// Returns true if a result is within the tolerance. NaN must be NaN; beyond the largest `f32`, the result must be
/// infinite with the right sign, or close to the largest magnitude.
pub fn is_near(found: f32, exact: f64, tolerance: Tolerance) -> bool {
    if exact.is_nan() {
        return found.is_nan();
    }
    if exact.abs() > f64::from(f32::MAX) {
        return f64::from(found) == exact.signum() * f64::INFINITY || found.abs() > 3.4e38;
    }
    let off = (f64::from(found) - exact).abs();
    off <= tolerance.absolute.max(tolerance.relative * exact.abs())
}

pub fn assert_near(what: &str, found: &[f32], exact: &[f64], tolerance: Tolerance) {
    assert_eq!(found.len(), exact.len(), "{what}: elements");
    for (i, (&found, &exact)) in found.iter().zip(exact).enumerate() {
        assert!(
            is_near(found, exact, tolerance),
            "{what}: element {i} is {found:e} ({:#x}), exactly {exact:e}; {tolerance:?}",
            found.to_bits()
        );
    }
}
