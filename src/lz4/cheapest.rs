//! The parse of [`Level::High`](super::Level::High): the cheapest sequences of a block, by dynamic programming.

use std::ops::Range;

use super::IS_SMALL;
use super::compare::word;
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

/// Memory of the parse of one block after another.
pub(super) struct Cheapest {
    sorted: Sorted,
    /// For each position of a part the offset of its match, and in the lower half the length; 0 for a literal.
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
                self.sorted.sort(input, begin.saturating_sub(REACH), end);
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
        let dictionary = dictionary.map(|own| (own.bytes(), own.sorted()));
        let n = PART.min(input.len() - begin);
        let costs = &mut self.costs[..=n];
        for (i, cost) in costs.iter_mut().enumerate().skip(end - begin) {
            *cost = (n - i) as u32;
        }
        // The match of the position after the current one.
        let (mut length, mut offset) = (0, 0);
        for i in (0..end - begin).rev() {
            let p = begin + i;
            // SAFETY: the positions of a part are searchable.
            let slots = self.sorted.take(p, unsafe { word(input, p) });
            let goes_on = (MIN_MATCH..REACH).contains(&length)
                && match dictionary {
                    Some((bytes, _)) if offset > p + 1 => {
                        let there = (p + bytes.len()).checked_sub(offset);
                        there.is_some_and(|there| input[p] == bytes.padded()[there])
                    }
                    _ => offset <= p && input[p] == input[p - offset],
                };
            length = if goes_on { length + 1 } else { 0 };
            if length <= GOES_ON {
                let mut longest = None;
                if slots.0 != slots.1 {
                    // SAFETY: the machine and the block are as this function's contract says; the slots are those of `p`.
                    longest = unsafe { self.sorted.longest::<L>(input, slots) };
                }
                if let Some((bytes, index)) = dictionary {
                    // SAFETY: the machine is as this function's contract says; `p` is searchable.
                    let there = unsafe { index.longest::<L>(bytes, input, p) };
                    if there.map(|there| there.0) > longest.map(|own| own.0) {
                        longest = there;
                    }
                }
                if let Some(longest) = longest.filter(|longest| longest.0 >= length) {
                    (length, offset) = longest;
                }
            }
            let mut best = (costs[i + 1] + 1, 0);
            if length >= MIN_MATCH {
                let full = costs[n.min(i + length)] + SEQUENCE + n_extensions(length);
                if full < best.0 {
                    best = (full, length);
                }
                if length > SHORT && costs[n.min(i + SHORT)] + SEQUENCE < best.0 {
                    best = (costs[n.min(i + SHORT)] + SEQUENCE, SHORT);
                }
            }
            costs[i] = best.0;
            self.chosen[i] = (offset << 16 | best.1) as u32;
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
            if length == 0 {
                position += 1;
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

/// Returns the number of bytes that extend the length of a match.
const fn n_extensions(length: usize) -> u32 {
    if length <= SHORT {
        return 0;
    }
    ((length - SHORT - 1) / 255 + 1) as u32
}

/// Returns the number of equal bytes at the start of the rest of a block and of `source`, before the last literals.
fn n_equal(rest: &[u8], source: &[u8]) -> usize {
    let matching = &rest[..rest.len() - LAST_LITERALS];
    let pairs = matching.iter().zip(source);
    pairs.take_while(|(a, b)| a == b).count()
}
