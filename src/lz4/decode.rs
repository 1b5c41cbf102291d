//! Block decoder.

use super::BlockError;
use super::parse::MIN_MATCH;

/// Length in a token's half that says that more bytes follow.
const TOKEN_MAX: usize = 15;
/// Bytes that are copied at once on the short path.
const COPY_STEP: usize = 16;
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
    /// Decodes sequences of few literals and a short match, away from the ends, until one is different.
    #[inline(always)]
    fn short_sequences(&mut self) {
        let Self { block, out, .. } = self;
        let (mut ip, mut op) = (self.ip, self.op);
        while let Some(input) = block
            .get(ip..)
            .and_then(|tail| tail.first_chunk::<SHORT_INPUT>())
        {
            let token = usize::from(input[0]);
            let (n_literals, extra) = (token >> 4, token & TOKEN_MAX);
            if n_literals == TOKEN_MAX || extra == TOKEN_MAX || op + SHORT_OUTPUT > out.len() {
                break;
            }
            out[op..op + COPY_STEP].copy_from_slice(&input[1..=COPY_STEP]);
            let offset = usize::from(u16::from_le_bytes([
                input[1 + n_literals],
                input[2 + n_literals],
            ]));
            let at = op + n_literals;
            let length = MIN_MATCH + extra;
            if offset == 0 || offset > at {
                break;
            }
            let from = at - offset;
            if offset >= COPY_STEP {
                out.copy_within(from..from + COPY_STEP, at);
                out.copy_within(from + COPY_STEP..from + 2 * COPY_STEP, at + COPY_STEP);
            } else {
                copy_match(out, at, offset, length);
            }
            op = at + length;
            ip += 1 + n_literals + 2;
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
        let mut length = half;
        if half == TOKEN_MAX {
            loop {
                let byte = self.byte()?;
                length = length.saturating_add(usize::from(byte));
                if byte != 255 {
                    break;
                }
            }
        }
        Ok(length)
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

/// Copies `length` bytes from `offset` before `at` to `at`, in order, so that a short offset repeats.
#[inline(always)]
fn copy_match(out: &mut [u8], at: usize, offset: usize, length: usize) {
    let from = at - offset;
    if offset >= length {
        out.copy_within(from..from + length, at);
    } else if offset == 1 {
        let byte = out[from];
        out[at..at + length].fill(byte);
    } else {
        // The bytes from `from` on are periodic, so every copy doubles what can be copied next.
        let mut done = 0;
        while done < length {
            let step = (offset + done).min(length - done);
            out.copy_within(from..from + step, at + done);
            done += step;
        }
    }
}
