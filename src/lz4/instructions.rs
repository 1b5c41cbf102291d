//! Dispatch of match finder and parser to the best instruction set of the machine.

use super::IS_SMALL;
use super::candidates::Candidates;
use super::cheapest::Cheapest;
use super::dictionary::Padded;
use super::lanes::Lanes;
#[cfg(target_arch = "aarch64")]
use super::lanes::Neon;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use super::lanes::Portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::lanes::Simd128;
#[cfg(target_arch = "x86_64")]
use super::lanes::{Avx2, Avx512};
use super::match_finder::{Kind, MatchFinder};
use super::parse::Parse;
use super::parser::Parser;

/// An instruction set that this machine has. Only [`Instructions::available`] constructs these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instructions(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    Portable,
}

impl Set {
    /// All instruction sets of this target, the best one first.
    const ALL: &[Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "aarch64")]
        Self::Neon,
        Self::LAST,
    ];
    /// The baseline, which every machine of this target has.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    const LAST: Self = Self::Simd128;
    /// The baseline, which every machine of this target has.
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    const LAST: Self = Self::Portable;

    fn is_there(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt");
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                avx2 && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2,
            #[allow(unreachable_patterns, reason = "some machines have one kind")]
            _ => true,
        }
    }
}

impl Instructions {
    /// Returns all instruction sets of this machine, the best one first.
    pub(super) fn available() -> impl Iterator<Item = Self> {
        Set::ALL
            .iter()
            .copied()
            .filter(|set| set.is_there())
            .map(Self)
    }

    /// Returns the best instruction set of this machine.
    pub(super) fn best() -> Self {
        Self::available().next().unwrap_or(Self(Set::LAST))
    }

    /// Finds the candidates of the next windows.
    ///
    /// # Safety
    /// `input` is the block of the last [`MatchFinder::start_block`], and `last + MATCH_START_MARGIN <= input.len()`.
    pub(super) unsafe fn search(self, search: &mut MatchFinder, input: &[u8], last: usize) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        unsafe fn with_avx2(search: &mut MatchFinder, input: &[u8], last: usize) {
            // SAFETY: the instructions are enabled in this function; the rest is the contract of `search`.
            unsafe { windows::<Avx2>(search, input, last) };
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,avx512f,avx512bw,avx512dq")]
        unsafe fn with_avx512(search: &mut MatchFinder, input: &[u8], last: usize) {
            // SAFETY: the instructions are enabled in this function; the rest is the contract of `search`.
            unsafe { windows::<Avx512>(search, input, last) };
        }
        // SAFETY: the machine has the instructions, since `available` detected them before it constructed this value;
        // the rest is this function's contract.
        unsafe {
            match self.0 {
                #[cfg(target_arch = "x86_64")]
                Set::Avx512 => with_avx512(search, input, last),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => with_avx2(search, input, last),
                #[cfg(target_arch = "aarch64")]
                Set::Neon => windows::<Neon>(search, input, last),
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Set::Simd128 => windows::<Simd128>(search, input, last),
                #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
                Set::Portable => windows::<Portable>(search, input, last),
            }
        }
    }

    /// Chooses the sequences of the part `begin..end`.
    ///
    /// # Safety
    /// As [`Cheapest::choose`].
    pub(super) unsafe fn choose(
        self,
        cheapest: &mut Cheapest,
        input: &[u8],
        begin: usize,
        end: usize,
    ) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        unsafe fn with_avx2(cheapest: &mut Cheapest, input: &[u8], begin: usize, end: usize) {
            // SAFETY: the instructions are enabled in this function; the rest is the contract of `choose`.
            unsafe { cheapest.choose::<Avx2>(input, begin, end) };
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,avx512f,avx512bw,avx512dq")]
        unsafe fn with_avx512(cheapest: &mut Cheapest, input: &[u8], begin: usize, end: usize) {
            // SAFETY: the instructions are enabled in this function; the rest is the contract of `choose`.
            unsafe { cheapest.choose::<Avx512>(input, begin, end) };
        }
        // SAFETY: the machine has the instructions, since `available` detected them before it constructed this value;
        // the rest is this function's contract.
        unsafe {
            match self.0 {
                #[cfg(target_arch = "x86_64")]
                Set::Avx512 => with_avx512(cheapest, input, begin, end),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => with_avx2(cheapest, input, begin, end),
                #[cfg(target_arch = "aarch64")]
                Set::Neon => cheapest.choose::<Neon>(input, begin, end),
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Set::Simd128 => cheapest.choose::<Simd128>(input, begin, end),
                #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
                Set::Portable => cheapest.choose::<Portable>(input, begin, end),
            }
        }
    }

    /// Parses up to `limit`, with matches in a dictionary if there is one.
    ///
    /// # Safety
    /// As [`Parser::parse`], and [`Parser::parse_with`].
    pub(super) unsafe fn parse(
        self,
        parser: &mut Parser<'_>,
        candidates: &Candidates,
        limit: usize,
        parse: &Parse,
        dictionary: Option<Padded<'_>>,
    ) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        unsafe fn with_avx2(
            parser: &mut Parser<'_>,
            candidates: &Candidates,
            limit: usize,
            parse: &Parse,
            dictionary: Option<Padded<'_>>,
        ) {
            // SAFETY: the contract of `parse_by` is the contract of the enclosing function.
            unsafe { parse_by(parser, candidates, limit, parse, dictionary) };
        }
        // SAFETY: the machine has the instructions, since `available` detected them before it constructed this value;
        // the rest is this function's contract.
        unsafe {
            match self.0 {
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 | Set::Avx512 => with_avx2(parser, candidates, limit, parse, dictionary),
                #[allow(unreachable_patterns, reason = "some machines have one kind")]
                _ => parse_by(parser, candidates, limit, parse, dictionary),
            }
        }
    }
}

/// # Safety
/// As [`MatchFinder::windows`]; this function passes the right `kind`.
#[inline(always)]
unsafe fn windows<L: Lanes>(search: &mut MatchFinder, input: &[u8], last: usize) {
    const SMALL_PAGE: Kind = Kind::SMALL_PAGE.with_dictionary();
    const PAGE: Kind = Kind::PAGE.with_dictionary();
    const LARGE: Kind = Kind::LARGE.with_dictionary();
    search.leave_dictionary();
    // SAFETY: the contract of `MatchFinder::windows` is this function's contract, with the match finder's own `kind`.
    unsafe {
        match search.kind {
            kind if IS_SMALL => search.windows::<L>(input, last, kind),
            Kind::SMALL_PAGE => search.windows::<L>(input, last, Kind::SMALL_PAGE),
            Kind::PAGE => search.windows::<L>(input, last, Kind::PAGE),
            SMALL_PAGE => search.windows::<L>(input, last, SMALL_PAGE),
            PAGE => search.windows::<L>(input, last, PAGE),
            LARGE => search.windows::<L>(input, last, LARGE),
            _ => search.windows::<L>(input, last, Kind::LARGE),
        }
    }
}

/// Specialises the parser for each kind of parse; in wasm there is one copy, which is as fast.
///
/// # Safety
/// As [`Parser::parse`], and [`Parser::parse_with`].
#[inline(always)]
unsafe fn parse_by(
    parser: &mut Parser<'_>,
    candidates: &Candidates,
    limit: usize,
    parse: &Parse,
    dictionary: Option<Padded<'_>>,
) {
    // SAFETY: the contracts of `Parser::parse` and of `Parser::parse_with` are this function's contract.
    unsafe {
        match (dictionary, parse.lazy()) {
            (Some(dictionary), is_lazy) => {
                parser.parse_with(candidates, limit, is_lazy, dictionary);
            }
            (None, is_lazy) if IS_SMALL => parser.parse(candidates, limit, is_lazy),
            (None, false) => parser.parse(candidates, limit, false),
            (None, true) => parser.parse(candidates, limit, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{Instructions, Set};
    use crate::lz4::{Encoder, Level, Parse};

    /// Returns bytes with literals, near and far matches, and runs, determined by `seed`.
    fn content(length: usize, mut seed: u64) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        while bytes.len() < length {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let count = 1 + (seed >> 40) as usize % 40;
            let from = bytes.len().checked_sub(1 + (seed >> 20) as usize % 5000);
            match (seed >> 60, from) {
                (0..3, _) => bytes.extend(std::iter::repeat_n(seed as u8 & 3, 3 * count)),
                (3..12, Some(from)) => bytes.extend(
                    (0..count)
                        .map(|i| i + from)
                        .map_while(|i| bytes.get(i).copied())
                        .collect::<Vec<_>>(),
                ),
                _ => bytes.extend((0..count).map(|i| (seed >> (i % 50)) as u8 & 15)),
            }
        }
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn all_instruction_sets_write_the_same_bytes() {
        let available: Vec<_> = Instructions::available().collect();
        // Bypasses the harness, which captures the output of tests that pass: `npm test` prints which sets ran.
        let _ = writeln!(std::io::stderr(), "instruction sets: {available:?}");
        assert_eq!(available.last(), Some(&Instructions(Set::LAST)));
        for page_size in [4096, 8192, 16_384, 32_768, 65_536, 1 << 20] {
            for level in [Level::Fast, Level::High] {
                let parse = Parse::new(page_size, level).expect("in range");
                for seed in 0..(1 << 22) / u64::from(page_size) {
                    let bytes = content(page_size as usize - seed as usize % 200, seed);
                    let mut blocks = available.iter().map(|&instructions| {
                        let mut encoder = Encoder::with_instructions(&parse, None, instructions);
                        let mut block = Vec::new();
                        encoder.compress_block(&bytes, &mut block).expect("fits");
                        (instructions, block)
                    });
                    let (_, first) = blocks.next().expect("there is one");
                    for (instructions, block) in blocks {
                        assert!(block == first, "{instructions:?}, {parse:?}, seed {seed}");
                    }
                }
            }
        }
    }
}
