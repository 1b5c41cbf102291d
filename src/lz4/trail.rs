//! The checksum of content, which follows the decoder at a distance, a stripe for each sequence.
//!
//! Decoding leaves much of a processor idle: it waits for tokens, and for branches that were predicted wrongly. Where no
//! other core hashes the content, hashing it in that time costs less than half of what it costs
//! afterwards.

use super::frame::{Checksum, Lanes, STRIPE_BYTES};

/// Bytes of output that are decoded while the output before them is hashed.
pub(super) const SUMMED_BYTES: usize = 4096;

/// A sum of the output up to a position, at the end of a stripe.
pub(super) struct Trail {
    lanes: Lanes,
    /// First byte of the output that is not in the sum.
    at: usize,
}

impl Trail {
    /// Goes on with `sum` at byte `at` of the output; `None` if that is inside a stripe.
    pub(super) fn new(sum: &Checksum, at: usize) -> Option<Self> {
        sum.lanes().map(|lanes| Self { lanes, at })
    }

    /// Moves what was hashed from byte `at` of the output on into `sum`; returns the first byte that was not.
    pub(super) fn finish(self, sum: &mut Checksum, at: usize) -> usize {
        sum.advance(self.lanes, self.at - at);
        self.at
    }

    /// Returns the stripes of `out` from this position up to `end`.
    ///
    /// # Safety
    /// `end` is not before `out`, and the memory between them is initialised, also while it is hashed.
    #[inline(always)]
    pub(super) unsafe fn stripes(&self, out: *const u8, end: *const u8) -> Stripes {
        let length =
            (end.addr() - out.addr()).saturating_sub(self.at) / STRIPE_BYTES * STRIPE_BYTES;
        let at = out.wrapping_add(self.at);
        Stripes {
            lanes: self.lanes,
            at,
            end: at.wrapping_add(length),
        }
    }

    /// Moves to the position of `stripes` of `out`.
    #[inline(always)]
    pub(super) fn follow(&mut self, stripes: &Stripes, out: *const u8) {
        (self.lanes, self.at) = (stripes.lanes, stripes.at.addr() - out.addr());
    }
}

/// Stripes that wait to be hashed. From `at` to `end` they are initialised, as [`Trail::stripes`] requires.
pub(super) struct Stripes {
    lanes: Lanes,
    at: *const u8,
    end: *const u8,
}

impl Stripes {
    /// Hashes the next stripe, if there is one.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        if self.at < self.end {
            // SAFETY: whole stripes are left between `at` and `end`, and are initialised.
            self.lanes.add(unsafe { &*self.at.cast() });
            self.at = self.at.wrapping_add(STRIPE_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::*;
    use crate::lz4::decode::{Positions, decode, decode_and_sum};
    use crate::lz4::frame::checksum;
    use crate::lz4::{Encoder, Level, Parse};

    /// Returns bytes of literals and matches of all lengths, determined by `seed`.
    fn content(length: usize, mut seed: u32) -> Vec<u8> {
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % below
        };
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let most = [4, 12, 40, 12, 4, 40, 700][next(7)];
            if next(2) == 0 || bytes.is_empty() {
                bytes.extend((0..next(most)).map(|_| next(256) as u8));
            } else {
                let from = bytes.len() - 1 - next(bytes.len().min(60_000));
                (0..4 + next(most)).for_each(|i| bytes.push(bytes[from + i]));
            }
        }
        bytes.truncate(length);
        bytes
    }

    fn block(content: &[u8]) -> Vec<u8> {
        let parse = Parse::new(65_536, Level::Sequential).expect("in range");
        let mut block = Vec::new();
        Encoder::new(&parse)
            .compress_block(content, &mut block)
            .expect("fits");
        block
    }

    #[test]
    fn the_sum_of_what_was_passed_is_that_of_the_content() {
        let lengths = if cfg!(miri) {
            vec![6000]
        } else {
            vec![100, 5000, 20_000, 65_536]
        };
        for (i, &length) in lengths.iter().enumerate() {
            for n_before in [0, 16, 1000, 1024, 20_000] {
                let (before, new) = (content(n_before, 7), content(length, i as u32));
                let mut sum = Checksum::new();
                let n_summed = n_before.min(500) / 2;
                sum.add(&before[..n_summed]);
                let mut out = before.clone();
                out.resize(n_before + length, 0xaa);
                let positions = Positions {
                    base: n_before,
                    start: n_before,
                    summed: n_summed,
                };
                let decoded = decode_and_sum(&block(&new), &mut out, positions, &mut sum);
                let (end, summed) = decoded.expect("is sound");
                let whole = [before, new].concat();
                assert!(end == whole.len() && out == whole);
                assert!((n_summed..=end).contains(&summed));
                // From inside a stripe nothing is hashed.
                if n_summed % STRIPE_BYTES == 0 && length == 65_536 {
                    assert!(summed > SUMMED_BYTES, "{summed} of {length} bytes");
                }
                sum.add(&whole[summed..]);
                assert_eq!(
                    sum.value(),
                    checksum(&whole),
                    "{n_before} bytes, then {length}"
                );
            }
        }
    }

    /// Content and error are those of the decoder without a sum, for blocks with wrong bytes and for matches before the base.
    #[test]
    fn wrong_blocks_have_the_same_error_and_leave_the_sum() {
        let length = if cfg!(miri) { 1000 } else { 5000 };
        let (bytes, n_before) = (content(length, 3), 640);
        let sound = block(&bytes);
        for at in (0..sound.len()).step_by(if cfg!(miri) { 97 } else { 1 }) {
            for flip in [0, 1, 0x10, 0x80, 0xff] {
                let mut wrong = sound.clone();
                wrong[at] ^= flip;
                let [mut expected, mut found] = [(); 2].map(|()| vec![1; n_before + length]);
                let reference = decode(&wrong, &mut expected[n_before - 32..], 32);
                let mut sum = Checksum::new();
                let positions = Positions {
                    base: n_before - 32,
                    start: n_before,
                    summed: 0,
                };
                let decoded = decode_and_sum(&wrong, &mut found, positions, &mut sum);
                assert_eq!(decoded.map(|(end, _)| end - (n_before - 32)), reference);
                match decoded {
                    Ok((end, summed)) => {
                        assert!(found[..end] == expected[..end]);
                        assert_eq!(sum.value(), checksum(&found[..summed]));
                    }
                    Err(_) => assert_eq!(sum.value(), checksum(&[])),
                }
            }
        }
    }
}
