//! The parse of [`Level::High`](super::Level::High): the cheapest sequences of a block, by dynamic programming.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::IS_SMALL;
use super::compare::n_equal_before;
use super::dictionary::Dictionary;
use super::instructions::Instructions;
use super::lanes::Lanes;
use super::parse::{LAST_LITERALS, MATCH_START_MARGIN, MIN_MATCH, Parse, TOKEN_MAX};
use super::sequence_writer::SequenceWriter;
use super::sorted::{PART, REACH, Sorted};

/// Bytes of a sequence without literals and extensions: token and offset.
const SEQUENCE: u32 = 3;
/// Longest match without an extension byte.
const SHORT: usize = MIN_MATCH + TOKEN_MAX - 1;

/// A position whose match goes on from the next position with more bytes than this is not searched.
const GOES_ON: usize = 8;
/// Bytes before a position that are compared at once with those before its source.
const BEFORE: usize = 8;

/// Memory of the parse of one block after another.
pub(super) struct Cheapest {
    sorted: Sorted,
    /// For each position of a part the offset of its match, and in the lower half the length; without an offset, the number of literals from
    /// there on, at most 65,535.
    chosen: Box<[u32]>,
    /// For each position of a part, the least number of bytes from there to the end of the part.
    costs: Box<[u32]>,
    dictionary: Option<Dictionary>,
}

impl Cheapest {
    pub(super) fn new(parse: &Parse, dictionary: Option<Dictionary>) -> Self {
        let part = PART.min(parse.page_size() as usize);
        Self {
            sorted: Sorted::new(parse),
            chosen: vec![0; part].into(),
            costs: vec![0; part + 1].into(),
            dictionary,
        }
    }

    /// Encodes `input`, at most the page size of the parse; returns the length of the block.
    pub(super) fn encode(
        &mut self,
        instructions: Instructions,
        input: &[u8],
        mut writer: SequenceWriter<'_>,
    ) -> usize {
        let n_searchable = (input.len() + 1).saturating_sub(MATCH_START_MARGIN);
        if n_searchable > 1 {
            let mut position = 0;
            for begin in (0..n_searchable).step_by(PART) {
                let end = n_searchable.min(begin + PART);
                self.sorted.sort(input, begin, end);
                // SAFETY: `input` was sorted above, for this part.
                unsafe { instructions.choose(self, input, begin, end) };
                position = self.write(input, begin..end, position, &mut writer);
            }
        }
        writer.finish()
    }

    /// Chooses between a literal and the match of each position of a part, from the last of `begin..end` to the first.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; `input` was sorted last, for this part.
    #[inline(always)]
    pub(super) unsafe fn choose<L: Lanes>(&mut self, input: &[u8], begin: usize, end: usize) {
        let dictionary = self.dictionary.take();
        // Only the first part reaches the dictionary.
        let reached = dictionary.as_ref().filter(|_| begin == 0);
        // SAFETY: the contract of `choose_with` is this function's contract.
        unsafe {
            match reached {
                reached if IS_SMALL => self.choose_with::<L>(input, begin, end, reached),
                Some(reached) => self.choose_with::<L>(input, begin, end, Some(reached)),
                None => self.choose_with::<L>(input, begin, end, None),
            }
        }
        self.dictionary = dictionary;
    }

    /// # Safety
    /// As [`choose`](Self::choose).
    #[inline(always)]
    unsafe fn choose_with<L: Lanes>(
        &mut self,
        input: &[u8],
        begin: usize,
        end: usize,
        dictionary: Option<&Dictionary>,
    ) {
        // SAFETY: the machine is as this function's contract says.
        unsafe { self.sorted.find::<L>(begin) };
        let dictionary = dictionary.map(|own| (own.bytes(), own.sorted()));
        let dictionary_bytes = dictionary.map_or(&[][..], |(bytes, _)| bytes.bytes());
        let n = PART.min(input.len() - begin);
        let costs = &mut self.costs[..=n];
        for (i, cost) in costs.iter_mut().enumerate().skip(end - begin) {
            *cost = (n - i) as u32;
        }
        let mut choices = Choices {
            next_cost: costs[end - begin],
            n_literals: 0,
            costs,
            chosen: &mut self.chosen,
        };
        // The match of the last position, and a number of bytes by which it goes on before that.
        let (mut length, mut offset, mut before) = (0, 0, 0);
        let mut i = end - begin;
        while i > 0 {
            if (before == 0) & (MIN_MATCH + BEFORE..REACH).contains(&length) {
                // SAFETY: the position is in the block.
                before = unsafe { n_before(input, dictionary_bytes, begin + i, offset) };
            }
            if (before > 0) & (length >= GOES_ON) {
                // These positions are not searched.
                let n_bytes = before.min(i).min(REACH - length);
                for _ in 0..n_bytes {
                    i -= 1;
                    length += 1;
                    choices.choose(i, length, offset);
                }
                before = if length < REACH { before - n_bytes } else { 0 };
                continue;
            }
            i -= 1;
            let p = begin + i;
            // Without branches, which would be mispredicted often.
            let goes_on = before.min(1);
            length = (length + 1) & goes_on.wrapping_neg();
            before -= goes_on;
            // SAFETY: the machine and the block are as this function's contract says; the matches of the part were found above.
            let mut longest = unsafe { self.sorted.longest::<L>(input, begin, p) };
            // Only positions in runs, which have no other candidate, have a match at offset 1.
            if let Some((bytes, index)) = dictionary.filter(|_| longest.1 != 1) {
                // SAFETY: the machine is as this function's contract says; `p` is searchable.
                let there = unsafe { index.longest::<L>(bytes, input, p) };
                if let Some(there) = there.filter(|there| there.0 > longest.0) {
                    longest = there;
                }
            }
            let is_own = longest.0 >= length;
            // SAFETY: as above.
            let own_before = unsafe { n_before(input, dictionary_bytes, p, longest.1) };
            let own_before = select_unpredictable(longest.0 > 0, own_before, 0);
            length = select_unpredictable(is_own, longest.0, length);
            offset = select_unpredictable(is_own, longest.1, offset);
            before = select_unpredictable(is_own, own_before, before);
            choices.choose(i, length, offset);
        }
    }

    /// Writes the chosen sequences of the part `part` from `position` on; returns the end of the last one, or of the part.
    fn write(
        &self,
        input: &[u8],
        part: Range<usize>,
        mut position: usize,
        writer: &mut SequenceWriter<'_>,
    ) -> usize {
        while position < part.end {
            let chosen = self.chosen[position - part.start];
            let (length, offset) = ((chosen & 0xffff) as usize, (chosen >> 16) as usize);
            if offset == 0 {
                position += length;
                continue;
            }
            let mut end = position + length;
            if length != SHORT {
                end = match &self.dictionary {
                    Some(dictionary) if offset > position => {
                        let there = end + dictionary.as_bytes().len() - offset;
                        end + n_equal(&input[end..], &dictionary.as_bytes()[there..])
                    }
                    _ => end + n_equal(&input[end..], &input[end - offset..]),
                };
            }
            // SAFETY: the position is at or after the end of the last sequence. The match has at least four bytes and ends
            // before the last literals.
            position = unsafe { writer.sequence(position, offset, end) };
        }
        position
    }
}

/// The choices of a part, from its last position to the first.
struct Choices<'a> {
    costs: &'a mut [u32],
    chosen: &'a mut [u32],
    /// The cost of the position after the current one.
    next_cost: u32,
    /// The number of literals chosen from the position after the current one on.
    n_literals: u32,
}

impl Choices<'_> {
    /// Chooses between a literal at position `i`, the match of this length and offset, and its first bytes.
    #[inline(always)]
    fn choose(&mut self, i: usize, length: usize, offset: usize) {
        let costs = &mut *self.costs;
        let n = costs.len() - 1;
        let literal = self.next_cost + 1;
        let full = costs[n.min(i + length)] + SEQUENCE + n_extensions(length);
        let is_match = (length >= MIN_MATCH) & (full < literal);
        let mut cost = select_unpredictable(is_match, full, literal);
        self.n_literals = select_unpredictable(is_match, 0, self.n_literals + 1);
        let literals = self.n_literals.min(0xffff);
        let mut chosen = select_unpredictable(is_match, (offset << 16 | length) as u32, literals);
        if length > SHORT && costs[n.min(i + SHORT)] + SEQUENCE < cost {
            cost = costs[n.min(i + SHORT)] + SEQUENCE;
            chosen = (offset << 16 | SHORT) as u32;
            self.n_literals = 0;
        }
        costs[i] = cost;
        self.next_cost = cost;
        self.chosen[i] = chosen;
    }
}

/// Returns the number of bytes that extend the length of a match.
const fn n_extensions(length: usize) -> u32 {
    if length <= SHORT {
        return 0;
    }
    ((length - SHORT - 1) / 255 + 1) as u32
}

/// Returns the number of equal bytes before position `p` and before its source, up to [`BEFORE`].
///
/// # Safety
/// `p <= input.len()`.
#[inline(always)]
unsafe fn n_before(input: &[u8], dictionary: &[u8], p: usize, offset: usize) -> usize {
    if p >= offset + BEFORE {
        // SAFETY: the source is far enough from the begin of the block, by the comparison above; the rest is this function's contract.
        return unsafe { n_equal_before(input, p, offset) };
    }
    let source = match p.checked_sub(offset) {
        Some(q) => &input[..q],
        None => &dictionary[..dictionary.len() + p - offset],
    };
    let pairs = input[..p].iter().rev().zip(source.iter().rev());
    pairs.take(BEFORE).take_while(|(a, b)| a == b).count()
}

/// Returns the number of equal bytes at the start of the rest of a block and of `source`, before the last literals.
fn n_equal(rest: &[u8], source: &[u8]) -> usize {
    let matching = &rest[..rest.len() - LAST_LITERALS];
    let pairs = matching.iter().zip(source);
    pairs.take_while(|(a, b)| a == b).count()
}
