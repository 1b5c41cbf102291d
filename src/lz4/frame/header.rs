//! Frame options, and the frame descriptor that results from them.

use super::{LEGACY_BLOCK_SIZE, MAGIC, checksum, put, put_word};
use crate::lz4::dictionary::check_id;
use crate::lz4::{Dictionary, Encoder, Level, Parse};
use crate::{Error, Result};

const VERSION: u8 = 1 << 6;
const VERSION_MASK: u8 = 3 << 6;
const INDEPENDENT: u8 = 1 << 5;
const BLOCK_CHECKSUMS: u8 = 1 << 4;
const CONTENT_SIZE: u8 = 1 << 3;
const CONTENT_CHECKSUM: u8 = 1 << 2;
const FLAG_RESERVED: u8 = 1 << 1;
const DICTIONARY_ID: u8 = 1;
const BLOCK_MAX_SHIFT: u32 = 4;
const BLOCK_MAX_RESERVED: u8 = 0x8f;
/// Codes of the largest block content: 4 is 64 KiB, each next code four times as much, up to 7.
const BLOCK_MAX_CODES: std::ops::RangeInclusive<u8> = 4..=7;

/// Bytes of the header of a frame with a content size, with its magic number.
pub(crate) const HEADER_BYTES: u64 = 15;
/// Bytes of the longest header, which has a dictionary id too.
pub(super) const MAX_HEADER_BYTES: usize = 19;

/// Options of a new frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameOptions {
    /// Content of a block in bytes, 4096 to 4 MiB. The header declares the next larger of 64 KiB, 256 KiB, 1 MiB and 4
    /// MiB.
    pub block_size: u32,
    /// Effort of the encoder. The default is [`Level::Fast`], whose bytes are the same on every engine;
    /// [`Level::auto`] gives the quickest level of an engine.
    pub level: Level,
    /// Appends a checksum of the content to the frame.
    pub content_checksum: bool,
    /// Appends a checksum to each block.
    pub block_checksums: bool,
    /// Bytes of content, which the header states; [`super::FrameWriter::finish`] checks them.
    pub content_size: Option<u64>,
    /// Appends an index of the blocks after the frame, for [`super::SeekableFrame`]: 8 bytes per block in a skippable
    /// frame, which every LZ4 program skips. (`lz4` 1.9.4 cannot read on after a frame with block checksums and no
    /// content checksum, whatever follows it.)
    pub index: bool,
    /// Stands before each block. The header states its id, unless that is 0; the content returns only with the same dictionary.
    pub dictionary: Option<Dictionary>,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            block_size: 65_536,
            level: Level::Fast,
            content_checksum: true,
            block_checksums: false,
            content_size: None,
            index: false,
            dictionary: None,
        }
    }
}

impl FrameOptions {
    /// Returns the parameters of the parse for these options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the block size is out of range.
    pub fn parse(&self) -> Result<Parse> {
        Parse::new(self.block_size, self.level)
    }

    /// Returns an encoder of the blocks.
    pub(super) fn encoder(&self) -> Result<Encoder> {
        Ok(Encoder::with_dictionary(
            &self.parse()?,
            self.dictionary.clone(),
        ))
    }

    /// Appends the header of a frame.
    pub(crate) fn write_header(&self, out: &mut Vec<u8>) {
        self.header().write(out);
    }

    /// Returns the header of the frame.
    pub(super) fn header(&self) -> FrameHeader {
        let code = BLOCK_MAX_CODES
            .into_iter()
            .find(|&code| block_max_size(code) >= self.block_size);
        FrameHeader {
            legacy: false,
            linked: false,
            block_checksums: self.block_checksums,
            content_checksum: self.content_checksum,
            content_size: self.content_size,
            dictionary_id: self.dictionary.as_ref().map_or(0, Dictionary::id),
            block_max_size: block_max_size(code.unwrap_or(*BLOCK_MAX_CODES.end())),
        }
    }
}

/// The properties of a frame, from its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameHeader {
    /// True for a legacy frame, of which only the block size below applies.
    pub legacy: bool,
    /// True if matches may reach into earlier blocks (linked blocks), at most 64 KiB back.
    pub linked: bool,
    /// True if each block has a checksum.
    pub block_checksums: bool,
    /// True if a checksum of the content ends the frame.
    pub content_checksum: bool,
    /// Bytes of content, if the header states them.
    pub content_size: Option<u64>,
    /// The id of the dictionary that stands before the content of the first block, or of each block if they are not linked; 0 if the
    /// header states none.
    pub dictionary_id: u32,
    /// Largest content of a block in bytes.
    pub block_max_size: u32,
}

impl FrameHeader {
    pub(super) const LEGACY: Self = Self {
        legacy: true,
        linked: false,
        block_checksums: false,
        content_checksum: false,
        content_size: None,
        dictionary_id: 0,
        block_max_size: LEGACY_BLOCK_SIZE,
    };

    /// Appends the magic number and the descriptor.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        put_word(out, MAGIC);
        let start = out.len();
        let flags = VERSION
            | flag(!self.linked, INDEPENDENT)
            | flag(self.block_checksums, BLOCK_CHECKSUMS)
            | flag(self.content_size.is_some(), CONTENT_SIZE)
            | flag(self.content_checksum, CONTENT_CHECKSUM)
            | flag(self.dictionary_id != 0, DICTIONARY_ID);
        let code = BLOCK_MAX_CODES
            .into_iter()
            .find(|&code| block_max_size(code) == self.block_max_size);
        let block_max = code.unwrap_or(*BLOCK_MAX_CODES.end()) << BLOCK_MAX_SHIFT;
        put(out, &[flags, block_max]);
        if let Some(size) = self.content_size {
            put(out, &size.to_le_bytes());
        }
        if self.dictionary_id != 0 {
            put_word(out, self.dictionary_id);
        }
        let sum = header_checksum(&out[start..]);
        put(out, &[sum]);
    }

    /// Returns the dictionary of the frame, if `given` is the one that was given for it. Legacy frames have none.
    pub(super) fn dictionary<'a>(&self, given: Option<&'a Dictionary>) -> Option<&'a Dictionary> {
        given.filter(|_| !self.legacy)
    }

    /// Reads the descriptor at the start of `input`, which is at byte `at` of the file; returns it with its length.
    /// `Err(Ok(n))` requests `n` more bytes. Fails if the frame states another dictionary than the given one.
    pub(super) fn read(
        input: &[u8],
        at: u64,
        dictionary: Option<&Dictionary>,
    ) -> Result<(Self, usize), Result<usize, Error>> {
        let [flags, block_max, ..] = *input else {
            return Err(Ok(2 - input.len()));
        };
        check_bits(flags, block_max, at).map_err(Err)?;
        let (size_bytes, id_bytes) = (
            if flags & CONTENT_SIZE == 0 { 0 } else { 8 },
            if flags & DICTIONARY_ID == 0 { 0 } else { 4 },
        );
        let length = 2 + size_bytes + id_bytes + 1;
        let Some(descriptor) = input.get(..length) else {
            return Err(Ok(length - input.len()));
        };
        let (fields, stored) = descriptor.split_at(length - 1);
        let computed = header_checksum(fields);
        if stored != [computed] {
            let stored = stored.iter().fold(0, |_, &byte| u32::from(byte));
            return Err(Err(Error::ChecksumMismatch {
                what: "header",
                stored,
                computed: computed.into(),
            }));
        }
        let id = fields.get(2 + size_bytes..);
        let id = id.and_then(|rest| rest.first_chunk());
        let dictionary_id = id.map_or(0, |id| u32::from_le_bytes(*id));
        check_id(dictionary, dictionary_id).map_err(Err)?;
        let content_size = fields.get(2..2 + size_bytes);
        let content_size = content_size.and_then(|rest| rest.first_chunk());
        let header = Self {
            legacy: false,
            linked: flags & INDEPENDENT == 0,
            block_checksums: flags & BLOCK_CHECKSUMS != 0,
            content_checksum: flags & CONTENT_CHECKSUM != 0,
            content_size: content_size.map(|bytes| u64::from_le_bytes(*bytes)),
            dictionary_id,
            block_max_size: block_max_size(block_max >> BLOCK_MAX_SHIFT),
        };
        Ok((header, length))
    }
}

/// Rejects versions and bits that the format does not define.
fn check_bits(flags: u8, block_max: u8, at: u64) -> Result<()> {
    let invalid = |what, value: u8, at| {
        Err(Error::InvalidFrame {
            what,
            value: value.into(),
            at,
        })
    };
    if flags & VERSION_MASK != VERSION {
        return invalid("version", flags >> 6, at);
    }
    if flags & FLAG_RESERVED != 0 {
        return invalid("reserved bit of flags", flags, at);
    }
    if block_max & BLOCK_MAX_RESERVED != 0 {
        return invalid("reserved bits of block descriptor", block_max, at + 1);
    }
    if !BLOCK_MAX_CODES.contains(&(block_max >> BLOCK_MAX_SHIFT)) {
        return invalid("largest block size", block_max >> BLOCK_MAX_SHIFT, at + 1);
    }
    Ok(())
}

const fn block_max_size(code: u8) -> u32 {
    1 << (8 + 2 * code as u32)
}

fn header_checksum(descriptor: &[u8]) -> u8 {
    (checksum(descriptor) >> 8) as u8
}
