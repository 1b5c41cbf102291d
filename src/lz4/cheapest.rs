//! The parse of [`Level::High`](super::Level::High): the cheapest sequences of a block, by dynamic programming.

use std::ops::Range;

use super::compare::word;
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
}

impl Cheapest {
    pub(super) fn new(parse: &Parse) -> Self {
        let part = PART.min(parse.page_size() as usize);
        Self {
            sorted: Sorted::new(parse),
            chosen: vec![0; part].into(),
            costs: vec![0; part + 1].into(),
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
                && offset <= p
                && input[p] == input[p - offset];
            length = if goes_on { length + 1 } else { 0 };
            if length <= GOES_ON && slots.0 != slots.1 {
                // SAFETY: the machine and the block are as this function's contract says; the slots are those of `p`.
                let own = unsafe { self.sorted.longest::<L>(input, slots) };
                if let Some(own) = own.filter(|own| own.0 >= length) {
                    (length, offset) = own;
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
                end = extended(input, end, offset);
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

/// Returns the end of a match that agrees up to `end` and may go on, at most to the last literals.
fn extended(input: &[u8], end: usize, offset: usize) -> usize {
    let matching = &input[end..input.len() - LAST_LITERALS];
    let source = &input[end - offset..];
    end + matching
        .iter()
        .zip(source)
        .take_while(|(a, b)| a == b)
        .count()
}
