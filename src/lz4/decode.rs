//! Block decoder.

use std::mem::MaybeUninit;

use super::BlockError;
use super::parse::MIN_MATCH;
use super::wild_copy::{STEP, copy_16, wild_copy};

/// Length in a token's half that says that more bytes follow.
const TOKEN_MAX: usize = 15;
/// The quick way takes a sequence only with so many bytes of the block left: a token, a step of literals, an offset.
const FAST_PATH_INPUT: usize = 1 + STEP + 2;
/// And with so much room: a step of literals, and two steps behind the longest literals that fit a token.
const FAST_PATH_OUTPUT: usize = STEP + 2 * STEP;

/// A longer run of literals or match is not for the quick way, so that sums stay small.
const FAST_PATH_LENGTH: usize = 1 << 28;

/// Decodes an LZ4 block that must fill `page` exactly.
///
/// # Errors
/// The first fault in the order in which a sequential decoder meets them; `page` is then all zeros.
pub fn decompress_block(block: &[u8], page: &mut [u8]) -> Result<(), BlockError> {
    let result = match decode(block, page, 0) {
        Ok(end) if end < page.len() => Err(BlockError::OutputUnderrun),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    if result.is_err() {
        page.fill(0);
    }
    result
}

/// Decodes an LZ4 block into `out[start..]`, whose matches may reach back into `out[..start]`.
/// Returns where the content ends in `out`; what lies beyond is undefined.
pub(crate) fn decode(block: &[u8], out: &mut [u8], start: usize) -> Result<usize, BlockError> {
    // SAFETY: the types have one layout, and `decode_at` writes initialised bytes only, so that `out` stays a slice of such.
    let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [MaybeUninit<u8>]) };
    // SAFETY: all of `out` is initialised.
    unsafe { decode_at(block, out, start) }
}

/// Decodes an LZ4 block into memory that need not be initialised, and returns its content, at the start of `out`.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn decode_uninit<'a>(
    block: &[u8],
    out: &'a mut [MaybeUninit<u8>],
) -> Result<&'a mut [u8], BlockError> {
    // SAFETY: there is nothing before byte 0.
    let n_bytes = unsafe { decode_at(block, out, 0) }?;
    // SAFETY: `decode_at` has written the bytes up to the end of the content.
    Ok(unsafe { out[..n_bytes].assume_init_mut() })
}

/// As [`decode`]. Writes only initialised bytes, all of them from `start` to the end of the content.
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
    /// All of `out` before it is initialised.
    op: usize,
}

impl Cursor<'_> {
    /// Decodes sequences away from both ends, copying more than it must, until one is wrong or too near an end: that one
    /// is left as it was found.
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
            // SAFETY: both are not behind the last places, as was just compared, and where they began, or a sequence ended.
            let Some(next) = (unsafe { fast.sequence(ip, op) }) else {
                break;
            };
            (ip, op) = next;
        }
        (self.ip, self.op) = (ip.addr() - block.addr(), op.addr() - out.addr());
    }

    /// Decodes one sequence of any kind; true at the end of the block.
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

    /// A length that starts with `half` of a token.
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

/// A block and its room, by pointers: engines of WebAssembly take them as they are, where they would add an index each time.
///
/// The block and the room are slices that [`Cursor::fast_sequences`] has borrowed for as long as this is used.
#[derive(Clone, Copy)]
struct FastPath {
    /// The start of the room.
    out: *mut u8,
    /// The last place at which a sequence may begin in the block: [`FAST_PATH_INPUT`] before its end.
    last_ip: *const u8,
    /// And in the room: [`FAST_PATH_OUTPUT`] before its end.
    last_op: *mut u8,
}

impl FastPath {
    /// Decodes the sequence at `ip` to `op`, and gives where the next ones are; none if it is not one for this way.
    ///
    /// # Safety
    /// `ip` is in the block and `op` in the room, and neither is behind the last one of its kind.
    #[inline(always)]
    unsafe fn sequence(self, mut ip: *const u8, mut op: *mut u8) -> Option<(*const u8, *mut u8)> {
        // SAFETY: behind the token the block goes on for a step and an offset, and the room for three steps, by this
        // function's contract. Fewer than 15 literals end within that step, with an offset behind it, and a byte that the
        // length of a match may go on with is in the block then, too. Where more literals would end is compared with the last
        // places, and a step and an offset follow these. An offset is not farther than the start of the room, and a half of it
        // is before `op` where the offset is short. A match of less than 19 bytes is copied as 24 or, by `wild_copy_match`, at most
        // 32, behind at most 14 literals: 46 of the 48 bytes of three steps. Where a longer one would end is compared with the
        // last place, and 32 bytes follow it.
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
            // A short offset is taken from the half before `op`.
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

    /// What [`extension`] says, if it ends before the last place.
    ///
    /// # Safety
    /// `ip` is in the block.
    #[inline(always)]
    unsafe fn extension(self, mut ip: *const u8) -> Option<(usize, *const u8)> {
        let mut sum = 0;
        loop {
            // SAFETY: the first byte is in the block by this function's contract; others are not behind the last place,
            // as is compared below.
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

/// Bytes from `at` to `end`; none if that comes before.
#[inline(always)]
fn before(at: *const u8, end: *const u8) -> usize {
    end.addr().saturating_sub(at.addr())
}

/// The bytes at `ip` that continue a length: their sum, and where they end.
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

/// Bytes that the quick way copies at once where a step would not do.
const HALF: usize = 8;

/// For offsets below 8: the factor that repeats so many bytes in a word, and how many bytes are whole repetitions.
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

/// Copies `N` halves of a step one after the other.
///
/// # Safety
/// `N` times [`HALF`] bytes may be read at `from` and written at `to`; the two may overlap.
#[inline(always)]
unsafe fn copy_halves<const N: usize>(from: *const u8, to: *mut u8) {
    for i in 0..N {
        // SAFETY: each half is among the bytes of this function's contract, and in a register in between.
        unsafe {
            let bytes = from.add(i * HALF).cast::<[u8; HALF]>().read_unaligned();
            to.add(i * HALF).cast::<[u8; HALF]>().write_unaligned(bytes);
        }
    }
}

/// Copies a match of any offset to `to`.
///
/// # Safety
/// `offset` is not 0, and the room begins that many bytes before `to` or earlier, and at least [`HALF`] before it; up to `to`
/// it is initialised. It goes on for `length` rounded up to a multiple of two steps behind `to`.
#[inline(always)]
unsafe fn wild_copy_match(to: *mut u8, offset: usize, length: usize) {
    // SAFETY: reads begin where the offset points, or a half before `to`, in the room by this function's contract, and end
    // before the writes of the same turn begin, so that they are of initialised bytes. Writes begin less than `length` behind
    // `to`, each two steps at multiples of two steps, two halves at multiples of two halves, or one half: they end in the room.
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
        // The bytes that repeat, as often as they fit.
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

/// Copies `length` bytes from `offset` before `at` to `at`, in order, so that a short offset repeats.
fn copy_match(out: &mut [MaybeUninit<u8>], at: usize, offset: usize, length: usize) {
    // The bytes from `at - offset` on are periodic, so every copy doubles what can be copied next.
    let mut done = 0;
    while done < length {
        let step = (offset + done).min(length - done);
        out.copy_within(at - offset..at - offset + step, at + done);
        done += step;
    }
}
