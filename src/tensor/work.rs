//! What an operation consists of, as far as its cost is concerned.

use super::step::Step;

/// Operations whose speed has one measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Elements read and written once: the memory limits it.
    Stream,
    /// Functions of elements, such as eˣ. A unit is one evaluation.
    Functions,
    /// Products of matrices. A unit is a multiplication with its addition.
    Products,
    /// Convolutions. The same.
    Convolutions,
}

impl Class {
    /// All of them, each at the place of its number.
    pub(super) const ALL: [Self; 4] = [
        Self::Stream,
        Self::Functions,
        Self::Products,
        Self::Convolutions,
    ];
}

/// What an operation consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Work {
    pub class: Class,
    /// Bytes in and out.
    pub n_bytes: f64,
    /// Units of the class.
    pub n_units: f64,
}

/// Steps that are as much work as one function.
const CHEAP_STEPS: f64 = 8.0;

impl Work {
    pub(super) fn new(class: Class, n_elements: usize, n_units: f64) -> Self {
        Self {
            class,
            n_bytes: 4.0 * n_elements as f64,
            n_units,
        }
    }

    /// Steps that make `n` elements of `n_read`.
    pub(super) fn elementwise(steps: &[Step], n: usize, n_read: usize) -> Self {
        let n_cheap = steps.iter().filter(|step| step.is_cheap()).count();
        let n_functions = (steps.len() - n_cheap) as f64;
        if n_functions == 0.0 && n_cheap <= 1 {
            return Self::new(Class::Stream, n_read + n, 0.0);
        }
        let n_units = n as f64 * (n_functions + n_cheap as f64 / CHEAP_STEPS);
        Self::new(Class::Functions, n_read + n, n_units)
    }

    /// The sum of `n` products.
    pub(super) fn dot(n: usize) -> Self {
        Self::new(Class::Stream, 2 * n, 0.0)
    }

    pub(super) fn softmax(n: usize) -> Self {
        Self::new(Class::Functions, 2 * n, n as f64)
    }

    /// `m` rows of `k` times `k` rows of `n`.
    pub(super) fn matmul(m: usize, k: usize, n: usize) -> Self {
        let [m, k, n] = [m, k, n].map(|size| size as f64);
        Self {
            class: Class::Products,
            n_bytes: 4.0 * (m * k + k * n + m * n),
            n_units: m * k * n,
        }
    }

    /// Elements of picture, kernel and result.
    pub(super) fn convolve2d(n_input: usize, n_kernel: usize, n_out: usize) -> Self {
        let n_units = n_out as f64 * n_kernel as f64;
        Self::new(Class::Convolutions, n_input + n_kernel + n_out, n_units)
    }

    pub(super) fn reduce(n: usize, n_out: usize) -> Self {
        Self::new(Class::Stream, n + n_out, 0.0)
    }
}

impl Step {
    /// Whether processors have an instruction or two for it.
    const fn is_cheap(self) -> bool {
        matches!(
            self,
            Self::Relu
                | Self::LeakyRelu(_)
                | Self::Clip(..)
                | Self::Scale(_)
                | Self::Offset(_)
                | Self::Sqrt
                | Self::Abs
                | Self::Reciprocal
        ) || self.takes_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_functions_or_the_memorys() {
        let of = |steps: &[Step]| Work::elementwise(steps, 100, 200);
        assert_eq!(of(&[Step::Add]), Work::new(Class::Stream, 300, 0.0));
        assert_eq!(of(&[]), Work::new(Class::Stream, 300, 0.0));
        let both = of(&[Step::Gelu, Step::Mul]);
        assert_eq!(both, Work::new(Class::Functions, 300, 112.5));
        assert_eq!(Work::matmul(usize::MAX, 2, 1).class, Class::Products);
    }
}
