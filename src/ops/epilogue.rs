//! Epilogues of matrix products.

use super::Step;

/// A function of each element of a matrix product. NaN is propagated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activation {
    /// [`Step::Relu`]
    Relu,
    /// [`Step::Sigmoid`]
    Sigmoid,
    /// [`Step::Tanh`]
    Tanh,
    /// [`Step::Swish`], also known as SiLU.
    Swish,
    /// [`Step::Gelu`]
    Gelu,
    /// [`Step::GeluTanh`]
    GeluTanh,
}

impl Activation {
    /// Returns the element-wise step that computes the same.
    #[must_use]
    pub const fn step(self) -> Step {
        match self {
            Self::Relu => Step::Relu,
            Self::Sigmoid => Step::Sigmoid,
            Self::Tanh => Step::Tanh,
            Self::Swish => Step::Swish,
            Self::Gelu => Step::Gelu,
            Self::GeluTanh => Step::GeluTanh,
        }
    }

    /// Returns the activation with this JavaScript name; `None` if there is none.
    #[cfg(web_tensor)]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "relu" => Self::Relu,
            "sigmoid" => Self::Sigmoid,
            "tanh" => Self::Tanh,
            "swish" => Self::Swish,
            "gelu" => Self::Gelu,
            "geluTanh" => Self::GeluTanh,
            _ => return None,
        })
    }
}

/// Operations on the elements of a matrix product `[.., m, n]` before they are stored:
/// `activation(product + bias) + residual`. `T` is the type of tensors of the surface: a reference to a tensor, a slice,
/// or an id of a batch.
///
/// ```
/// use pagepress::tensor::{Activation, Epilogue, cpu};
/// let epilogue = Epilogue {
///     bias: Some(&[1.0, -8.0][..]),
///     activation: Some(Activation::Relu),
///     ..Epilogue::default()
/// };
/// let mut c = [0.0; 2];
/// cpu::matmul_with_epilogue(&[1.0, 2.0], &[3.0, 4.0, 5.0, 0.5], epilogue, &mut c, [1, 2, 2])?;
/// assert_eq!(c, [14.0, 0.0]);
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epilogue<T> {
    /// A number that is added to the elements of each column: `[n]`.
    pub bias: Option<T>,
    /// A function of the elements after the bias was added.
    pub activation: Option<Activation>,
    /// Elements that are added after the activation, in the shape of the product.
    pub residual: Option<T>,
}

impl<T> Default for Epilogue<T> {
    /// Returns the epilogue that changes nothing.
    fn default() -> Self {
        Self {
            bias: None,
            activation: None,
            residual: None,
        }
    }
}

impl<T> Epilogue<T> {
    /// Returns true if the epilogue changes nothing.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.bias.is_none() && self.activation.is_none() && self.residual.is_none()
    }

    /// Returns the epilogue without its tensors.
    #[cfg(gpu_engine)]
    pub(crate) fn form(&self) -> Epilogue<()> {
        Epilogue {
            bias: self.bias.as_ref().map(|_| ()),
            activation: self.activation,
            residual: self.residual.as_ref().map(|_| ()),
        }
    }

    /// Returns the tensors: the bias, then the residual.
    #[cfg(gpu_engine)]
    pub(crate) fn tensors(self) -> impl Iterator<Item = T> {
        self.bias.into_iter().chain(self.residual)
    }
}

#[cfg(gpu_engine)]
impl Epilogue<()> {
    /// Returns the epilogue with the next tensors of a list: the bias, then the residual. A missing one is left out.
    pub(crate) fn with<T>(self, mut given: impl Iterator<Item = T>) -> Epilogue<T> {
        Epilogue {
            bias: self.bias.and_then(|()| given.next()),
            activation: self.activation,
            residual: self.residual.and_then(|()| given.next()),
        }
    }
}
