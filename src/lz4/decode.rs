//! Block decoder.

use super::BlockError;
use super::parse::MIN_MATCH;

/// Length in a token's half that says that more bytes follow.
const TOKEN_MAX: usize = 15;
/// Bytes that are copied at once on the short path.
const COPY_STEP: usize = 16;
/// The same for matches with an offset below that.
const SMALL_STEP: usize = 8;
/// Input and output that a short sequence may touch, copies past its end included.
const SHORT_INPUT: usize = 1 + COPY_STEP + 2;
const SHORT_OUTPUT: usize = COPY_STEP + 2 * COPY_STEP;

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
    let mut cursor = Cursor {
        block,
        out,
        ip: 0,
        op: start,
    };
    loop {
        cursor.short_sequences();
        if cursor.sequence()? {
            return Ok(cursor.op);
        }
    }
}

struct Cursor<'a> {
    block: &'a [u8],
    out: &'a mut [u8],
    ip: usize,
    op: usize,
}

impl Cursor<'_> {
    /// Decodes sequences of few literals away from the ends, copying more than it must, until one is different: that
    /// one is left as it was found.
    #[inline(always)]
    fn short_sequences(&mut self) {
        let Self { block, out, .. } = self;
        let (mut ip, mut op) = (self.ip, self.op);
        while let Some(input) = block
            .get(ip..)
            .and_then(|tail| tail.first_chunk::<SHORT_INPUT>())
        {
            let token = usize::from(input[0]);
            let (n_literals, mut length) = (token >> 4, MIN_MATCH + (token & TOKEN_MAX));
            if n_literals == TOKEN_MAX || op + SHORT_OUTPUT > out.len() {
                break;
            }
            out[op..op + COPY_STEP].copy_from_slice(&input[1..=COPY_STEP]);
            let offset = usize::from(u16::from_le_bytes([
                input[1 + n_literals],
                input[2 + n_literals],
            ]));
            let at = op + n_literals;
            let mut next = ip + 1 + n_literals + 2;
            if offset == 0 || offset > at {
                break;
            }
            let from = at - offset;
            if length < MIN_MATCH + TOKEN_MAX && offset >= COPY_STEP {
                out.copy_within(from..from + COPY_STEP, at);
                out.copy_within(from + COPY_STEP..from + 2 * COPY_STEP, at + COPY_STEP);
            } else {
                if length == MIN_MATCH + TOKEN_MAX {
                    let Some((more, end)) = extension(block, next) else {
                        break;
                    };
                    length = length.saturating_add(more);
                    next = end;
                    if length > out.len() - at {
                        break;
                    }
                }
                copy_match(out, at, offset, length);
            }
            op = at + length;
            ip = next;
        }
        (self.ip, self.op) = (ip, op);
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
        self.out[self.op..self.op + n_literals].copy_from_slice(literals);
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

/// Copies `length` bytes from `offset` before `at` to `at`, in order, so that a short offset repeats. May write past
/// them, inside `out`.
#[inline(always)]
fn copy_match(out: &mut [u8], at: usize, offset: usize, length: usize) {
    let end = at + length;
    if offset >= COPY_STEP && end + COPY_STEP <= out.len() {
        let mut to = at;
        while to < end {
            out.copy_within(to - offset..to - offset + COPY_STEP, to);
            to += COPY_STEP;
        }
    } else if offset >= SMALL_STEP && end + SMALL_STEP <= out.len() {
        let mut to = at;
        while to < end {
            out.copy_within(to - offset..to - offset + SMALL_STEP, to);
            to += SMALL_STEP;
        }
    } else if offset > 1 && end + 2 * SMALL_STEP <= out.len() {
        // Eight bytes one by one; from then on a multiple of the offset that is at least 8 is an offset too.
        for i in at..at + SMALL_STEP {
            out[i] = out[i - offset];
        }
        let offset = offset * SMALL_STEP.div_ceil(offset);
        let mut to = at + SMALL_STEP;
        while to < end {
            out.copy_within(to - offset..to - offset + SMALL_STEP, to);
            to += SMALL_STEP;
        }
    } else if offset >= length {
        out.copy_within(at - offset..end - offset, at);
    } else if offset == 1 {
        let byte = out[at - 1];
        out[at..end].fill(byte);
    } else {
        // The bytes from `at - offset` on are periodic, so every copy doubles what can be copied next.
        let mut done = 0;
        while done < length {
            let step = (offset + done).min(length - done);
            out.copy_within(at - offset..at - offset + step, at + done);
            done += step;
        }
    }
}
