//! Element-wise operations of [`GpuCommandBatch`].

use super::batch::{BufferId, GpuCommandBatch};
use crate::tensor::Step;

/// Element-wise operations.
impl GpuCommandBatch {
    /// Computes max(x, 0) of each element x.
    pub fn relu(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Relu], a, None)
    }

    /// Computes x if x > 0, else `alpha` x.
    pub fn leaky_relu(&mut self, a: BufferId, alpha: f32) -> BufferId {
        self.apply(&[Step::LeakyRelu(alpha)], a, None)
    }

    /// Computes x if x > 0, else `alpha` (eˣ - 1).
    pub fn elu(&mut self, a: BufferId, alpha: f32) -> BufferId {
        self.apply(&[Step::Elu(alpha)], a, None)
    }

    /// Computes 1 / (1 + e⁻ˣ).
    pub fn sigmoid(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Sigmoid], a, None)
    }

    /// Computes tanh x.
    pub fn tanh(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Tanh], a, None)
    }

    /// Computes x / (1 + e⁻ˣ).
    pub fn swish(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Swish], a, None)
    }

    /// Computes x Φ(x), where Φ is the cumulative distribution function of the standard normal distribution.
    pub fn gelu(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Gelu], a, None)
    }

    /// Clamps each element to `min..=max`.
    pub fn clip(&mut self, a: BufferId, min: f32, max: f32) -> BufferId {
        self.apply(&[Step::Clip(min, max)], a, None)
    }

    /// Multiplies each element by `factor`.
    pub fn scale(&mut self, a: BufferId, factor: f32) -> BufferId {
        self.apply(&[Step::Scale(factor)], a, None)
    }

    /// Adds two tensors, element by element; their shapes are broadcast to each other.
    pub fn add(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Add], a, Some(b))
    }

    /// Subtracts `b` from `a`, element by element; their shapes are broadcast to each other.
    pub fn sub(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Sub], a, Some(b))
    }

    /// Multiplies two tensors, element by element; their shapes are broadcast to each other.
    pub fn mul(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Mul], a, Some(b))
    }

    /// Divides `a` by `b`, element by element; their shapes are broadcast to each other.
    pub fn div(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Div], a, Some(b))
    }
}
