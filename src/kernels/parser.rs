//! Launch configuration of `lz4_parse`: invocations and memory of a workgroup, and the number of workgroups.

use super::{ComputeUnits, Limits};
use crate::lz4::{Level, Parse};

/// Number of workgroups if the device's compute units are unknown: more than any known device has resident at once.
const MOST: u32 = 4608;
/// Limit of one scratch buffer in bytes in that case: the smallest binding limit of WebGPU.
const MAX_SCRATCH_BYTES: u64 = 128 << 20;
/// Maximum numbers of workgroups and of their invocations that are resident on a compute unit, and workgroup memory that the
/// driver reserves for each workgroup.
const MAX_PER_UNIT: u32 = 32;
const MAX_INVOCATIONS_PER_UNIT: u32 = 2048;
const RESERVED_BYTES: u32 = 1024;
/// Number of invocations of a warp, and number of resident warps of a compute unit that suffice to hide memory latency.
const WARP: u32 = 32;
const ENOUGH_WARPS: u32 = 28;

/// A launch configuration of `lz4_parse`.
pub(super) struct Parser {
    pub(super) overrides: Vec<(&'static str, u32)>,
    /// Maximum number of workgroups, and scratch of each in bytes.
    pub(super) most: u32,
    pub(super) candidate_bytes: u64,
}

impl Parser {
    /// Returns the configuration for pages, behind a dictionary or not: with one, pages are not staged, since its index takes the cache that
    /// workgroup memory leaves.
    pub(super) fn new(page_size: u32, limits: Limits, has_dictionary: bool) -> Self {
        let compute_units = limits.compute_units;
        // Invalid page sizes are rejected before a job is created. The defaults of the kernel are those for 4 KiB.
        let parse = Parse::new(page_size, Level::Fast);
        let bucket_bits = parse.as_ref().map_or(9, Parse::bucket_bits);
        let width = width(page_size).max(limits.subgroup_width());
        let width = limits.width(width);
        // CANDIDATE_WORDS of the kernel.
        let candidate_bytes = 4 * u64::from(page_size / 2 + page_size / 32 + 32);
        let bucket_bytes = 4 << bucket_bits;
        let staged_bytes = 4 * staged_words(page_size, width);
        let has_room = |compute_units| {
            let workgroups = at_once(compute_units, bucket_bytes + staged_bytes, width);
            workgroups * width / WARP >= ENOUGH_WARPS
        };
        let staged = !has_dictionary && compute_units.is_some_and(has_room);
        let workgroup_bytes = bucket_bytes + if staged { staged_bytes } else { 0 };
        let most = match compute_units {
            Some(compute_units) => compute_units.n * at_once(compute_units, workgroup_bytes, width),
            None => MOST.min((MAX_SCRATCH_BYTES / candidate_bytes) as u32),
        };
        let mut overrides = Vec::new();
        if let Ok(parse) = parse {
            overrides = vec![
                ("PAGE_SIZE", page_size),
                ("WIDTH", width),
                ("BUCKET_BITS", parse.bucket_bits()),
                ("TAG_BITS", parse.tag_bits()),
                ("HASH_BYTES", parse.hash_bytes()),
                ("LAZY", parse.lazy().into()),
                limits.registers.ahead(),
            ];
        }
        if staged {
            overrides.push(("STAGED_WORDS", staged_bytes / 4));
        }
        Self {
            overrides,
            most: most.max(1),
            candidate_bytes,
        }
    }
}

/// Returns the occupancy: the number of workgroups of `width` invocations with this much workgroup memory that are resident on
/// one compute unit.
fn at_once(compute_units: ComputeUnits, workgroup_bytes: u32, width: u32) -> u32 {
    let by_memory = compute_units.workgroup_bytes / (workgroup_bytes + RESERVED_BYTES);
    let by_invocations = MAX_INVOCATIONS_PER_UNIT / width;
    by_memory.min(by_invocations).min(MAX_PER_UNIT)
}

/// Returns the words of workgroup memory that a staged page takes: rows of 32 words, 35 apart, with four words before them and
/// one for each invocation behind them.
fn staged_words(page_size: u32, width: u32) -> u32 {
    4 + page_size / 128 * 35 + width
}

/// Returns the number of invocations that parse one page together. Small hash tables allow many resident workgroups of few
/// invocations; large ones allow few workgroups, and more invocations in each keep the device busy. The kernel keeps state of
/// each invocation in the memory of the table.
fn width(page_size: u32) -> u32 {
    match page_size {
        0..=4096 => 32,
        4097..=16_384 => 64,
        _ => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Limits = Limits {
        compute_units: Some(ComputeUnits {
            n: 132,
            workgroup_bytes: 228 << 10,
        }),
        ..Limits::WEBGPU
    };

    fn staged(parser: &Parser) -> Option<u32> {
        let found = parser.overrides.iter().find(|o| o.0 == "STAGED_WORDS");
        found.map(|o| o.1)
    }

    #[test]
    fn pages_are_staged_if_occupancy_suffices() {
        let small = Parser::new(4096, H200, false);
        assert_eq!(staged(&small), Some(1156));
        assert_eq!(small.most, 132 * 30);
        let behind_dictionary = Parser::new(4096, H200, true);
        assert_eq!(staged(&behind_dictionary), None);
        assert_eq!(behind_dictionary.most, 132 * 32);
        let large = Parser::new(65_536, H200, false);
        assert_eq!(staged(&large), None);
        assert_eq!(large.most, 132 * 16);
    }

    /// The parts of the table's memory outside of the search, as in `lz4_parse.wgsl`; an invocation has 64 slots at most.
    #[test]
    fn state_of_the_parse_fits_the_memory_of_the_table() {
        let sizes = [4096, 8192, 16_384, 32_768, 65_536].into_iter();
        let all = sizes.flat_map(|size| [Limits::WEBGPU, Limits::LEAST].map(|it| (size, it)));
        for (page_size, limits) in all {
            let parser = Parser::new(page_size, limits, false);
            let value = |name| parser.overrides.iter().find(|o| o.0 == name).unwrap().1;
            let (width, buckets) = (value("WIDTH"), 1 << value("BUCKET_BITS"));
            assert!(limits.allow(width, 4 * buckets), "{page_size}");
            let chunk = page_size.min(8 * buckets);
            let matches = chunk / 32 + chunk / 16 + (chunk / 128).max(width);
            let sections = 2 * (width + 1);
            // Four words of `agree`, three more, and six of lz4_parse/kept.
            assert!(matches + sections + 13 <= buckets, "{page_size}");
            assert!((64..=256).contains(&(chunk / width)), "{page_size}");
        }
    }

    #[test]
    fn unknown_devices_get_webgpu_limits() {
        for page_size in [4096, 8192, 16_384, 32_768, 65_536] {
            let parser = Parser::new(page_size, Limits::WEBGPU, false);
            assert_eq!(staged(&parser), None);
            let most = u64::from(parser.most);
            assert!(most * parser.candidate_bytes <= MAX_SCRATCH_BYTES);
            assert!(most >= 512);
        }
    }
}
