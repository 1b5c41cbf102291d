//! [`SoftmaxKernel`]: softmax over rows.

use super::{Kernel, check_sizes};
use crate::Result;
use crate::kernels::tensor::softmax_launch;
use crate::kernels::{Arg, Launch, Limits, Slot};
use crate::ops::DType;

/// Numerically stable softmax of each row of `[rows, cols]`. Arguments: the rows and the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoftmaxKernel {
    rows: u32,
    cols: u32,
    log: bool,
}

impl SoftmaxKernel {
    /// Creates a kernel that computes eˣ divided by the sum of all eˣ of the row.
    #[must_use]
    pub const fn new(rows: u32, cols: u32) -> Self {
        Self {
            rows,
            cols,
            log: false,
        }
    }

    /// Computes the logarithm of the softmax instead.
    #[must_use]
    pub const fn log(self) -> Self {
        Self { log: true, ..self }
    }
}

impl Kernel for SoftmaxKernel {
    fn launch(&self) -> Result<Launch> {
        check_sizes("shape", &[&[self.rows, self.cols]])?;
        let size = [self.rows.into(), self.cols.into()];
        let args = [Slot::A, Slot::Out].map(Arg::Buffer);
        let limits = Limits::WEBGPU;
        Ok(softmax_launch(DType::F32, size, self.log, limits, args, 0))
    }
}
