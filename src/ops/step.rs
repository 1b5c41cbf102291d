//! Element-wise steps and reductions.

/// An element-wise operation on x, an element of the first tensor. NaN is propagated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// max(x, 0)
    Relu,
    /// x if x > 0, else the number times x.
    LeakyRelu(f32),
    /// x if x > 0, else the number times (eˣ - 1).
    Elu(f32),
    /// 1 / (1 + e⁻ˣ)
    Sigmoid,
    /// tanh x
    Tanh,
    /// x / (1 + e⁻ˣ); 0 for -∞.
    Swish,
    /// x Φ(x), where Φ is the cumulative distribution function of the standard normal distribution; 0 for -∞.
    Gelu,
    /// The tanh approximation of [`Gelu`](Self::Gelu): x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))); 0 for -∞.
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
    /// log(1 + x), accurate near x = 0.
    Log1p,
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
    /// x divided by the element of the second tensor.
    Div,
    /// The maximum of x and the element of the second tensor; NaN if either is NaN.
    Max,
    /// The minimum of x and the element of the second tensor; NaN if either is NaN.
    Min,
}

impl Step {
    /// Returns true if the step has two operands.
    #[must_use]
    pub const fn takes_two(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Max | Self::Min
        )
    }

    /// Returns the code of the step in the kernel.
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
            Self::Log1p => 17,
            Self::Add => 32,
            Self::Sub => 33,
            Self::Mul => 34,
            Self::Div => 35,
            Self::Max => 36,
            Self::Min => 37,
        }
    }

    /// Returns the step with this JavaScript name and these parameters; `None` if there is none.
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
            ("log1p", []) => Self::Log1p,
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

    /// Returns the parameters of the step; 0 for unused ones.
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
    /// Sum; 0 of no elements.
    Sum,
    /// Maximum; NaN if any element is NaN, -∞ of no elements.
    Max,
    /// Minimum; NaN if any element is NaN, +∞ of no elements.
    Min,
    /// Sum of products with the elements of a second tensor; 0 of no elements. For rows only.
    Dot,
    /// Sum of squares; 0 of no elements.
    SumOfSquares,
}

impl Reduction {
    /// Returns the result for no elements.
    #[must_use]
    pub const fn of_none(self) -> f32 {
        match self {
            Self::Sum | Self::Dot | Self::SumOfSquares => 0.0,
            Self::Max => f32::NEG_INFINITY,
            Self::Min => f32::INFINITY,
        }
    }

    /// Returns the equivalent reduction of one tensor that is both operands: the sum of squares for [`Dot`](Self::Dot).
    #[cfg(gpu_engine)]
    pub(crate) const fn of_one(self) -> Self {
        match self {
            Self::Dot => Self::SumOfSquares,
            other => other,
        }
    }

    /// Returns the reduction that combines the results of parts.
    #[must_use]
    pub const fn of_parts(self) -> Self {
        match self {
            Self::Dot | Self::SumOfSquares => Self::Sum,
            other => other,
        }
    }

    /// Returns the code of the reduction in the kernels.
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
