//! The block decoder: a fast path of wild copies, and an exact path near both ends.

use std::mem::MaybeUninit;

use super::BlockError;
use super::parse::MIN_MATCH;
use super::wild_copy::{STEP, copy_16, wild_copy};
use crate::memory::as_uninit;

/// Nibble of a token after which more bytes of the length follow.
const TOKEN_MAX: usize = 15;
/// The fast path takes a sequence only if so many bytes of the block are left: a token, a step of literals, an offset.
const FAST_PATH_INPUT: usize = 1 + STEP + 2;
/// And only if so many bytes of output are left: a step of literals, and two steps after the longest literals that fit
/// a token.
const FAST_PATH_OUTPUT: usize = STEP + 2 * STEP;

/// Longest run of literals or match of the fast path, so that sums do not overflow.
const FAST_PATH_LENGTH: usize = 1 << 28;

/// Decodes an LZ4 block that must fill `page` exactly.
///
/// # Errors
/// The first fault in the order of the sequences; `page` is all zeros then.
pub fn decompress_block(block: &[u8], page: &mut [u8]) -> Result<(), BlockError> {
    // SAFETY: `decompress_block_uninit` writes only initialised bytes.
    decompress_block_uninit(block, unsafe { as_uninit(page) })
}

/// As [`decompress_block`], to memory that may be uninitialised. All of `page` is initialised then, also after an error.
pub(super) fn decompress_block_uninit(
    block: &[u8],
    page: &mut [MaybeUninit<u8>],
) -> Result<(), BlockError> {
    let n_bytes = page.len();
    let result = match decode_uninit(block, page) {
        Ok(content) if content.len() < n_bytes => Err(BlockError::OutputUnderrun),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    if result.is_err() {
        page.fill(MaybeUninit::new(0));
    }
    result
}

/// Decodes an LZ4 block into `out[start..]`. Matches may reach back into `out[..start]`. Returns the end of the content
/// in `out`; bytes after it are undefined.
pub(crate) fn decode(block: &[u8], out: &mut [u8], start: usize) -> Result<usize, BlockError> {
    // SAFETY: `decode_at` writes only initialised bytes.
    let out = unsafe { as_uninit(out) };
    // SAFETY: all of `out` is initialised.
    unsafe { decode_at(block, out, start) }
}

/// Decodes an LZ4 block into memory that may be uninitialised; returns its content, which is the start of `out`.
pub(crate) fn decode_uninit<'a>(
    block: &[u8],
    out: &'a mut [MaybeUninit<u8>],
) -> Result<&'a mut [u8], BlockError> {
    // SAFETY: `out[..0]` is empty.
    let n_bytes = unsafe { decode_at(block, out, 0) }?;
    // SAFETY: `decode_at` initialised the bytes up to the end of the content.
    Ok(unsafe { out[..n_bytes].assume_init_mut() })
}

/// As [`decode`]. Writes only initialised bytes, and all bytes from `start` to the end of the content.
///
/// # Safety
/// `out[..start]` is initialised.
unsafe fn decode_at(
    block: &[u8],
    out: &mut [MaybeUninit<u8>],
    start: usize,
) -> Result<usize, BlockError> {
    let mut cursor = Cursor {
        block,
        out,
        ip: 0,
        op: start,
    };
    loop {
        cursor.fast_sequences();
        if cursor.sequence()? {
            return Ok(cursor.op);
        }
    }
}

struct Cursor<'a> {
    block: &'a [u8],
    out: &'a mut [MaybeUninit<u8>],
    ip: usize,
    /// Next byte to write; `out` is initialised up to here.
    op: usize,
}

impl Cursor<'_> {
    /// Decodes sequences on the fast path, until one is wrong, or too close to the end of the block or of the output.
    /// That sequence is left to the exact path.
    #[inline(always)]
    fn fast_sequences(&mut self) {
        let (Some(last_ip), Some(last_op)) = (
            self.block.len().checked_sub(FAST_PATH_INPUT),
            self.out.len().checked_sub(FAST_PATH_OUTPUT),
        ) else {
            return;
        };
        let (block, out) = (self.block.as_ptr(), self.out.as_mut_ptr().cast::<u8>());
        let fast = FastPath {
            out,
            last_ip: block.wrapping_add(last_ip),
            last_op: out.wrapping_add(last_op),
        };
        let (mut ip, mut op) = (block.wrapping_add(self.ip), out.wrapping_add(self.op));
        while ip <= fast.last_ip && op <= fast.last_op {
            // SAFETY: neither pointer is past its limit, by the comparison above, and both are at their start or at the
            // end of a sequence.
            let Some(next) = (unsafe { fast.sequence(ip, op) }) else {
                break;
            };
            (ip, op) = next;
        }
        (self.ip, self.op) = (ip.addr() - block.addr(), op.addr() - out.addr());
    }

    /// Decodes one sequence on the exact path; returns true at the end of the block.
    #[inline(always)]
    fn sequence(&mut self) -> Result<bool, BlockError> {
        let token = usize::from(self.byte()?);
        let n_literals = self.length(token >> 4)?;
        let literals = self
            .block
            .get(self.ip..)
            .and_then(|tail| tail.get(..n_literals))
            .ok_or(BlockError::Truncated)?;
        if n_literals > self.out.len() - self.op {
            return Err(BlockError::OutputOverrun);
        }
        self.out[self.op..self.op + n_literals].write_copy_of_slice(literals);
        self.ip += n_literals;
        self.op += n_literals;
        if self.ip == self.block.len() {
            return Ok(true);
        }
        let offset = self.offset()?;
        let length = self.length(token & TOKEN_MAX)?.saturating_add(MIN_MATCH);
        if length > self.out.len() - self.op {
            return Err(BlockError::OutputOverrun);
        }
        copy_match(self.out, self.op, offset, length);
        self.op += length;
        Ok(false)
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<u8, BlockError> {
        let byte = *self.block.get(self.ip).ok_or(BlockError::Truncated)?;
        self.ip += 1;
        Ok(byte)
    }

    /// Returns a length that starts with the nibble `half` of a token.
    #[inline(always)]
    fn length(&mut self, half: usize) -> Result<usize, BlockError> {
        if half < TOKEN_MAX {
            return Ok(half);
        }
        let (more, end) = extension(self.block, self.ip).ok_or(BlockError::Truncated)?;
        self.ip = end;
        Ok(half.saturating_add(more))
    }

    #[inline(always)]
    fn offset(&mut self) -> Result<usize, BlockError> {
        let bytes = self
            .block
            .get(self.ip..)
            .and_then(|tail| tail.first_chunk::<2>())
            .ok_or(BlockError::Truncated)?;
        self.ip += 2;
        match usize::from(u16::from_le_bytes(*bytes)) {
            0 => Err(BlockError::ZeroOffset),
            offset if offset > self.op => Err(BlockError::OffsetTooFar),
            offset => Ok(offset),
        }
    }
}

/// The state of the fast path, as pointers: WebAssembly engines address memory by pointers directly, and add an index
/// on each access.
///
/// Block and output are slices that [`Cursor::fast_sequences`] borrows for the lifetime of this value.
#[derive(Clone, Copy)]
struct FastPath {
    /// Start of the output.
    out: *mut u8,
    /// Last position in the block at which the fast path may begin a sequence: [`FAST_PATH_INPUT`] before the end.
    last_ip: *const u8,
    /// Last position in the output at which it may: [`FAST_PATH_OUTPUT`] before the end.
    last_op: *mut u8,
}

impl FastPath {
    /// Decodes the sequence at `ip` to `op` and returns the positions of the next; `None` leaves it to the exact path.
    ///
    /// # Safety
    /// `ip` is inside the block and `op` inside the output, and neither is past its last position.
    #[inline(always)]
    unsafe fn sequence(self, mut ip: *const u8, mut op: *mut u8) -> Option<(*const u8, *mut u8)> {
        // SAFETY: after the token, the block has a step and an offset and the output has three steps, by this
        // function's contract. Fewer than 15 literals end inside that step, with an offset after it; a byte that
        // extends the length of a match is inside the block then, too. The end of more literals is compared with the
        // last positions, after which a step and an offset follow. The offset is compared with the start of the output;
        // for a short offset, HALF bytes before `op` are inside the output. A match of less than 19 bytes is copied as
        // 24 or, by `wild_copy_match`, at most 32 bytes, after at most 14 literals: 46 of the 48 bytes of three steps.
        // The end of a longer match is compared with the last position, and 32 bytes follow it.
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
            if offset.wrapping_sub(1) >= op.addr() - self.out.addr() {
                return None;
            }
            if length < MIN_MATCH + TOKEN_MAX && offset >= HALF {
                copy_halves::<3>(op.sub(offset), op);
                return Some((ip, op.add(length)));
            }
            // The pattern of a short offset is read from the HALF bytes before `op`.
            if offset < HALF && op.addr() - self.out.addr() < HALF {
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

    /// As the function [`extension`], if the length ends before the last position.
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
            if ip > self.last_ip || sum > FAST_PATH_LENGTH {
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

/// Sums the bytes at `ip` that extend a length; returns the sum and the position after them.
#[inline(always)]
fn extension(block: &[u8], mut ip: usize) -> Option<(usize, usize)> {
    let mut sum = 0_usize;
    loop {
        let byte = *block.get(ip)?;
        ip += 1;
        sum = sum.saturating_add(usize::from(byte));
        if byte != 255 {
            return Some((sum, ip));
        }
    }
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

/// Copies `N` half steps, one after the other.
///
/// # Safety
/// `N` times [`HALF`] bytes are readable at `from` and writable at `to`; the two may overlap.
#[inline(always)]
unsafe fn copy_halves<const N: usize>(from: *const u8, to: *mut u8) {
    for i in 0..N {
        // SAFETY: each half step is inside the bytes of this function's contract, and in a register between read and
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
                copy_halves::<2>(from.add(done), to.add(done));
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

/// Copies `length` bytes from `offset` before `at` to `at`, in order, so that a short offset repeats its pattern.
fn copy_match(out: &mut [MaybeUninit<u8>], at: usize, offset: usize, length: usize) {
    // The bytes from `at - offset` on are periodic, so each copy doubles the length of the next.
    let mut done = 0;
    while done < length {
        let step = (offset + done).min(length - done);
        out.copy_within(at - offset..at - offset + step, at + done);
        done += step;
    }
}
