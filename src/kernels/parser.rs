//! How the workgroups of `lz4_parse` are cut: invocations, memory, and how many of them run.

use super::Processors;
use crate::lz4::{Level, Parse};

/// Workgroups where nothing is known of the device: more than any known one runs at once, so that none idles.
const MOST: u32 = 4608;
/// Most bytes of their scratch for one purpose then: the smallest binding limit of WebGPU.
const MAX_SCRATCH_BYTES: u64 = 128 << 20;
/// Workgroups that a processor runs at once at most, and memory that each takes beside its own.
const MAX_PER_PROCESSOR: u32 = 32;
const RESERVED_BYTES: u32 = 1024;
/// Invocations of a warp; as many warps a processor need run to hide how far memory is.
const WARP: u32 = 32;
const ENOUGH_WARPS: u32 = 32;
/// Bytes that may be read behind a page, beside those of the round behind the last, which compilers ask for early: two
/// for each lane.
const SLACK_BYTES: u32 = 64;

/// A way to run `lz4_parse`.
pub(super) struct Parser {
    pub(super) overrides: Vec<(&'static str, u32)>,
    /// Most workgroups, and scratch of each.
    pub(super) most: u32,
    pub(super) candidate_bytes: u64,
    pub(super) match_bytes: u64,
}

impl Parser {
    pub(super) fn new(page_size: u32, level: Level, processors: Option<Processors>) -> Self {
        // A page size that the parse does not know is refused before a job is made; the kernel's defaults are right
        // for 4 KiB.
        let parse = Parse::new(page_size, level);
        let bucket_bits = parse.as_ref().map_or(9, Parse::bucket_bits);
        let width = width(page_size, level);
        // As the kernel cuts them.
        let chunk = page_size.min(8 << bucket_bits);
        let rows = chunk / width / 2 + 16;
        let candidate_bytes = 4 * u64::from(page_size / 2 + page_size / 32);
        let match_bytes = 8 * u64::from(rows * width);
        let bucket_bytes = 4 << bucket_bits;
        let staged_bytes = page_size + 2 * width + SLACK_BYTES;
        let staged = processors.is_some_and(|processors| {
            let workgroups = at_once(processors, bucket_bytes + staged_bytes);
            workgroups * width / WARP >= ENOUGH_WARPS
        });
        let workgroup_bytes = bucket_bytes + if staged { staged_bytes } else { 0 };
        let most = match processors {
            Some(processors) => processors.n * at_once(processors, workgroup_bytes),
            None => MOST.min((MAX_SCRATCH_BYTES / candidate_bytes.max(match_bytes)) as u32),
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
                ("BACKWARD", parse.backward().into()),
            ];
        }
        if staged {
            overrides.push(("STAGED_WORDS", staged_bytes / 4));
        }
        Self {
            overrides,
            most: most.max(1),
            candidate_bytes,
            match_bytes,
        }
    }
}

/// Workgroups with so much memory that one processor runs at once.
fn at_once(processors: Processors, workgroup_bytes: u32) -> u32 {
    (processors.workgroup_bytes / (workgroup_bytes + RESERVED_BYTES)).min(MAX_PER_PROCESSOR)
}

/// Invocations that parse one page together. Where tables are small, many workgroups of few run at once; where they are
/// large, few run, and more invocations in each keep the device busy.
fn width(page_size: u32, level: Level) -> u32 {
    match (page_size, level) {
        (0..=4096, Level::Fast | Level::Sequential) => 32,
        _ => 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Processors = Processors {
        n: 132,
        workgroup_bytes: 228 << 10,
    };

    fn staged_words(parser: &Parser) -> Option<u32> {
        let found = parser.overrides.iter().find(|o| o.0 == "STAGED_WORDS");
        found.map(|o| o.1)
    }

    #[test]
    fn pages_are_copied_where_enough_of_the_copies_fit() {
        let small = Parser::new(4096, Level::Fast, Some(H200));
        assert_eq!(staged_words(&small), Some(1056));
        assert_eq!(small.most, 132 * 32);
        let large = Parser::new(65_536, Level::Fast, Some(H200));
        assert_eq!(staged_words(&large), None);
        assert_eq!(large.most, 132 * 25);
    }

    #[test]
    fn unknown_devices_get_what_webgpu_promises() {
        for page_size in [4096, 8192, 16_384, 32_768, 65_536] {
            for level in [Level::Fast, Level::High] {
                let parser = Parser::new(page_size, level, None);
                assert_eq!(staged_words(&parser), None);
                let most = u64::from(parser.most);
                assert!(most * parser.candidate_bytes <= MAX_SCRATCH_BYTES);
                assert!(most * parser.match_bytes <= MAX_SCRATCH_BYTES);
                assert!(most >= 512);
            }
        }
    }
}
