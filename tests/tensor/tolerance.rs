//! How far results may be off, for each operation: by `relative` of the exact result or, near zero, by `absolute`.

use pagepress::tensor::{Reduction, Step};

#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    pub relative: f64,
    pub absolute: f64,
}

const fn within(relative: f64, absolute: f64) -> Tolerance {
    Tolerance { relative, absolute }
}

/// Results of one rounding.
const ROUNDED: Tolerance = within(2e-7, 1e-37);
/// Division and square root, of which GPUs promise 2.5 units of the last place.
const NEARLY: Tolerance = within(4e-7, 1e-37);

pub fn of_step(step: Step) -> Tolerance {
    match step {
        Step::Relu | Step::Clip(..) | Step::Abs | Step::Max | Step::Min => within(0.0, 0.0),
        Step::LeakyRelu(_) | Step::Scale(_) | Step::Offset(_) => ROUNDED,
        Step::Add | Step::Sub | Step::Mul => ROUNDED,
        Step::Div | Step::Sqrt | Step::Reciprocal => NEARLY,
        // The rounding of the exponent counts for large ones.
        Step::Exp | Step::Sigmoid | Step::Swish | Step::Gelu | Step::GeluTanh => {
            within(3e-5, 1e-30)
        }
        Step::Elu(_) | Step::Tanh => within(4e-6, 1e-30),
        // Vulkan promises 2^-21 from 0.5 to 2; nearer to 1 the kernel has a way of its own.
        Step::Log => within(3e-6, 1e-37),
        _ => panic!("no tolerance for {step:?}"),
    }
}

/// Of sums relative to the sum of magnitudes.
pub fn of_reduction(reduction: Reduction) -> f64 {
    match reduction {
        Reduction::Max | Reduction::Min => 0.0,
        _ => 1e-6,
    }
}

pub const SOFTMAX: Tolerance = within(3e-5, 1e-30);
pub const LOG_SOFTMAX: Tolerance = within(2e-6, 2e-6);
/// Of rows normalised, whose elements are about 1.
pub const NORM: Tolerance = within(4e-6, 4e-6);
/// Relative to the weighted mean of magnitudes.
pub const ATTENTION: f64 = 2e-5;
/// Of a layer's rows, whose elements are about 1.
#[cfg(not(target_arch = "wasm32"))]
pub const LAYER: Tolerance = within(1e-4, 1e-4);
/// Relative to the sum of magnitudes of the products.
pub const PRODUCTS: f64 = 2e-6;

/// Whether a result is as near as it must be; NaN and infinities must be what they are.
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
