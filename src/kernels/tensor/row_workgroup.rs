//! [`RowWorkgroup`]: the workgroups of kernels that hold whole rows in registers.

use super::{grid, previous_power_of_two, type_override};
use crate::kernels::{Limits, Registers};
use crate::ops::DType;

/// Maximum length of rows whose invocations hold as many elements as they can, so that a reduction has fewer steps.
const SHORT: u64 = 2048;

/// Workgroup memory of an invocation: two turns of a maximum and of a sum, of 4 bytes each.
const REDUCED_BYTES: u32 = 16;

/// A workgroup of a kernel that reduces rows and writes them again: softmax or a norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowWorkgroup {
    /// The invocations of a row hold it in registers. Else the workgroup has one row, and reads it several times.
    pub(super) is_held: bool,
    /// Invocations of a row: a power of two.
    width: u64,
    threads: u64,
    /// Vectors of four elements that an invocation holds.
    held4: u32,
}

impl RowWorkgroup {
    /// Returns the workgroup for rows of a length.
    pub(super) fn new(cols: u64, limits: Limits) -> Self {
        // Compilers give fewer registers to the invocations of larger workgroups.
        let (widest, held4) = match limits.registers {
            Registers::Fewest => (256, 3),
            Registers::Few => (256, 8),
            Registers::Usual | Registers::Many => (1024, 8),
        };
        // Maximum number of elements that an invocation keeps in registers.
        let held = 4 * u64::from(held4);
        let most = limits
            .invocations
            .min(limits.workgroup_bytes / REDUCED_BYTES)
            .min(widest);
        let most = previous_power_of_two(most.into());
        let each = if cols <= SHORT { held } else { held / 2 };
        let width = cols.div_ceil(each).next_power_of_two();
        let is_held = cols <= held * most;
        let (width, threads) = match is_held {
            true => (width.min(most), width.clamp(64, most.max(64))),
            false => (most.min(256), most.min(256)),
        };
        Self {
            is_held,
            width,
            threads,
            held4,
        }
    }

    /// Returns the overrides of a kernel for rows of a type: these, and its own.
    pub(super) fn overrides<const N: usize>(
        self,
        dtype: DType,
        own: [(&'static str, u32); N],
    ) -> Vec<(&'static str, u32)> {
        let shared = [
            ("WIDTH", self.width as u32),
            ("THREADS", self.threads as u32),
            ("HELD4", self.held4),
        ];
        let shared = shared.into_iter().chain(type_override(dtype));
        shared.chain(own).collect()
    }

    /// Returns the grid for a number of rows.
    pub(super) fn grid(self, rows: u64) -> [u32; 3] {
        grid(rows.div_ceil(self.threads / self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Devices have limits such as 384 or 896, while the kernel halves the invocations of a row until one is left.
    #[test]
    fn invocations_of_a_row_are_a_power_of_two_within_any_limit() {
        for invocations in 64..=1200 {
            for cols in [1, 64, 1000, 4096, 9000, 20_000, 28_000, 100_000] {
                let limits = Limits {
                    invocations,
                    workgroup_bytes: 49_152,
                    ..Limits::WEBGPU
                };
                let RowWorkgroup { width, threads, .. } = RowWorkgroup::new(cols, limits);
                let most = u64::from(invocations);
                let fits = width <= threads && threads <= most && threads % width == 0;
                assert!(
                    width.is_power_of_two() && fits,
                    "{invocations}, {cols}: {width} of {threads}"
                );
            }
        }
    }
}
