//! [`std::io::Read`] and [`std::io::Seek`] over the content of the frames in a file.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::{ContentRead, FrameMap};
use crate::lz4::Dictionary;
use crate::memory::{extend, reserve};

/// Reads any part of the content of the frames in `reader`; decodes only the blocks that the part needs.
///
/// With an index ([`super::FrameOptions::index`]), opening reads the end of the file and the headers of its frames; a
/// read compares the sizes of the blocks before it, four bytes each, once. An index that contradicts the file is
/// ignored or an error. Without an index, the file is walked once, up to the part that is read. Linked blocks are
/// decoded from the start of their frame. Checksums of blocks are verified; those of whole contents cannot be.
#[derive(Debug)]
pub struct SeekableFrame<R> {
    reader: R,
    map: FrameMap,
    position: u64,
    /// The read that [`Read::read`] continues, and the content that it returned last.
    ahead: Option<ContentRead>,
    held: Vec<u8>,
    held_at: u64,
    /// Bytes of the file, in memory that is reused.
    bytes: Vec<u8>,
}

impl<R: Read + Seek> SeekableFrame<R> {
    /// Opens the frames in `reader`, from its start to its end.
    ///
    /// # Errors
    /// Those of `reader`, and those of the frames as the source of the [`io::Error`].
    pub fn open(reader: R) -> io::Result<Self> {
        Self::open_with(reader, None)
    }

    /// As [`open`](Self::open), for frames with this dictionary.
    ///
    /// # Errors
    /// As [`open`](Self::open), [`Error::WrongDictionary`](crate::Error::WrongDictionary) among those of the frames.
    pub fn open_with_dictionary(reader: R, dictionary: Dictionary) -> io::Result<Self> {
        Self::open_with(reader, Some(dictionary))
    }

    fn open_with(mut reader: R, dictionary: Option<Dictionary>) -> io::Result<Self> {
        let n_bytes = reader.seek(SeekFrom::End(0))?;
        let map = FrameMap::new(n_bytes).with_dictionary(dictionary);
        let mut this = Self {
            reader,
            map,
            position: 0,
            ahead: None,
            held: Vec::new(),
            held_at: 0,
            bytes: Vec::new(),
        };
        // Finds an index, or detects whether the file starts with a frame.
        this.map_to(0)?;
        if this.map.content_bytes().is_none() {
            this.map_to(1)?;
        }
        Ok(this)
    }

    /// Returns true if an index was found.
    #[must_use]
    pub const fn has_index(&self) -> bool {
        self.map.has_index()
    }

    /// Returns the bytes of all content. Without an index, this walks the rest of the file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn content_bytes(&mut self) -> io::Result<u64> {
        self.map_to(u64::MAX)?;
        Ok(self.map.mapped_bytes())
    }

    /// Returns the content in `range`, as far as there is content.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read_range(&mut self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.each_part(range, |part| Ok(extend(&mut content, part)?))?;
        Ok(content)
    }

    /// Copies the content in `range`, as far as there is content, to `writer`; returns the number of bytes. Memory does
    /// not grow with the range.
    ///
    /// # Errors
    /// As [`open`](Self::open), and those of `writer`.
    pub fn copy_range(
        &mut self,
        range: Range<u64>,
        writer: &mut impl io::Write,
    ) -> io::Result<u64> {
        let mut n_bytes = 0;
        self.each_part(range, |part| {
            n_bytes += part.len() as u64;
            writer.write_all(part)
        })?;
        Ok(n_bytes)
    }

    fn each_part(
        &mut self,
        range: Range<u64>,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.map_to(range.end)?;
        let mut read = self.map.read(range);
        let mut part = Vec::new();
        while self.step(&mut read, &mut part)? {
            take(&part)?;
            part.clear();
        }
        Ok(())
    }

    /// Decodes the next blocks; returns false if there are none.
    fn step(&mut self, read: &mut ContentRead, part: &mut Vec<u8>) -> io::Result<bool> {
        let Some(wanted) = read.wanted(&self.map) else {
            return Ok(false);
        };
        self.fetch(wanted)?;
        let first = read.next;
        read.supply(&self.map, &self.bytes, part)?;
        self.map.note_decoded(first..read.next);
        Ok(true)
    }

    /// Puts the next content into `held`; nothing at the end.
    fn advance(&mut self) -> io::Result<()> {
        let goes_on = self.held_at + self.held.len() as u64 == self.position;
        self.map_to(self.position.saturating_add(1))?;
        let mut ahead = match self.ahead.take() {
            Some(ahead) if goes_on => ahead,
            _ => self.map.read(self.position..u64::MAX),
        };
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        while held.is_empty() && self.step(&mut ahead, &mut held)? {}
        (self.ahead, self.held, self.held_at) = (Some(ahead), held, self.position);
        Ok(())
    }

    fn map_to(&mut self, end: u64) -> io::Result<()> {
        while let Some(wanted) = self.map.wanted(end) {
            self.fetch(wanted)?;
            self.map.supply(&self.bytes)?;
        }
        Ok(())
    }

    fn fetch(&mut self, range: Range<u64>) -> io::Result<()> {
        let n_bytes = range.end - range.start;
        self.bytes.clear();
        reserve(
            &mut self.bytes,
            usize::try_from(n_bytes).unwrap_or(usize::MAX),
        )?;
        self.reader.seek(SeekFrom::Start(range.start))?;
        (&mut self.reader)
            .take(n_bytes)
            .read_to_end(&mut self.bytes)?;
        Ok(())
    }
}

impl<R: Read + Seek> Read for SeekableFrame<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let held = self.held_at..self.held_at + self.held.len() as u64;
        if !held.contains(&self.position) && !out.is_empty() {
            self.advance()?;
        }
        let from = self.position.saturating_sub(self.held_at) as usize;
        let n_bytes = self.held.get(from..).unwrap_or_default().read(out)?;
        self.position += n_bytes as u64;
        Ok(n_bytes)
    }
}

impl<R: Read + Seek> Seek for SeekableFrame<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.content_bytes()?.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
