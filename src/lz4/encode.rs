//! The encoder of blocks and pages.

use super::cheapest::Cheapest;
use super::dictionary::Dictionary;
use super::frame::put;
use super::instructions::Instructions;
use super::match_finder::MatchFinder;
use super::page::fill_word;
use super::parse::{MATCH_START_MARGIN, Parse};
use super::parser::Parser;
use super::sequence_writer::{SequenceWriter, block_capacity};
use super::sequential::Table;
use super::{Level, PageKind, WINDOW};
use crate::memory::reserve;
use crate::{Error, Result};

/// Compresses one block after another, reusing its hash table. The level of its [`Parse`] selects the algorithm.
pub struct Encoder {
    parse: Parse,
    matcher: Matcher,
    output: Vec<u8>,
}

/// The match finder of a parse, with its memory.
enum Matcher {
    Windows(Box<MatchFinder>, Instructions),
    Cheapest(Cheapest, Instructions),
    Sequential(Table),
}

impl Encoder {
    /// Returns an encoder for blocks of at most `parse.page_size()` bytes.
    #[must_use]
    pub fn new(parse: &Parse) -> Self {
        Self::with_dictionary(parse, None)
    }

    /// As [`new`](Self::new), for blocks that a dictionary stands before, if there is one.
    #[must_use]
    pub fn with_dictionary(parse: &Parse, dictionary: Option<Dictionary>) -> Self {
        if parse.level() == Level::Sequential {
            // Its only form needs no special instructions. Finding out which there are takes half a millisecond in a
            // virtual machine.
            return Self::with(parse, Matcher::Sequential(Table::new(parse, dictionary)));
        }
        #[cfg(not(pagepress_forced_instructions))]
        let instructions = Instructions::best();
        #[cfg(pagepress_forced_instructions)]
        let instructions = Instructions::forced();
        Self::with_instructions(parse, dictionary, instructions)
    }

    /// Returns an encoder that uses `instructions`, which this machine has, where the level has use for them.
    pub(super) fn with_instructions(
        parse: &Parse,
        dictionary: Option<Dictionary>,
        instructions: Instructions,
    ) -> Self {
        let matcher = match parse.level() {
            Level::Fast => {
                let finder = MatchFinder::new(parse, dictionary);
                Matcher::Windows(Box::new(finder), instructions)
            }
            Level::High => Matcher::Cheapest(Cheapest::new(parse, dictionary), instructions),
            Level::Sequential => Matcher::Sequential(Table::new(parse, dictionary)),
        };
        Self::with(parse, matcher)
    }

    fn with(parse: &Parse, matcher: Matcher) -> Self {
        Self {
            parse: *parse,
            matcher,
            output: Vec::new(),
        }
    }

    /// Returns the parameters of the parse.
    #[must_use]
    pub const fn parse(&self) -> &Parse {
        &self.parse
    }

    /// Appends `input` as an LZ4 block to `out`. An incompressible block is longer than `input`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `input` is longer than the page size of the parse.
    pub fn compress_block(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.check_length(input)?;
        out.extend_from_slice(self.encode(input));
        Ok(())
    }

    /// Appends the block of a page to `out`: LZ4, the page itself if LZ4 is not shorter, or the word of a fill; returns
    /// which.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `page` is longer than the page size of the parse.
    pub fn compress_page(&mut self, page: &[u8], out: &mut Vec<u8>) -> Result<PageKind> {
        self.check_length(page)?;
        Ok(self.append_block(page, out))
    }

    /// [`compress_page`](Self::compress_page) without the check of the length.
    pub(super) fn append_block(&mut self, page: &[u8], out: &mut Vec<u8>) -> PageKind {
        if let Some(word) = fill_word(page) {
            put(out, &word.to_le_bytes());
            return PageKind::Fill(word);
        }
        let block = self.encode(page);
        let (kind, block) = if block.len() < page.len() {
            (PageKind::Lz4, block)
        } else {
            (PageKind::Stored, page)
        };
        put(out, block);
        kind
    }

    fn check_length(&self, input: &[u8]) -> Result<()> {
        if input.len() <= self.parse.page_size() as usize {
            return Ok(());
        }
        let expected = "give at most the page size of the parse";
        Err(Error::invalid("block length", input.len() as u64, expected))
    }

    /// Appends `input` as an LZ4 block to `out`; with the sequential parse it may be longer than the page size.
    ///
    /// # Errors
    /// As [`compress_block`](Self::compress_block), and [`Error::OutOfMemory`].
    pub(super) fn append_whole(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if self.parse.level() != Level::Sequential {
            self.check_length(input)?;
        }
        let start = out.len();
        reserve(out, block_capacity(input.len()))?;
        out.resize(start + block_capacity(input.len()), 0);
        let length = self.matcher.encode(&self.parse, input, &mut out[start..]);
        out.truncate(start + length);
        Ok(())
    }

    /// Encodes `input`, at most a page, and returns the block.
    pub(super) fn encode(&mut self, input: &[u8]) -> &[u8] {
        if self.output.len() < block_capacity(input.len()) {
            self.output.resize(block_capacity(input.len()), 0);
        }
        let length = self.matcher.encode(&self.parse, input, &mut self.output);
        &self.output[..length]
    }
}

impl Matcher {
    /// Encodes `input` to `output`, which has [`block_capacity`] bytes; returns the length of the block.
    fn encode(&mut self, parse: &Parse, input: &[u8], output: &mut [u8]) -> usize {
        let writer = SequenceWriter::new(input, output);
        match self {
            Self::Sequential(table) => table.encode(input, writer),
            Self::Cheapest(cheapest, instructions) => cheapest.encode(*instructions, input, writer),
            Self::Windows(finder, instructions) => {
                encode_by_windows(finder, *instructions, parse, input, writer)
            }
        }
    }
}

/// Alternates between the match finder and the parser, a few windows at a time; returns the length of the block.
#[inline(never)]
fn encode_by_windows(
    finder: &mut MatchFinder,
    instructions: Instructions,
    parse: &Parse,
    input: &[u8],
    writer: SequenceWriter<'_>,
) -> usize {
    let mut parser = Parser::new(input, writer);
    let last = input.len().checked_sub(MATCH_START_MARGIN);
    if let Some(last) = last.filter(|&last| last > 0) {
        finder.start_block(input);
        while finder.candidates.end <= last {
            // SAFETY: `start_block` was called with this input above; `last` is MATCH_START_MARGIN before its end.
            unsafe { instructions.search(finder, input, last) };
            // The match finder stays a window ahead, for lazy matching and `Candidates::ahead`.
            let end = finder.candidates.end;
            let limit = if end > last { end } else { end - WINDOW };
            let dictionary = finder.dictionary.as_ref().map(Dictionary::bytes);
            // SAFETY: the candidates belong to the block of the parser, and to this dictionary. They begin at 0, and later at the last window
            // of the previous search, where the previous call of the parser ended; they end a window after `limit` or,
            // past `last`, with the last searchable position.
            unsafe {
                instructions.parse(&mut parser, &finder.candidates, limit, parse, dictionary)
            };
        }
    }
    parser.finish()
}

/// Appends `input` as an LZ4 block to `out`. An incompressible block is longer than `input`.
///
/// Allocates a hash table for this one block; an [`Encoder`] reuses its table.
///
/// # Errors
/// [`Error::InvalidArgument`] if `input` is longer than `parse.page_size()`.
pub fn compress_block(input: &[u8], parse: &Parse, out: &mut Vec<u8>) -> Result<()> {
    Encoder::new(parse).compress_block(input, out)
}
