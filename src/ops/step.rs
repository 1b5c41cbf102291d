//! Element-wise steps and reductions.

/// A step on an element x. NaN gives NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// max(x, 0)
    Relu,
    /// x above 0, else the number times x.
    LeakyRelu(f32),
    /// x above 0, else the number times (eˣ - 1).
    Elu(f32),
    /// 1 / (1 + e⁻ˣ)
    Sigmoid,
    /// tanh x
    Tanh,
    /// x / (1 + e⁻ˣ); 0 for -∞.
    Swish,
    /// x Φ(x), with Φ the integral of the normal distribution; 0 for -∞.
    Gelu,
    /// The approximation of [`Gelu`](Self::Gelu) by tanh: x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))); 0 for -∞.
    GeluTanh,
    /// min(max(x, first), second)
    Clip(f32, f32),
    /// x times the number.
    Scale(f32),
    /// x plus the number.
    Offset(f32),
    /// eˣ
    Exp,
    /// Natural logarithm.
    Log,
    /// √x
    Sqrt,
    /// |x|
    Abs,
    /// 1 / x
    Reciprocal,
    /// x plus the element of the second tensor.
    Add,
    /// x minus the element of the second tensor.
    Sub,
    /// x times the element of the second tensor.
    Mul,
    /// x over the element of the second tensor.
    Div,
    /// The larger of x and the element of the second tensor; NaN if one is.
    Max,
    /// The smaller of x and the element of the second tensor; NaN if one is.
    Min,
}

impl Step {
    /// Returns true if it takes a second tensor.
    #[must_use]
    pub const fn takes_two(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Max | Self::Min
        )
    }

    /// The number that the kernel knows it by.
    #[cfg(gpu_engine)]
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Relu => 1,
            Self::LeakyRelu(_) => 2,
            Self::Elu(_) => 3,
            Self::Sigmoid => 4,
            Self::Tanh => 5,
            Self::Swish => 6,
            Self::Gelu => 7,
            Self::GeluTanh => 8,
            Self::Clip(..) => 9,
            Self::Scale(_) => 10,
            Self::Offset(_) => 11,
            Self::Exp => 12,
            Self::Log => 13,
            Self::Sqrt => 14,
            Self::Abs => 15,
            Self::Reciprocal => 16,
            Self::Add => 32,
            Self::Sub => 33,
            Self::Mul => 34,
            Self::Div => 35,
            Self::Max => 36,
            Self::Min => 37,
        }
    }

    /// The step that JavaScript knows by this name, with as many numbers as it takes.
    #[cfg(web_tensor)]
    pub(crate) fn named(name: &str, numbers: &[f32]) -> Option<Self> {
        Some(match (name, numbers) {
            ("relu", []) => Self::Relu,
            ("leakyRelu", &[factor]) => Self::LeakyRelu(factor),
            ("elu", &[factor]) => Self::Elu(factor),
            ("sigmoid", []) => Self::Sigmoid,
            ("tanh", []) => Self::Tanh,
            ("swish", []) => Self::Swish,
            ("gelu", []) => Self::Gelu,
            ("geluTanh", []) => Self::GeluTanh,
            ("clip", &[min, max]) => Self::Clip(min, max),
            ("scale", &[factor]) => Self::Scale(factor),
            ("offset", &[term]) => Self::Offset(term),
            ("exp", []) => Self::Exp,
            ("log", []) => Self::Log,
            ("sqrt", []) => Self::Sqrt,
            ("abs", []) => Self::Abs,
            ("reciprocal", []) => Self::Reciprocal,
            ("add", []) => Self::Add,
            ("sub", []) => Self::Sub,
            ("mul", []) => Self::Mul,
            ("div", []) => Self::Div,
            ("max", []) => Self::Max,
            ("min", []) => Self::Min,
            _ => return None,
        })
    }

    /// The numbers that it takes; 0 for those it does not.
    #[cfg(gpu_engine)]
    pub(crate) const fn numbers(self) -> [f32; 2] {
        match self {
            Self::LeakyRelu(x) | Self::Elu(x) | Self::Scale(x) | Self::Offset(x) => [x, 0.0],
            Self::Clip(low, high) => [low, high],
            _ => [0.0; 2],
        }
    }
}

/// A reduction of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum; 0 of none.
    Sum,
    /// The largest; NaN if one is, -∞ of none.
    Max,
    /// The smallest; NaN if one is, +∞ of none.
    Min,
    /// The sum of products with the elements of a second tensor; 0 of none. Of rows only.
    Dot,
    /// The sum of squares; 0 of none.
    SumOfSquares,
}

impl Reduction {
    /// The reduction of no elements.
    #[must_use]
    pub const fn of_none(self) -> f32 {
        match self {
            Self::Sum | Self::Dot | Self::SumOfSquares => 0.0,
            Self::Max => f32::NEG_INFINITY,
            Self::Min => f32::INFINITY,
        }
    }

    /// Returns the reduction of one tensor that this one is with both factors the same.
    #[cfg(gpu_engine)]
    pub(crate) const fn of_one(self) -> Self {
        match self {
            Self::Dot => Self::SumOfSquares,
            other => other,
        }
    }

    /// Returns the reduction of the results of parts.
    #[must_use]
    pub const fn of_parts(self) -> Self {
        match self {
            Self::Dot | Self::SumOfSquares => Self::Sum,
            other => other,
        }
    }

    /// The number that the kernels know it by.
    #[cfg(gpu_engine)]
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Sum => 0,
            Self::Max => 1,
            Self::Min => 2,
            Self::Dot => 3,
            Self::SumOfSquares => 4,
        }
    }
}
