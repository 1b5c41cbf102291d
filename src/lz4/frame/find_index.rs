//! Finding the indexes of a [`FrameMap`] from the end of the file. Each index is compared with the frame before it.

use std::ops::Range;

use super::header::MAX_HEADER_BYTES;
use super::index::FrameIndex;
use super::map::{Stage, TAIL_BYTES};
use super::{FrameEvent, FrameMap, FrameReader, Step, word};
use crate::Result;
use crate::memory::extend;

/// Bytes that are read to find the footer of an index, which is shorter.
const FOOT_BYTES: u64 = 64;

impl FrameMap {
    /// Takes bytes of the end of the file, and searches them for indexes as far as they reach.
    pub(super) fn take_tail(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let (start, known) = &self.tail;
        // A header far before the known bytes is checked on its own.
        let is_header = at + (bytes.len() as u64) < *start && self.candidate.is_some();
        if is_header {
            if !self.check_candidate(Some(bytes))? {
                return Ok(());
            }
        } else {
            let mut tail = Vec::new();
            extend(&mut tail, bytes)?;
            if at + (bytes.len() as u64) == *start {
                extend(&mut tail, known)?;
            }
            self.tail = (at, tail);
        }
        while matches!(self.stage, Stage::Tail(_)) {
            let goes_on = match self.candidate {
                Some(_) => self.check_candidate(None)?,
                None => self.find_candidate()?,
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Returns the bytes in `range`, if they were read before.
    fn known(&self, range: &Range<u64>) -> Option<&[u8]> {
        let (start, known) = &self.tail;
        let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
        let length = usize::try_from(range.end - range.start).ok()?;
        known.get(from..)?.get(..length)
    }

    /// Searches for an index that ends at the start of a frame or at the end of the file. Returns false if there is
    /// none, or if more bytes are needed.
    fn find_candidate(&mut self) -> Result<bool> {
        let end = self.end;
        let foot = end.saturating_sub(FOOT_BYTES)..end;
        let Some(tail) = self.known(&foot) else {
            self.stage = Stage::Tail(end.saturating_sub(TAIL_BYTES)..end);
            return Ok(false);
        };
        let Some(length) = FrameIndex::length(tail, end) else {
            self.stop_looking();
            return Ok(false);
        };
        let range = end - length..end;
        // The end of the frame before the index is read with it.
        let with_end = range.start.saturating_sub(FOOT_BYTES)..end;
        let (Some(bytes), Some(_)) = (self.known(&range), self.known(&with_end)) else {
            self.stage = Stage::Tail(with_end);
            return Ok(false);
        };
        let index = FrameIndex::read(bytes)?;
        let start = |index: &FrameIndex| range.start.checked_sub(index.frame_bytes());
        match index.and_then(|index| Some((start(&index)?, index))) {
            Some(found) => self.candidate = Some(found),
            None => self.stop_looking(),
        }
        Ok(true)
    }

    /// Compares the candidate's index with its frame. `header` has the bytes of the frame's header, unless they are
    /// known. Returns false if these bytes are needed.
    fn check_candidate(&mut self, header: Option<&[u8]>) -> Result<bool> {
        let Some((start, index)) = &self.candidate else {
            return Ok(true);
        };
        let end = start + index.frame_bytes();
        let header_range = *start..end.min(start + MAX_HEADER_BYTES as u64);
        let end_range = end - index.end_bytes()..end;
        let Some(header) = header.or_else(|| self.known(&header_range)) else {
            // Only the unknown bytes, so that they can be put before the known ones.
            let end = header_range.end.min(self.tail.0);
            self.stage = Stage::Tail(header_range.start..end);
            return Ok(false);
        };
        let is_header = self.has_header(header, index);
        // The end of the frame lies before the index and was read with it.
        let has_end = self
            .known(&end_range)
            .is_some_and(|bytes| word(bytes, 0) == Some(0));
        if !is_header || !has_end {
            self.candidate = None;
            self.stop_looking();
            return Ok(true);
        }
        if let Some((start, index)) = self.candidate.take() {
            self.has_index = true;
            self.indexed.push((start, index));
            self.end = start;
            if start == 0 {
                self.append_indexed()?;
            }
        }
        Ok(true)
    }

    /// Returns true if `bytes` start with a frame header that agrees with `index` in length, flags and content size.
    fn has_header(&self, bytes: &[u8], index: &FrameIndex) -> bool {
        let mut reader = FrameReader::new().with_dictionary(self.dictionary().cloned());
        match reader.step(bytes) {
            Ok(Step::Event {
                consumed,
                event: FrameEvent::Header(header),
            }) => consumed == usize::from(index.header_bytes) && index.fits(&header),
            _ => false,
        }
    }

    /// Stops the search; the walk takes what precedes the indexes found so far.
    fn stop_looking(&mut self) {
        self.tail = (0, Vec::new());
        self.stage = Stage::Walk;
    }
}
