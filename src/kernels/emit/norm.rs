//! Normalisation of rows.

use super::{Kernel, check_sizes};
use crate::Result;
use crate::kernels::tensor::norm_launch;
use crate::kernels::{Arg, Launch, Slot};
use crate::ops::Norm;

/// Each row of `[rows, cols]` normalised: arguments are the rows, a weight and a bias for each column, and the result. Where
/// there is no weight or bias, its argument is the rows again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNormKernel {
    rows: u32,
    cols: u32,
    norm: Norm,
    has_weight: bool,
    has_bias: bool,
}

impl LayerNormKernel {
    /// (x - mean) / √(variance + 10⁻⁵), times a weight, plus a bias.
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

    /// Normalised so.
    #[must_use]
    pub const fn with_norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// With a weight and a bias, or without.
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
        Ok(norm_launch(self.norm, size, columns, args, 0))
    }
}
