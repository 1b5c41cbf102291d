//! Forms of attention in f32: kernels, and tiles of their workgroups.

use super::attention_launch::{
    ATTENTION, ATTENTION_DECODE, ATTENTION_MANY, AttentionSize, KEYS, MAX_SPLIT,
};
use crate::kernels::{KernelInfo, Limits, Registers};

/// Kernel of attention, and what it computes in a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tiles {
    /// `tensor_attention` with overrides `THREADS` and `OWN_QUERIES`.
    Few([u32; 2]),
    /// `tensor_attention_many` with overrides `LANES_N`, `KEY_GROUPS` and `COL_GROUPS`.
    Many([u32; 3]),
    /// `tensor_attention_decode` with overrides `FOURS` and `FEWEST`.
    Decode([u32; 2]),
}

/// Tiles of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kernels) struct Form {
    /// Number of queries of a workgroup.
    pub(super) queries: u64,
    /// Number of keys that a workgroup processes per step.
    pub(super) keys: u64,
    /// Most columns of values of a workgroup.
    pub(super) columns: u64,
    /// Number of workgroups that keeps a large device busy.
    pub(super) enough_groups: u64,
    /// Number of keys that a workgroup processes at least where keys are split.
    pub(super) min_split: u64,
    tiles: Tiles,
}

impl Form {
    pub(super) const FEW: Self = Self {
        queries: 32,
        keys: KEYS,
        columns: 256,
        enough_groups: 256,
        min_split: 256,
        tiles: Tiles::Few([128, 4]),
    };
    /// For devices with less memory or fewer invocations than [`Self::FEW`] takes.
    pub(super) const FEWER: Self = Self {
        queries: 16,
        columns: 64,
        tiles: Tiles::Few([64, 4]),
        ..Self::FEW
    };
    /// For devices with too few registers for the sums of all columns.
    pub(super) const FEW_OF_128: Self = Self {
        columns: 128,
        ..Self::FEW
    };
    /// For the fewest registers: half as many queries.
    pub(super) const FEWEST: Self = Self {
        queries: 16,
        columns: 64,
        tiles: Tiles::Few([128, 2]),
        ..Self::FEW
    };
    pub(super) const MANY_OF_64: Self = Self::many(64, [16, 1, 1]);
    pub(super) const MANY_OF_128: Self = Self::many(64, [16, 1, 2]);
    pub(super) const KEPT_OF_64: Self = Self::many(128, [8, 2, 2]);
    pub(super) const KEPT_OF_128: Self = Self::many(64, [16, 2, 2]);
    /// Four workgroups fit on a multiprocessor of an H200, which has 132.
    pub(super) const DECODE: Self = Self {
        queries: 4,
        keys: 128,
        columns: 128,
        enough_groups: 512,
        min_split: 128,
        tiles: Tiles::Decode([1, 0]),
    };
    /// For keys and values of 16 bits: 16 bytes at a time.
    const DECODE_HALVES: Self = Self {
        tiles: Tiles::Decode([2, 0]),
        ..Self::DECODE
    };
    /// For the fewest registers.
    const DECODE_FEWEST: Self = Self {
        tiles: Tiles::Decode([1, 1]),
        ..Self::DECODE
    };
    /// Most bytes of workgroup memory of other forms than [`Self::FEWER`] and those that keep their queries there.
    const BYTES: u32 = 16 << 10;
    /// Bytes of workgroup memory of a form that keeps its queries there, and what a device reserves besides.
    const KEPT_BYTES: u32 = 47 << 10;
    /// Minimum number of workgroups of [`Self::KEPT_OF_64`]; twice as many with a causal mask, where half of them
    /// are short.
    const MIN_GROUPS: u64 = 256;

    const fn many(queries: u64, overrides: [u32; 3]) -> Self {
        Self {
            queries,
            tiles: Tiles::Many(overrides),
            ..Self::FEW
        }
    }

    /// Returns the fastest form on a device.
    pub(in crate::kernels) fn choose(what: &AttentionSize, limits: Limits) -> Self {
        if Self::decodes([what.n_q, what.n_k, what.dim], limits) {
            return Self::DECODE.unless_fewest(limits);
        }
        if !limits.allow(128, Self::BYTES) {
            return Self::FEWER;
        }
        match limits.registers {
            Registers::Fewest => return Self::FEWEST,
            Registers::Few => return Self::FEW_OF_128,
            Registers::Usual | Registers::Many => {}
        }
        // With fewer queries most of a tile would be empty. Subgroups of 64 invocations leave room for one with the registers of larger
        // tiles.
        if limits.subgroup >= 64 || what.n_q < 64 || what.dim > 128 {
            return Self::FEW;
        }
        let units = limits.compute_units;
        let keeps = units.is_some_and(|units| units.workgroup_bytes / 2 >= Self::KEPT_BYTES);
        let groups = what.n_q.div_ceil(Self::KEPT_OF_64.queries) * what.batch * what.heads;
        // With a window most workgroups are of one length.
        let is_uneven = what.causal && what.window.is_none();
        let fills = groups >= Self::MIN_GROUPS << u32::from(is_uneven);
        match (what.dim > 64, keeps) {
            (true, true) => Self::KEPT_OF_128,
            (true, false) => Self::MANY_OF_128,
            (false, true) if fills => Self::KEPT_OF_64,
            (false, _) => Self::MANY_OF_64,
        }
    }

    /// Returns true if `tensor_attention_decode` computes attention of `n_q` queries of `dim` elements to `n_k` keys.
    pub(super) const fn decodes([n_q, n_k, dim]: [u64; 3], limits: Limits) -> bool {
        let fits = n_q <= Self::DECODE.queries && n_k < 1 << 31 && dim <= 128;
        fits && limits.allow(256, Self::BYTES)
    }

    /// Returns the form of few queries to keys and values of 16 bits: 16 bytes at a time, where registers suffice.
    pub(super) const fn decode_halves(limits: Limits) -> Self {
        Self::DECODE_HALVES.unless_fewest(limits)
    }

    /// Returns this form of few queries, or that for the fewest registers on a device that has no more.
    const fn unless_fewest(self, limits: Limits) -> Self {
        match limits.registers {
            Registers::Fewest => Self::DECODE_FEWEST,
            Registers::Few | Registers::Usual | Registers::Many => self,
        }
    }

    /// Returns the number of splits of the keys that keep a large device busy, and the number of keys of one.
    pub(super) fn splits(self, what: &AttentionSize) -> [u64; 2] {
        let groups = what.n_q.div_ceil(self.queries) * what.batch * what.heads;
        let seen = what.seen_by(self.queries);
        let wanted = self
            .enough_groups
            .div_ceil(groups)
            .min(seen / self.min_split);
        let splits = wanted.max(seen.div_ceil(MAX_SPLIT)).max(1);
        let split_len = seen.div_ceil(splits).next_multiple_of(self.keys);
        [seen.div_ceil(split_len), split_len]
    }

    pub(super) const fn kernel(self) -> &'static KernelInfo {
        match self.tiles {
            Tiles::Few(_) => &ATTENTION,
            Tiles::Many(_) => &ATTENTION_MANY,
            Tiles::Decode(_) => &ATTENTION_DECODE,
        }
    }

    /// Returns true if the kernel takes queries, keys and values of 16 bits, and their types as overrides.
    pub(super) const fn takes_types(self) -> bool {
        matches!(self.tiles, Tiles::Decode(_))
    }

    pub(super) fn overrides(self, dim: u64) -> Vec<(&'static str, u32)> {
        match self.tiles {
            Tiles::Few([threads, own_queries]) => vec![
                ("THREADS", threads),
                ("OWN_QUERIES", own_queries),
                ("DIM_GROUPS", dim.div_ceil(64).next_power_of_two() as u32),
            ],
            Tiles::Many([lanes, key_groups, col_groups]) => vec![
                ("LANES_N", lanes),
                ("KEY_GROUPS", key_groups),
                ("COL_GROUPS", col_groups),
            ],
            Tiles::Decode([fours, fewest]) => vec![
                ("COLUMNS4", if dim > 64 { 32 } else { 16 }),
                ("FOURS", fours),
                ("FEWEST", fewest),
            ],
        }
    }
}
