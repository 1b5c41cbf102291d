//! Amounts of work of operations, for cost estimates.

use super::Op;
use crate::tensor::{Shape, Step};

/// Classes of operations, each with its own cost per unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Memory-bound operations, which read and write each element once. They are measured in bytes.
    Stream,
    /// Functions of elements, such as eˣ. A unit is one evaluation.
    Functions,
    /// Matrix products. A unit is one multiply-add.
    Products,
    /// Convolutions. A unit is one multiply-add.
    Convolutions,
}

impl Class {
    /// All classes, in the order of their discriminants.
    pub(crate) const ALL: [Self; 4] = [
        Self::Stream,
        Self::Functions,
        Self::Products,
        Self::Convolutions,
    ];
}

/// Amount of work of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    pub class: Class,
    /// Bytes of input and output.
    pub n_bytes: f64,
    /// Number of units of the class.
    pub n_units: f64,
}

/// Number of cheap steps that cost as much as one function.
const CHEAP_STEPS: f64 = 8.0;

impl Work {
    pub(crate) fn new(class: Class, n_elements: usize, n_units: f64) -> Self {
        Self {
            class,
            n_bytes: 4.0 * n_elements as f64,
            n_units,
        }
    }

    /// Returns the work of steps that read `n_read` elements and write `n`.
    fn elementwise(steps: &[Step], n: usize, n_read: usize) -> Self {
        let n_cheap = steps.iter().filter(|step| step.is_cheap()).count();
        let n_functions = (steps.len() - n_cheap) as f64;
        if n_functions == 0.0 && n_cheap <= 1 {
            return Self::new(Class::Stream, n_read + n, 0.0);
        }
        let n_units = n as f64 * (n_functions + n_cheap as f64 / CHEAP_STEPS);
        Self::new(Class::Functions, n_read + n, n_units)
    }

    /// Returns the work of a product of `[m, k]` and `[k, n]`.
    pub(crate) fn matmul(m: usize, k: usize, n: usize) -> Self {
        let [m, k, n] = [m, k, n].map(|size| size as f64);
        Self {
            class: Class::Products,
            n_bytes: 4.0 * (m * k + k * n + m * n),
            n_units: m * k * n,
        }
    }
}

impl Op {
    /// Returns the work of the operation for these shapes of the inputs and the result.
    pub(crate) fn work(&self, inputs: &[&Shape], result: &Shape) -> Work {
        let n_read = inputs.iter().map(|shape| shape.n_elements()).sum();
        let n_out = result.n_elements();
        let cols = |i: usize| {
            let dims = inputs.get(i).and_then(|shape| shape.dims().last());
            dims.copied().unwrap_or(1)
        };
        match self {
            Self::Elementwise(steps) => Work::elementwise(steps, n_out, n_read),
            Self::Softmax { .. } => Work::new(Class::Functions, n_read + n_out, n_out as f64),
            Self::Reduce(..) | Self::Rotary { .. } => Work::new(Class::Stream, n_read + n_out, 0.0),
            Self::Dot => Work::new(Class::Stream, n_read, 0.0),
            Self::Matmul(..) => {
                let k = cols(0);
                Work::matmul(n_out / cols(1).max(1), k, cols(1))
            }
            Self::Convolve2d => {
                let n_kernel = inputs.get(1).map_or(0, |kernel| kernel.n_elements());
                let n_units = n_out as f64 * n_kernel as f64;
                Work::new(Class::Convolutions, n_read + n_out, n_units)
            }
            Self::Norm { .. } => {
                let n_units = n_out as f64 * 2.0 / CHEAP_STEPS;
                Work::new(Class::Functions, n_read + n_out, n_units)
            }
            Self::Attention(what) => {
                let n_keys = inputs.get(1).map_or(0, |keys| {
                    let rank = keys.rank().max(2);
                    keys.dims().get(rank - 2).copied().unwrap_or(0)
                });
                let n_keys = what.window.map_or(n_keys, |n| n.min(n_keys));
                let n_units = 2.0 * n_out as f64 * n_keys as f64;
                Work::new(Class::Products, n_read + n_out, n_units)
            }
            Self::MatmulQuantized { size: [_, k], .. } => {
                let n_units = n_out as f64 * *k as f64;
                Work::new(Class::Products, n_read + n_out, n_units)
            }
        }
    }
}

impl Step {
    /// Returns true if processors compute the step in one or two instructions.
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
    use crate::tensor::layer::Attention;

    #[test]
    fn single_cheap_steps_are_memory_bound() {
        let of = |steps: &[Step]| Work::elementwise(steps, 100, 200);
        assert_eq!(of(&[Step::Add]), Work::new(Class::Stream, 300, 0.0));
        assert_eq!(of(&[]), Work::new(Class::Stream, 300, 0.0));
        let both = of(&[Step::Gelu, Step::Mul]);
        assert_eq!(both, Work::new(Class::Functions, 300, 112.5));
        assert_eq!(Work::matmul(usize::MAX, 2, 1).class, Class::Products);
    }

    #[test]
    fn attention_costs_the_keys_of_its_window() {
        let shape = Shape::new(&[2, 100, 8]).unwrap();
        let units = |window| {
            let what = Attention {
                causal: true,
                window,
                ..Attention::default()
            };
            Op::Attention(what).work(&[&shape; 3], &shape).n_units
        };
        assert_eq!(units(None), 2.0 * 1600.0 * 100.0);
        assert_eq!(units(Some(30)), 2.0 * 1600.0 * 30.0);
        assert_eq!(units(Some(300)), units(None));
    }
}
