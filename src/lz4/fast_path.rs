//! The fast path of the block decoder: sequences in wild copies, as long as both ends are far.

use super::parse::{MIN_MATCH, TOKEN_MAX};
use super::trail::{SUMMED_BYTES, Trail};
use super::wild_copy::{STEP, copy_16, wild_copy};

/// The fast path takes a sequence only if so many bytes of the block are left: a token, a step of literals, an offset.
pub(super) const INPUT_MARGIN: usize = 1 + STEP + 2;
/// And only if so many bytes of output are left: a step of literals, and two steps after the longest literals that fit
/// a token.
pub(super) const OUTPUT_MARGIN: usize = STEP + 2 * STEP;
/// The loop of short sequences needs more of both. Block: a token, a byte of length, two steps of literals, an offset,
/// a byte of length.
const SHORT_INPUT_MARGIN: usize = 2 + 2 * STEP + 3;
/// Output: two steps of literals, three of the match. Two of them are as many as a longer match may write behind its end.
const SHORT_OUTPUT_MARGIN: usize = 2 * STEP + 3 * STEP;

/// Longest run of literals or match of the fast path, so that sums do not overflow.
const MOST_LENGTH: usize = 1 << 28;

/// The state of the fast path, as pointers: WebAssembly engines address memory by pointers directly, and add an index
/// on each access.
///
/// Block and output are slices that `Cursor::fast_sequences` borrows for the lifetime of this value.
#[derive(Clone, Copy)]
pub(super) struct FastPath {
    /// Start of the output.
    pub(super) out: *mut u8,
    /// First byte of the output that matches may reach, not after the first one that is decoded.
    pub(super) base: *mut u8,
    /// Last position in the block at which the fast path may begin a sequence: [`INPUT_MARGIN`] before the end.
    pub(super) last_ip: *const u8,
    /// Last position in the output at which it may: [`OUTPUT_MARGIN`] before the end.
    pub(super) last_op: *mut u8,
}

impl FastPath {
    /// Decodes sequences from `ip` to `op` for as long as they are short: at most two steps of literals, and a match whose
    /// length has at most one byte after the token. Returns the positions of the first one that is not, that is wrong, or
    /// that is too close to an end. With a trail it hashes earlier output, and stops after [`SUMMED_BYTES`].
    ///
    /// The loop has no other paths, since V8 keeps values of a loop in registers only if there are few of them.
    ///
    /// # Safety
    /// `ip` is inside the block or at its end, and `op` inside the output or at its end. The output is initialised up to
    /// `op`.
    #[inline(always)]
    pub(super) unsafe fn short_sequences(
        self,
        mut ip: *const u8,
        mut op: *mut u8,
        trail: Option<&mut Trail>,
    ) -> (*const u8, *mut u8) {
        // Addresses, of which 0 is before every position: the block or the output may be shorter than its margin.
        let less = SHORT_INPUT_MARGIN - INPUT_MARGIN;
        let last_ip = self.last_ip.addr().saturating_sub(less);
        let less = SHORT_OUTPUT_MARGIN - OUTPUT_MARGIN;
        let mut last_op = self.last_op.addr().saturating_sub(less);
        // SAFETY: the output is initialised up to `op` by this function's contract, and stays so.
        let mut stripes = trail
            .as_ref()
            .map(|trail| unsafe { trail.stripes(self.out, op) });
        if stripes.is_some() {
            last_op = last_op.min(op.addr().saturating_add(SUMMED_BYTES));
        }
        while ip.addr() <= last_ip && op.addr() <= last_op {
            if let Some(stripes) = &mut stripes {
                stripes.step();
            }
            // SAFETY: the short margins are left of the block and of the output, by the comparison above. Of the block,
            // that is token, byte of length, the two steps that hold the literals, offset, byte of length. The two
            // steps of output hold the literals, too, and three follow. A longer match ends before the last position, by
            // the comparison below, and its pairs of steps less than two steps later. The offset is compared with the
            // base, so the match begins inside the output; it is a step or more where steps are copied, and half a step
            // or more where half steps are, so reads end before `to` or in what this sequence has written.
            unsafe {
                let token = usize::from(*ip);
                let mut n_literals = token >> 4;
                let mut from = ip.add(1);
                if n_literals == TOKEN_MAX {
                    let more = usize::from(*from);
                    if more > 2 * STEP - TOKEN_MAX {
                        break;
                    }
                    from = from.add(1);
                    n_literals += more;
                    copy_16(from.add(STEP), op.add(STEP));
                }
                copy_16(from, op);
                from = from.add(n_literals);
                let to = op.add(n_literals);
                let offset =
                    usize::from(u16::from_le_bytes(from.cast::<[u8; 2]>().read_unaligned()));
                if offset.wrapping_sub(1) >= to.addr() - self.base.addr() {
                    break;
                }
                let start = to.wrapping_sub(offset).cast_const();
                let length = MIN_MATCH + (token & TOKEN_MAX);
                if length == MIN_MATCH + TOKEN_MAX {
                    let more = usize::from(*from.add(2));
                    let end = to.wrapping_add(length + more);
                    if offset < STEP || more == 255 {
                        break;
                    }
                    copy_16(start, to);
                    copy_16(start.add(STEP), to.add(STEP));
                    if more > 2 * STEP - (MIN_MATCH + TOKEN_MAX) {
                        if end.addr() > last_op {
                            break;
                        }
                        if let Some(stripes) = &mut stripes {
                            stripes.step();
                        }
                        let mut done = 2 * STEP;
                        while done < length + more {
                            copy_16(start.add(done), to.add(done));
                            copy_16(start.add(done + STEP), to.add(done + STEP));
                            done += 2 * STEP;
                        }
                    }
                    (ip, op) = (from.add(3), end);
                    continue;
                }
                if offset < HALF {
                    break;
                }
                copy_18(start, to);
                (ip, op) = (from.add(2), to.add(length));
            }
        }
        if let (Some(trail), Some(stripes)) = (trail, &stripes) {
            trail.follow(stripes, self.out);
        }
        (ip, op)
    }

    /// Decodes the sequence at `ip` to `op` and returns the positions of the next; `None` leaves it to the exact path.
    ///
    /// # Safety
    /// `ip` is inside the block and `op` inside the output, and neither is past its last position.
    #[inline(always)]
    pub(super) unsafe fn sequence(
        self,
        mut ip: *const u8,
        mut op: *mut u8,
    ) -> Option<(*const u8, *mut u8)> {
        // SAFETY: after the token, the block has a step and an offset and the output has three steps, by this
        // function's contract. Fewer than 15 literals end inside that step, with an offset after it; a byte that
        // extends the length of a match is inside the block then, too. The end of more literals is compared with the
        // last positions, after which a step and an offset follow. The offset is compared with the start of the output;
        // for a short offset, HALF bytes before `op` are inside the output. A match of less than 19 bytes is copied by
        // `wild_copy_match` as at most 32 bytes, after at most 14 literals: 46 of the 48 bytes of three steps. The end
        // of a longer match is compared with the last position, and 32 bytes follow it.
        unsafe {
            let token = usize::from(*ip);
            let (mut n_literals, mut length) = (token >> 4, MIN_MATCH + (token & TOKEN_MAX));
            ip = ip.add(1);
            copy_16(ip, op);
            if n_literals == TOKEN_MAX {
                let more;
                (more, ip) = self.extension(ip)?;
                n_literals += more;
                let room = before(ip, self.last_ip).min(before(op, self.last_op));
                if n_literals > room {
                    return None;
                }
                wild_copy(ip, op, n_literals);
            }
            (ip, op) = (ip.add(n_literals), op.add(n_literals));
            let offset = usize::from(u16::from_le_bytes(ip.cast::<[u8; 2]>().read_unaligned()));
            ip = ip.add(2);
            let n_before = op.addr() - self.base.addr();
            // The pattern of a short offset is read from the HALF bytes before `op`.
            if offset.wrapping_sub(1) >= n_before || n_before < HALF {
                return None;
            }
            if length == MIN_MATCH + TOKEN_MAX {
                let more;
                (more, ip) = self.extension(ip)?;
                length += more;
                if length > before(op, self.last_op) {
                    return None;
                }
            }
            wild_copy_match(op, offset, length);
            Some((ip, op.add(length)))
        }
    }

    /// Sums the bytes at `ip` that extend a length; returns the sum and the position after them. `None` if the length
    /// does not end before the last position.
    ///
    /// # Safety
    /// `ip` is inside the block.
    #[inline(always)]
    unsafe fn extension(self, mut ip: *const u8) -> Option<(usize, *const u8)> {
        let mut sum = 0;
        loop {
            // SAFETY: the first byte is inside the block by this function's contract; later bytes are not past the last
            // position, by the comparison below.
            let byte = usize::from(unsafe { *ip });
            ip = ip.wrapping_add(1);
            sum += byte;
            if byte != 255 {
                return Some((sum, ip));
            }
            if ip > self.last_ip || sum > MOST_LENGTH {
                return None;
            }
        }
    }
}

/// Returns the bytes from `at` to `end`, 0 if `end` comes first.
#[inline(always)]
fn before(at: *const u8, end: *const u8) -> usize {
    end.addr().saturating_sub(at.addr())
}

/// Bytes of a half step, for offsets below a step.
const HALF: usize = 8;

/// For offsets below 8: the factor that repeats the pattern in a 64-bit word, and the bytes of whole repetitions.
const REPEATS: [(u64, usize); HALF] = {
    let mut table = [(0, 1); HALF];
    let mut offset = 1;
    while offset < HALF {
        let mut at = 0;
        while at < HALF {
            table[offset].0 |= 1 << (8 * at);
            at += offset;
        }
        table[offset].1 = HALF / offset * offset;
        offset += 1;
    }
    table
};

/// Copies two half steps and two bytes, one after the other: the longest match whose length fits a token.
///
/// # Safety
/// 18 bytes are readable at `from` and writable at `to`, which is at least [`HALF`] bytes after `from`.
#[inline(always)]
unsafe fn copy_18(from: *const u8, to: *mut u8) {
    // SAFETY: this function's contract; the two bytes follow the half steps.
    unsafe {
        copy_halves(from, to);
        let (from, to) = (from.add(2 * HALF), to.add(2 * HALF));
        to.cast::<[u8; 2]>()
            .write_unaligned(from.cast::<[u8; 2]>().read_unaligned());
    }
}

/// Copies two half steps, one after the other.
///
/// # Safety
/// A step is readable at `from` and writable at `to`; the two may overlap.
#[inline(always)]
unsafe fn copy_halves(from: *const u8, to: *mut u8) {
    for i in 0..2 {
        // SAFETY: each half step is inside the step of this function's contract, and in a register between read and
        // write.
        unsafe {
            let bytes = from.add(i * HALF).cast::<[u8; HALF]>().read_unaligned();
            to.add(i * HALF).cast::<[u8; HALF]>().write_unaligned(bytes);
        }
    }
}

/// Copies a match of any offset to `to`, in steps that may overrun `length`.
///
/// # Safety
/// `offset` is not 0. The output begins at least `offset` and at least [`HALF`] bytes before `to`, is initialised up to
/// `to`, and goes on after `to` for `length` rounded up to a multiple of two steps.
#[inline(always)]
unsafe fn wild_copy_match(to: *mut u8, offset: usize, length: usize) {
    // SAFETY: reads begin `offset` or HALF bytes before `to`, inside the output by this function's contract, and end
    // before the writes of the same iteration begin, so they read initialised bytes. Writes begin less than `length`
    // after `to`: two steps at multiples of two steps, two half steps at multiples of two half steps, or one half step.
    // They end inside the output.
    unsafe {
        let from = to.sub(offset).cast_const();
        let mut done = 0;
        if offset >= STEP {
            while done < length {
                copy_16(from.add(done), to.add(done));
                copy_16(from.add(done + STEP), to.add(done + STEP));
                done += 2 * STEP;
            }
            return;
        }
        if offset >= HALF {
            while done < length {
                copy_halves(from.add(done), to.add(done));
                done += 2 * HALF;
            }
            return;
        }
        // The repeated pattern, as often as it fits in a word.
        let bytes = u64::from_le_bytes(to.sub(HALF).cast::<[u8; HALF]>().read_unaligned())
            >> (8 * (HALF - offset));
        let (repeat, stride) = REPEATS[offset];
        let repeated = bytes.wrapping_mul(repeat).to_le_bytes();
        while done < length {
            to.add(done).cast::<[u8; HALF]>().write_unaligned(repeated);
            done += stride;
        }
    }
}
