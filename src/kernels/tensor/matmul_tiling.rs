//! Tiles of matrix products in f32, and the choice among them.

use super::matmul_launch::{MAX_SLICE, Product};
use super::matmul_time::{MIN_SLICE, SLICES, time};
use crate::kernels::{Limits, Registers, pace};

/// Limits of a device that decide the tiles of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileLimits {
    /// Maximum number of invocations of a workgroup.
    pub(super) invocations: u32,
    /// Workgroup memory that one workgroup may use without a loss of occupancy, in bytes.
    pub(super) workgroup_bytes: u32,
    /// Number of compute units, for GPUs with registers for wide tiles; `None` for others.
    pub(super) wide_units: Option<u32>,
    /// Registers of an invocation, which limit its part of a tile.
    pub(super) registers: Registers,
    /// Maximum number of multiply-adds of a launch.
    pub(super) most_terms: u64,
}

/// Tile configuration of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Invocations along n and m.
    pub(super) lanes: [u64; 2],
    /// Groups of four columns and rows per invocation.
    pub(super) groups: [u64; 2],
    /// Groups of invocations that share the terms of a step.
    pub(super) groups_k: u64,
}

/// Tiles as high as they are wide, which take at most 16 KiB of workgroup memory.
pub(super) const SQUARE: [Tiling; 3] = [
    Tiling::new([16, 16], [2, 2], 1),
    Tiling::new([8, 16], [2, 1], 1),
    Tiling::new([8, 8], [1, 1], 1),
];

/// Tiles of 256 by 128, 128 by 64 and 64 by 32 columns and rows. They take 24, 24 and 12 KiB of workgroup memory, and 240, 170 and
/// 120 registers. With each the speed of large products in TFLOP/s, measured on an H200.
pub(super) const WIDE: [(Tiling, u64); 3] = [
    (Tiling::new([16, 16], [4, 2], 1), 47),
    (Tiling::new([16, 8], [2, 2], 2), 37),
    (Tiling::new([8, 8], [2, 1], 2), 28),
];

/// Workgroup memory of tiles on devices of unknown compute units: that of WebGPU, of which several workgroups fit.
const WORKGROUP_BYTES: u32 = 16 << 10;

/// Number of workgroups that keeps a large device busy.
const ENOUGH_TILES: u64 = 256;

impl Tiling {
    const fn new(lanes: [u64; 2], groups: [u64; 2], groups_k: u64) -> Self {
        Self {
            lanes,
            groups,
            groups_k,
        }
    }

    /// Returns the numbers of columns and rows of a tile.
    pub(super) const fn tile(self) -> [u64; 2] {
        [
            4 * self.lanes[0] * self.groups[0],
            4 * self.lanes[1] * self.groups[1],
        ]
    }

    /// Returns the number of terms of a step.
    pub(super) const fn depth(self) -> u64 {
        16 * self.groups_k
    }

    /// Returns the workgroup memory of one step, in bytes.
    pub(super) const fn step_bytes(self) -> u64 {
        let [cols, rows] = self.tile();
        4 * self.depth() * (rows + cols)
    }

    fn n_tiles(self, what: &Product) -> u64 {
        let [cols, rows] = self.tile();
        what.n.div_ceil(cols) * what.m.div_ceil(rows) * what.batch
    }

    /// Returns the length of each of at most `slices` slices of k.
    fn k_slice(self, k: u64, slices: u64) -> u64 {
        k.div_ceil(slices.max(1)).next_multiple_of(self.depth())
    }
}

impl TileLimits {
    /// Returns the limits of a device.
    pub(super) fn of(limits: Limits) -> Self {
        let most = limits.workgroup_bytes;
        let is_wide = limits.registers == Registers::Many;
        Self {
            invocations: limits.invocations,
            workgroup_bytes: match limits.compute_units {
                // Leaves room for two workgroups per compute unit, to hide latency.
                Some(units) => most.min(units.workgroup_bytes / 2),
                None if is_wide => most,
                None => most.min(WORKGROUP_BYTES),
            },
            wide_units: is_wide.then(|| limits.n_units()),
            registers: limits.registers,
            most_terms: pace::product_terms(limits.longest_submission),
        }
    }

    /// Returns the tiles of a product, and the length of its slices of k.
    pub(super) fn choose(self, what: &Product) -> (Tiling, u64) {
        let least = what.k.div_ceil(MAX_SLICE);
        let fastest = self.fastest(what, |tiling| {
            let slices = SLICES.into_iter();
            let slices = slices.filter(|&n| n == 1 || what.k / n >= MIN_SLICE);
            slices.map(move |n| tiling.k_slice(what.k, n.max(least)))
        });
        fastest.unwrap_or_else(|| {
            let tiling = self.square(what);
            let wanted = ENOUGH_TILES.div_ceil(tiling.n_tiles(what));
            let slices = wanted.min(what.k / MIN_SLICE).max(least);
            (tiling, tiling.k_slice(what.k, slices))
        })
    }

    /// Returns the tiles of a product whose k is not sliced, and its length in whole steps.
    pub(super) fn choose_whole(self, what: &Product) -> (Tiling, u64) {
        let whole = |tiling: Tiling| tiling.k_slice(what.k, 1);
        let fastest = self.fastest(what, |tiling| std::iter::once(whole(tiling)));
        fastest.unwrap_or_else(|| {
            let tiling = self.square(what);
            (tiling, whole(tiling))
        })
    }

    /// Returns the wide tiles and the length of slices, of those given for them, with the least estimated time; `None` for
    /// devices without them.
    fn fastest<I: Iterator<Item = u64>>(
        self,
        what: &Product,
        lengths: impl Fn(Tiling) -> I,
    ) -> Option<(Tiling, u64)> {
        let units = self.wide_units?.into();
        let mut found = None;
        for (tiling, speed) in WIDE {
            if !self.allow(tiling) {
                continue;
            }
            for k_slice in lengths(tiling) {
                let ns = time(what, tiling.tile(), speed, k_slice, units);
                if found.is_none_or(|(_, least)| ns < least) {
                    found = Some(((tiling, k_slice), ns));
                }
            }
        }
        found.map(|(choice, _)| choice)
    }

    /// Returns the largest square tiles that the device allows and of which there are enough to keep a large device busy.
    fn square(self, what: &Product) -> Tiling {
        let [large, medium, small] = SQUARE;
        if large.n_tiles(what) >= 200 && self.allow(large) {
            large
        } else if medium.n_tiles(what) >= 100 && self.allow(medium) {
            medium
        } else {
            small
        }
    }

    /// Returns true if a workgroup may have such tiles.
    fn allow(self, tiling: Tiling) -> bool {
        let [lanes_n, lanes_m] = tiling.lanes;
        let threads = lanes_n * lanes_m * tiling.groups_k;
        let parts: u64 = tiling.groups.iter().product();
        // Groups of four rows and columns of an invocation; four take more than 64 registers.
        let most = match self.registers {
            Registers::Fewest => 1,
            Registers::Few => 2,
            Registers::Usual | Registers::Many => u64::MAX,
        };
        parts <= most
            && threads <= self.invocations.into()
            && tiling.step_bytes() <= self.workgroup_bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invocations_suffice_for_the_blocks_of_a_tile() {
        for tiling in SQUARE.into_iter().chain(WIDE.map(|(tiling, _)| tiling)) {
            let [cols, rows] = tiling.tile();
            let threads = tiling.lanes[0] * tiling.lanes[1] * tiling.groups_k;
            let blocks = [rows, cols].map(|n| n / 4 * tiling.depth() / 4);
            assert!(blocks.iter().all(|&n| n <= threads), "{tiling:?}");
            assert!(blocks[0] + blocks[1] >= threads, "{tiling:?}");
            // Blocks of 8 by 4, subgroups of 8 by 4 invocations.
            assert_eq!(rows % 32 + cols % 32, 0, "{tiling:?}");
            assert_eq!(tiling.lanes[0] % 8 + tiling.lanes[1] % 4, 0, "{tiling:?}");
        }
    }

    #[test]
    fn tiles_are_within_the_limits_of_the_device() {
        let all = [
            Registers::Fewest,
            Registers::Few,
            Registers::Usual,
            Registers::Many,
        ];
        for registers in all {
            for (invocations, workgroup_bytes) in [(64, 8 << 10), (128, 16 << 10), (1024, 32 << 10)]
            {
                let limits = TileLimits::of(Limits {
                    invocations,
                    workgroup_bytes,
                    registers,
                    ..Limits::WEBGPU
                });
                for [m, n, k] in [[1, 1, 1], [4096; 3], [16, 16, 1 << 20]] {
                    let what = Product::dense(1, m, n, k);
                    for (tiling, _) in [limits.choose(&what), limits.choose_whole(&what)] {
                        assert!(limits.allow(tiling), "{limits:?} {tiling:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiles_fill_the_device() {
        let limits = TileLimits {
            invocations: 1024,
            workgroup_bytes: 48 << 10,
            registers: Registers::Many,
            wide_units: Some(132),
            most_terms: u64::MAX,
        };
        let choice = |m, n, k| {
            let what = Product::dense(1, m, n, k);
            let (tiling, k_slice) = limits.choose(&what);
            (tiling.tile()[1], k.div_ceil(k_slice))
        };
        assert_eq!(choice(4096, 4096, 4096), (128, 1));
        assert_eq!(choice(2048, 2048, 2048), (128, 1));
        assert_eq!(choice(1024, 1024, 1024), (64, 1));
        assert_eq!(choice(512, 512, 512), (32, 1));
        // Few tiles, and many terms.
        assert!(choice(128, 128, 16_384).1 > 1);
        let narrow = TileLimits {
            workgroup_bytes: 16 << 10,
            ..limits
        };
        assert_eq!(
            narrow.choose(&Product::dense(1, 4096, 4096, 4096)).0,
            WIDE[2].0
        );
    }

    #[test]
    fn slices_are_whole_steps_of_limited_length() {
        for wide_units in [None, Some(1), Some(132)] {
            let limits = TileLimits {
                invocations: 256,
                workgroup_bytes: 48 << 10,
                registers: Registers::Many,
                wide_units,
                most_terms: u64::MAX,
            };
            for [m, n, k] in [
                [1, 1, 1],
                [33, 5, 1 << 20],
                [4096, 4096, 300],
                [7, 9, 70_000],
            ] {
                let (tiling, k_slice) = limits.choose(&Product::dense(1, m, n, k));
                assert!(k_slice.is_multiple_of(tiling.depth()));
                assert!(k_slice <= MAX_SLICE);
            }
        }
    }
}
