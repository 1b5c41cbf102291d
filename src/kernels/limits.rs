//! [`Limits`]: the limits of a device, from which the sizes of workgroups and tiles follow.

use std::time::Duration;

use super::ComputeUnits;

/// Limits of a device that decide which kernels a job launches, with which workgroups and tiles, and in how many parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a binding in bytes.
    pub binding_bytes: u64,
    /// Maximum number of invocations of a workgroup, 64 or more.
    pub invocations: u32,
    /// Maximum workgroup memory of a workgroup in bytes, 8 KiB or more.
    pub workgroup_bytes: u32,
    /// Number of invocations of the smallest subgroup; 0 if unknown.
    pub subgroup: u32,
    /// Registers of an invocation.
    pub registers: Registers,
    /// The compute units, if known.
    pub compute_units: Option<ComputeUnits>,
    /// The time that a submission may take on a device that may be slow; `None` for no bound.
    pub longest_submission: Option<Duration>,
}

/// Number of registers of an invocation up to which compilers do not spill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Registers {
    /// 64, of which 32 leave all threads of a core their own.
    Fewest,
    /// About 64 to 96.
    Few,
    /// About 128.
    Usual,
    /// About 255.
    Many,
}

impl Registers {
    /// Returns the override with which kernels load more before they use any of it, where the registers suffice.
    pub(crate) fn ahead(self) -> (&'static str, u32) {
        ("AHEAD", (self > Self::Fewest).into())
    }
}

/// Storage buffers of the crate's kernels that every engine runs, at most.
pub(crate) const STORAGE_BUFFERS: u32 = 6;

/// Number of compute units that is assumed where it is unknown.
const UNITS: u32 = 128;

impl Limits {
    /// Returns the number of compute units, or the one that is assumed.
    pub(crate) fn n_units(self) -> u32 {
        self.compute_units.map_or(UNITS, |units| units.n)
    }

    /// The default limits of WebGPU.
    pub const WEBGPU: Self = Self {
        binding_bytes: 128 << 20,
        invocations: 256,
        workgroup_bytes: 16 << 10,
        subgroup: 0,
        registers: Registers::Usual,
        compute_units: None,
        longest_submission: None,
    };

    /// The lowest limits that all kernels run within.
    pub const LEAST: Self = Self {
        invocations: 64,
        workgroup_bytes: 8 << 10,
        registers: Registers::Fewest,
        ..Self::WEBGPU
    };

    /// Returns the default limits of WebGPU, but for the size of bindings.
    #[must_use]
    pub const fn of_bindings(binding_bytes: u64) -> Self {
        Self {
            binding_bytes,
            ..Self::WEBGPU
        }
    }

    /// Returns the number of invocations of a workgroup: `preferred`, which is a power of two, or the largest lower one that the
    /// device allows.
    pub(super) fn width(&self, preferred: u32) -> u32 {
        preferred.min(1 << self.invocations.max(1).ilog2())
    }

    /// Returns the number of invocations of a workgroup of one subgroup: 64 where subgroups have no fewer, so that none are idle, else
    /// 32.
    pub(super) const fn subgroup_width(&self) -> u32 {
        if self.subgroup >= 64 { 64 } else { 32 }
    }

    /// Returns true if a workgroup may have this many invocations and bytes of workgroup memory.
    pub(super) const fn allow(&self, invocations: u32, workgroup_bytes: u32) -> bool {
        invocations <= self.invocations && workgroup_bytes <= self.workgroup_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_powers_of_two_within_the_limit() {
        let width = |invocations| {
            let limits = Limits {
                invocations,
                ..Limits::WEBGPU
            };
            limits.width(256)
        };
        let found = [64, 100, 128, 255, 256, 384, 1024].map(width);
        assert_eq!(found, [64, 64, 128, 128, 256, 256, 256]);
    }
}
