//! [`LayerNormKernel`]: normalisation of rows.

use super::{Kernel, check_sizes};
use crate::Result;
use crate::kernels::tensor::norm_launch;
use crate::kernels::{Arg, Launch, Limits, Slot};
use crate::ops::{DType, Norm};

/// Normalisation of each row of `[rows, cols]`. Arguments: the rows, a weight and a bias with an element per column,
/// and the result. If there is no weight or bias, the rows are passed again in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNormKernel {
    rows: u32,
    cols: u32,
    norm: Norm,
    has_weight: bool,
    has_bias: bool,
}

impl LayerNormKernel {
    /// Creates a layer norm with weight and bias: (x - mean) / √(variance + 10⁻⁵) · weight + bias.
    #[must_use]
    pub const fn new(rows: u32, cols: u32) -> Self {
        Self {
            rows,
            cols,
            norm: Norm::Layer { epsilon: 1e-5 },
            has_weight: true,
            has_bias: true,
        }
    }

    /// Sets the kind of norm.
    #[must_use]
    pub const fn with_norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// Selects whether there are a weight and a bias.
    #[must_use]
    pub const fn with_columns(self, has_weight: bool, has_bias: bool) -> Self {
        Self {
            has_weight,
            has_bias,
            ..self
        }
    }
}

impl Kernel for LayerNormKernel {
    fn launch(&self) -> Result<Launch> {
        check_sizes("shape", &[&[self.rows, self.cols]])?;
        let size = [self.rows.into(), self.cols.into()];
        let columns = [self.has_weight, self.has_bias];
        let args = [Slot::A, Slot::Out].map(Arg::Buffer);
        Ok(norm_launch(
            self.norm,
            DType::F32,
            size,
            columns,
            Limits::WEBGPU,
            args,
            0,
        ))
    }
}
