//! Sequences to bytes.

use super::PageKind;
use super::page::fill_word;
use super::parse::{MIN_MATCH, Parse, Sequence, parse_block};
use super::table::{Buckets, LargeBuckets, PageBuckets};
use crate::{Error, Result};

/// Largest length that a token's half holds; it then says that more bytes follow.
const TOKEN_MAX: usize = 15;
/// Bytes that are copied at once, and written past the end of what counts.
const COPY_STEP: usize = 16;

/// Compresses one block after another with the canonical parse, reusing its tables.
pub struct Encoder {
    parse: Parse,
    table: Table,
    output: Vec<u8>,
}

enum Table {
    Page(PageBuckets),
    Large(LargeBuckets),
}

impl Encoder {
    /// An encoder for blocks of at most `parse.page_size()` bytes.
    #[must_use]
    pub fn new(parse: &Parse) -> Self {
        let table = if parse.is_large() {
            Table::Large(LargeBuckets::new(parse))
        } else {
            Table::Page(PageBuckets::new(parse))
        };
        Self {
            parse: *parse,
            table,
            output: Vec::new(),
        }
    }

    /// The parameters of the parse.
    #[must_use]
    pub const fn parse(&self) -> &Parse {
        &self.parse
    }

    /// Appends `input` as an LZ4 block to `out`; the block may be longer than `input`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `input` is longer than the page size of the parse.
    pub fn compress_block(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(self.encode(input)?);
        Ok(())
    }

    /// Appends the block of a page to `out`: LZ4, the page itself if it does not shrink, or the word of a fill.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `page` is longer than the page size of the parse.
    pub fn compress_page(&mut self, page: &[u8], out: &mut Vec<u8>) -> Result<PageKind> {
        if let Some(word) = fill_word(page) {
            out.extend_from_slice(&word.to_le_bytes());
            return Ok(PageKind::Fill(word));
        }
        let block = self.encode(page)?;
        if block.len() < page.len() {
            out.extend_from_slice(block);
            return Ok(PageKind::Lz4);
        }
        out.extend_from_slice(page);
        Ok(PageKind::Stored)
    }

    /// The block of `input`.
    pub(super) fn encode(&mut self, input: &[u8]) -> Result<&[u8]> {
        if input.len() > self.parse.page_size() as usize {
            return Err(Error::InvalidArgument {
                name: "block length",
                value: input.len().to_string(),
                expected: "give at most the page size of the parse",
            });
        }
        let room = worst_case(input.len()) + COPY_STEP;
        if self.output.len() < room {
            self.output.resize(room, 0);
        }
        let length = match &mut self.table {
            Table::Page(buckets) => dispatch(input, &self.parse, buckets, &mut self.output),
            Table::Large(buckets) => dispatch(input, &self.parse, buckets, &mut self.output),
        };
        Ok(&self.output[..length])
    }
}

/// Appends `input` as an LZ4 block to `out`; the block may be longer than `input`.
///
/// One block only; [`Encoder`] keeps its tables for the next.
///
/// # Errors
/// [`Error::InvalidArgument`] if `input` is longer than `parse.page_size()`.
pub fn compress_block(input: &[u8], parse: &Parse, out: &mut Vec<u8>) -> Result<()> {
    Encoder::new(parse).compress_block(input, out)
}

/// Bytes of the longest block that `n_bytes` of input give.
const fn worst_case(n_bytes: usize) -> usize {
    n_bytes + n_bytes / 255 + 16
}

/// Runs [`encode_block`] as compiled for the instructions that this machine has.
fn dispatch<B: Buckets>(input: &[u8], parse: &Parse, buckets: &mut B, output: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn with_avx2<B: Buckets>(
            input: &[u8],
            parse: &Parse,
            buckets: &mut B,
            output: &mut [u8],
        ) -> usize {
            encode_block(input, parse, buckets, output)
        }
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the machine has the three features.
            return unsafe { with_avx2(input, parse, buckets, output) };
        }
    }
    encode_block(input, parse, buckets, output)
}

#[inline(always)]
fn encode_block<B: Buckets>(
    input: &[u8],
    parse: &Parse,
    buckets: &mut B,
    output: &mut [u8],
) -> usize {
    buckets.clear();
    let mut writer = Writer {
        input,
        output,
        at: 0,
        anchor: 0,
    };
    parse_block(input, parse, buckets, |sequence| writer.sequence(sequence));
    writer.last_literals();
    writer.at
}

struct Writer<'a> {
    input: &'a [u8],
    output: &'a mut [u8],
    at: usize,
    anchor: usize,
}

impl Writer<'_> {
    #[inline(always)]
    fn sequence(
        &mut self,
        Sequence {
            anchor,
            start,
            offset,
            end,
        }: Sequence,
    ) {
        let (n_literals, extra) = (start - anchor, end - start - MIN_MATCH);
        let token = n_literals.min(TOKEN_MAX) << 4 | extra.min(TOKEN_MAX);
        self.byte(token as u8);
        self.length(n_literals);
        self.literals(anchor, n_literals);
        self.output[self.at..self.at + 2].copy_from_slice(&(offset as u16).to_le_bytes());
        self.at += 2;
        self.length(extra);
        self.anchor = end;
    }

    fn last_literals(&mut self) {
        let n_literals = self.input.len() - self.anchor;
        self.byte((n_literals.min(TOKEN_MAX) << 4) as u8);
        self.length(n_literals);
        self.literals(self.anchor, n_literals);
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.output[self.at] = byte;
        self.at += 1;
    }

    /// The bytes that continue a length which does not fit its half of the token.
    #[inline(always)]
    fn length(&mut self, length: usize) {
        if length < TOKEN_MAX {
            return;
        }
        let mut left = length - TOKEN_MAX;
        while left >= 255 {
            self.byte(255);
            left -= 255;
        }
        self.byte(left as u8);
    }

    #[inline(always)]
    fn literals(&mut self, from: usize, count: usize) {
        let source = self
            .input
            .get(from..)
            .and_then(|tail| tail.first_chunk::<COPY_STEP>());
        let target = self
            .output
            .get_mut(self.at..)
            .and_then(|tail| tail.first_chunk_mut());
        match (source, target) {
            (Some(source), Some(target)) if count <= COPY_STEP => *target = *source,
            _ => self.output[self.at..self.at + count]
                .copy_from_slice(&self.input[from..from + count]),
        }
        self.at += count;
    }
}
