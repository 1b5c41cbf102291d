//! Compiles WGSL for a device, once for each source.

use super::kernel::CudaKernel;
use super::shared::Shared;
use crate::Result;
use crate::gpu::backend::KernelSource;
use crate::ptx::{Bounds, PtxOptions, compile_wgsl};

/// Compute capabilities, times ten, that PTX is emitted for. Other GPUs use that of the next lower one.
const TARGETS: [u32; 4] = [75, 80, 90, 100];

/// Returns the kernel of `source` from the cache, or compiles it.
pub(super) fn compile(shared: &Shared, source: &KernelSource<'_>) -> Result<CudaKernel> {
    shared.check()?;
    if let Some(kernel) = shared.kernels.find(source) {
        return Ok(kernel);
    }
    let unchecked = shared.may_leave_out_checks && !source.is_checked();
    // Checks of indices do not cover addresses.
    let raw_addresses = source.has_addresses();
    let sm = target(shared.sm);
    let options = PtxOptions {
        overrides: source.overrides,
        sm,
        is_exact: sm == shared.sm,
        bounds: if unchecked {
            Bounds::Unchecked
        } else {
            Bounds::Clamp
        },
        clear_workgroup: source.is_cleared(),
        raw_addresses,
        halves_as_bfloat16: source.is_of_bfloat16(),
        floats_as_tf32: source.is_of_tf32(),
        waits_by_itself: true,
        ..PtxOptions::new(source.entry)
    };
    let ptx = compile_wgsl(source.wgsl, &options)?;
    let kernel = shared.loader().load(&ptx, source.bindings)?;
    shared.kernels.keep(source, kernel.clone());
    Ok(kernel)
}

/// Returns the PTX target for a GPU of compute capability `sm`.
fn target(sm: u32) -> u32 {
    let known = TARGETS.into_iter().rev().find(|&target| target <= sm);
    known.unwrap_or(TARGETS[0])
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn gpus_use_their_own_or_an_older_target() {
        assert_eq!(
            [75, 86, 89, 90, 103, 120].map(target),
            [75, 80, 80, 90, 100, 100]
        );
    }
}
