//! The block decoder: a fast path of wild copies, and an exact path near both ends.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use super::dictionary::{Dictionary, Padded};
use super::fast_path::{FastPath, INPUT_MARGIN, OUTPUT_MARGIN};
use super::frame::Checksum;
use super::parse::{MAX_PAGE_SIZE, MIN_MATCH, TOKEN_MAX};
use super::trail::Trail;
use super::{BlockError, IS_SMALL};
use crate::memory::{as_uninit, with_room};

/// Decodes an LZ4 block that must fill `page` exactly.
///
/// # Errors
/// The first fault in the order of the sequences; `page` is all zeros then.
pub fn decompress_block(block: &[u8], page: &mut [u8]) -> Result<(), BlockError> {
    // SAFETY: `decompress_block_uninit` writes only initialised bytes.
    decompress_block_uninit(block, unsafe { as_uninit(page) }, None)
}

impl Dictionary {
    /// Decodes an LZ4 block that must fill `page` exactly, and that was compressed with this dictionary.
    ///
    /// # Errors
    /// As [`decompress_block`]; `page` is all zeros then.
    pub fn decompress_block(&self, block: &[u8], page: &mut [u8]) -> Result<(), BlockError> {
        // SAFETY: `decompress_block_uninit` writes only initialised bytes.
        decompress_block_uninit(block, unsafe { as_uninit(page) }, Some(self))
    }
}

/// As [`decompress_block`], to memory that may be uninitialised. All of `page` is initialised then, also after an error.
pub(super) fn decompress_block_uninit(
    block: &[u8],
    page: &mut [MaybeUninit<u8>],
    dictionary: Option<&Dictionary>,
) -> Result<(), BlockError> {
    let n_bytes = page.len();
    let result = match decode_uninit(block, page, dictionary) {
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
    decode_with(block, out, start, None)
}

/// As [`decode`]. If there is a dictionary, it stands before `out`.
pub(crate) fn decode_with(
    block: &[u8],
    out: &mut [u8],
    start: usize,
    dictionary: Option<&Dictionary>,
) -> Result<usize, BlockError> {
    // SAFETY: `decode_at` writes only initialised bytes.
    let out = unsafe { as_uninit(out) };
    // SAFETY: all of `out` is initialised.
    unsafe { decode_at(block, out, start, dictionary) }
}

/// Positions in the output of [`decode_and_sum`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions {
    /// First byte that matches may reach, at or before `start`.
    pub(crate) base: usize,
    /// First byte of the block's content.
    pub(crate) start: usize,
    /// First byte of content that is not in the sum.
    pub(crate) summed: usize,
}

/// As [`decode`], and adds content from `summed` on to `sum`, but not all of it. Returns the end of the content, and the first
/// byte that is not in the sum. An error leaves the sum as it was.
pub(crate) fn decode_and_sum(
    block: &[u8],
    out: &mut [u8],
    Positions {
        base,
        start,
        summed,
    }: Positions,
    sum: &mut Checksum,
) -> Result<(usize, usize), BlockError> {
    let Some(mut trail) = Trail::new(sum, summed) else {
        return Ok((
            base + decode(block, &mut out[base..], start - base)?,
            summed,
        ));
    };
    // SAFETY: `sequences` writes only initialised bytes.
    let out = unsafe { as_uninit(out) };
    let base = base.min(start);
    // SAFETY: all of `out` is initialised, and the base is not after the start.
    let end = unsafe { sequences(block, out, base, start, Some(&mut trail), Padded::NONE) }?;
    Ok((end, trail.finish(sum, summed)))
}

/// Decodes an LZ4 block into memory that may be uninitialised; returns its content, which is the start of `out`. If there is a
/// dictionary, it stands before `out`.
pub(crate) fn decode_uninit<'a>(
    block: &[u8],
    out: &'a mut [MaybeUninit<u8>],
    dictionary: Option<&Dictionary>,
) -> Result<&'a mut [u8], BlockError> {
    // SAFETY: `out[..0]` is empty.
    let n_bytes = unsafe { decode_at(block, out, 0, dictionary) }?;
    // SAFETY: `decode_at` initialised the bytes up to the end of the content.
    Ok(unsafe { out[..n_bytes].assume_init_mut() })
}

/// As [`decode_with`]. Writes only initialised bytes, and all bytes from `start` to the end of the content.
///
/// # Safety
/// `out[..start]` is initialised.
unsafe fn decode_at(
    block: &[u8],
    out: &mut [MaybeUninit<u8>],
    start: usize,
    dictionary: Option<&Dictionary>,
) -> Result<usize, BlockError> {
    let Some(dictionary) = dictionary else {
        // SAFETY: the contract of both functions is this function's contract.
        return unsafe {
            match IS_SMALL {
                true => decode_after(block, out, start, Padded::NONE),
                false => decode_alone(block, out, start),
            }
        };
    };
    if start == 0
        && out.len() <= MAX_PAGE_SIZE as usize
        && let Some(decoded) = decode_behind(dictionary, block, out)
    {
        return decoded;
    }
    // SAFETY: the contract of both functions is this function's contract.
    unsafe { decode_after(block, out, start, dictionary.bytes()) }
}

/// A dictionary, and memory that begins with its bytes.
type Behind = Option<(Dictionary, Vec<u8>)>;

thread_local! {
    /// The dictionary that a thread used last. Both stay with the thread until it uses another, or ends.
    static BEHIND: RefCell<Behind> = const { RefCell::new(None) };
}

/// Decodes a block of at most a page behind a copy of the dictionary, and copies the content: half the time of a decoder that has to
/// find out for each match in which of two places it begins. `None` without memory for it.
fn decode_behind(
    dictionary: &Dictionary,
    block: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Option<Result<usize, BlockError>> {
    let decode_in = |behind: &RefCell<Behind>| {
        let mut behind = behind.try_borrow_mut().ok()?;
        let (start, n_bytes) = (dictionary.as_bytes().len(), out.len());
        let is_new = !behind
            .as_ref()
            .is_some_and(|(own, _)| own.is_same(dictionary));
        if is_new {
            let mut memory = with_room(start + MAX_PAGE_SIZE as usize).ok()?;
            memory.extend_from_slice(dictionary.as_bytes());
            memory.resize(start + MAX_PAGE_SIZE as usize, 0);
            *behind = Some((dictionary.clone(), memory));
        }
        let (_, memory) = behind.as_mut()?;
        Some(
            decode(block, &mut memory[..start + n_bytes], start).map(|end| {
                out[..end - start].write_copy_of_slice(&memory[start..end]);
                end - start
            }),
        )
    };
    BEHIND.try_with(decode_in).ok()?
}

/// As [`decode_at`], without a dictionary.
///
/// # Safety
/// As [`decode_at`].
#[inline(never)]
unsafe fn decode_alone(
    block: &[u8],
    out: &mut [MaybeUninit<u8>],
    start: usize,
) -> Result<usize, BlockError> {
    // SAFETY: the contract of `sequences` is this function's contract.
    unsafe { sequences(block, out, 0, start, None, Padded::NONE) }
}

/// As [`decode_at`], with a dictionary.
///
/// # Safety
/// As [`decode_at`].
#[inline(never)]
unsafe fn decode_after(
    block: &[u8],
    out: &mut [MaybeUninit<u8>],
    start: usize,
    dictionary: Padded<'_>,
) -> Result<usize, BlockError> {
    // SAFETY: the contract of `sequences` is this function's contract.
    unsafe { sequences(block, out, 0, start, None, dictionary) }
}

/// As [`decode_at`], with matches that reach back to `base` only, before which the dictionary stands, and with a trail.
///
/// # Safety
/// `out[..start]` is initialised, and `base <= start`.
#[inline(always)]
unsafe fn sequences(
    block: &[u8],
    out: &mut [MaybeUninit<u8>],
    base: usize,
    start: usize,
    mut trail: Option<&mut Trail>,
    dictionary: Padded<'_>,
) -> Result<usize, BlockError> {
    let mut cursor = Cursor {
        block,
        out,
        base,
        dictionary,
        ip: 0,
        op: start,
    };
    loop {
        cursor.fast_sequences(trail.as_deref_mut());
        if cursor.sequence()? {
            return Ok(cursor.op);
        }
    }
}

struct Cursor<'a> {
    block: &'a [u8],
    out: &'a mut [MaybeUninit<u8>],
    /// First byte of `out` that matches may reach.
    base: usize,
    /// The bytes that stand before the base.
    dictionary: Padded<'a>,
    ip: usize,
    /// Next byte to write; `out` is initialised up to here.
    op: usize,
}

impl Cursor<'_> {
    /// Decodes sequences on the fast path, until one is wrong, or too close to the end of the block or of the output.
    /// That sequence is left to the exact path.
    #[inline(always)]
    fn fast_sequences(&mut self, mut trail: Option<&mut Trail>) {
        let (Some(last_ip), Some(last_op)) = (
            self.block.len().checked_sub(INPUT_MARGIN),
            self.out.len().checked_sub(OUTPUT_MARGIN),
        ) else {
            return;
        };
        let (block, out) = (self.block.as_ptr(), self.out.as_mut_ptr().cast::<u8>());
        let fast = FastPath {
            out,
            base: out.wrapping_add(self.base),
            last_ip: block.wrapping_add(last_ip),
            last_op: out.wrapping_add(last_op),
        };
        let (mut ip, mut op) = (block.wrapping_add(self.ip), out.wrapping_add(self.op));
        loop {
            // SAFETY: both pointers are at their start or at the end of a sequence. The output is initialised up to there.
            (ip, op) = unsafe { fast.short_sequences(ip, op, trail.as_deref_mut()) };
            if ip > fast.last_ip || op > fast.last_op {
                break;
            }
            // SAFETY: as above, and neither pointer is past its limit, by the comparison above.
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
        let mut done = 0;
        let n_before = offset.saturating_sub(self.op - self.base);
        if n_before > 0 {
            let bytes = self.dictionary.bytes();
            let source = &bytes[bytes.len() - n_before..];
            done = length.min(n_before);
            self.out[self.op..self.op + done].write_copy_of_slice(&source[..done]);
        }
        copy_match(self.out, self.op + done, offset, length - done);
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
            offset if offset > self.op - self.base + self.dictionary.len() => {
                Err(BlockError::OffsetTooFar)
            }
            offset => Ok(offset),
        }
    }
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
