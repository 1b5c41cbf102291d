//! Epilogues of matrix products, in the kernels of products and in a kernel that sums the slices of products.

use super::{R, THREADS, U, W, elements_of_binding, grid, kernel, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::Epilogue;

pub(super) static SUM: KernelInfo = kernel(
    "tensor_matmul_sum",
    shader!("tensor_matmul_sum.wgsl"),
    &[R, R, R, W, U],
);

/// A result of products, `[batch, m, n]`, and its epilogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Finish {
    pub(super) size: [u64; 3],
    pub(super) epilogue: Epilogue<()>,
}

impl Finish {
    fn n_out(&self) -> u64 {
        self.size.iter().product()
    }

    /// Returns the buffers that the epilogue adds to a job.
    pub(super) fn buffers(&self) -> impl Iterator<Item = (Slot, u64)> {
        let Epilogue { bias, residual, .. } = self.epilogue;
        let bias = bias.map(|()| (Slot::Bias, padded_bytes(self.size[2])));
        let residual = residual.map(|()| (Slot::Residual, padded_bytes(self.n_out())));
        bias.into_iter().chain(residual)
    }

    /// Returns the arguments of bias and residual; `other`, a buffer that the launch reads, where there is none.
    pub(super) fn args(&self, other: Slot) -> [Arg; 2] {
        let or_other = |given: Option<()>, slot| given.map_or(other, |()| slot);
        let bias = or_other(self.epilogue.bias, Slot::Bias);
        let residual = or_other(self.epilogue.residual, Slot::Residual);
        [bias, residual].map(Arg::Buffer)
    }

    /// Returns the overrides of a kernel with the epilogue.
    pub(super) fn overrides(&self) -> [(&'static str, u32); 3] {
        let Epilogue {
            bias,
            activation,
            residual,
        } = self.epilogue;
        [
            ("BIAS", bias.is_some().into()),
            ("ACTIVATION", activation.map_or(0, |it| it.step().code())),
            ("RESIDUAL", residual.is_some().into()),
        ]
    }

    /// Returns the launch that sums slices, `[batch, n_slices, m, n]`, in the buffer `from`, and applies the epilogue.
    pub(super) fn sum(&self, from: Slot, n_slices: u64, limits: Limits) -> Launch {
        let threads = limits.width(THREADS);
        let [_, m, n] = self.size;
        let [bias, residual] = self.args(from);
        let words = [self.n_out(), m * n, n, n_slices].map(|n| n as u32);
        let mut overrides = self.overrides().to_vec();
        overrides.push(("THREADS", threads));
        Launch {
            kernel: &SUM,
            overrides,
            grid: grid(self.n_out().div_ceil(4 * u64::from(threads))),
            args: vec![
                Arg::Buffer(from),
                bias,
                residual,
                Arg::Buffer(Slot::Out),
                Arg::Params(words.to_vec()),
            ],
        }
    }
}

/// Returns the launch that applies an epilogue to [`Slot::A`], a product `[m, n]`: [`Slot::Out`]. `None` for products that exceed a
/// binding, and for those without elements.
pub fn epilogue_job([m, n]: [u64; 2], epilogue: Epilogue<()>, limits: Limits) -> Option<Job> {
    let n_out = m.checked_mul(n)?;
    if n_out == 0 || n_out > elements_of_binding(limits.binding_bytes) {
        return None;
    }
    let finish = Finish {
        size: [1, m, n],
        epilogue,
    };
    let of_product = [Slot::A, Slot::Out].map(|slot| (slot, padded_bytes(n_out)));
    Some(Job {
        buffers: of_product.into_iter().chain(finish.buffers()).collect(),
        launches: vec![finish.sum(Slot::A, 1, limits)],
    })
}
