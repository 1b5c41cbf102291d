//! Jobs that unpack quantized weights, for products on matrix units.

use super::{QuantizedProduct, R, U, W, grid, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};

/// The kernel. CUDA alone runs it: other engines have no products for which weights are unpacked first.
static UNPACK: KernelInfo =
    super::kernel("tensor_unpack", shader!("tensor_unpack.wgsl"), &[R, W, U]);

/// Elements of an invocation, and of a workgroup.
const VECTOR: u64 = 4;
const BLOCK: u64 = 1024;

/// Returns the launch that computes [`Slot::Out`], the weights of a product, `[n, k]` of `f32`, from those in `B`; `None` if a buffer exceeds
/// a binding.
#[must_use]
pub fn unpack_job(what: &QuantizedProduct, max_binding_bytes: u64) -> Option<Job> {
    let n_weights = what.n.checked_mul(what.k)?;
    // The kernel counts bytes of packed weights and vectors of results in 32 bits.
    let n_packed = what.weight_bytes(n_weights).next_multiple_of(16);
    let n_bytes = padded_bytes(n_weights);
    let fits = n_packed.max(n_bytes) <= max_binding_bytes && n_packed < 1 << 32;
    if n_weights == 0 || !fits || n_weights / VECTOR > u64::from(u32::MAX) {
        return None;
    }
    let words = [what.n, what.k, what.k, 0, n_weights / VECTOR, 0, 0, 0];
    Some(Job {
        buffers: vec![(Slot::B, n_packed), (Slot::Out, n_bytes)],
        launches: vec![Launch {
            kernel: &UNPACK,
            overrides: vec![
                ("BITS", what.quantization.bits()),
                ("BFLOAT", what.is_bfloat.into()),
            ],
            grid: grid(n_weights.div_ceil(BLOCK)),
            args: vec![
                Arg::Buffer(Slot::B),
                Arg::Buffer(Slot::Out),
                Arg::Params(words.map(|n| n as u32).to_vec()),
            ],
        }],
    })
}
