//! Divides the input of a decompression into groups of blocks.

use std::io::Read;
use std::sync::Arc;

use super::group::{Block, Group};
use super::read_full;
use super::tasks::{Ended, Pending, Sink, Stop};
use crate::Result;
use crate::lz4::Dictionary;
use crate::lz4::frame::{
    FrameEvent, FrameHeader, FrameReader, LEGACY_BLOCK_SIZE, Step, WORD_BYTES,
};
use crate::memory::{reserve, zeros};

/// Least bytes of a read, unless the input ends.
pub(super) const READ_BYTES: usize = 256 << 10;
/// Most bytes of content of a task, unless a block is larger.
pub(super) const TASK_BYTES: usize = 512 << 10;
/// Least content of a task that is worth another thread.
const MIN_SPAWNED_BYTES: usize = 32 << 10;
/// More than the longest block with its size and checksum.
const MAX_PIECE_BYTES: usize = 2 * LEGACY_BLOCK_SIZE as usize;

/// A part of the input, in order.
pub(super) enum Part {
    Header(FrameHeader),
    /// Blocks that a task decodes, and their content.
    Independent(Pending<Result<(Group, Vec<u8>)>>),
    /// Blocks that are decoded after the content before them.
    Linked(Group),
    FrameEnd {
        content_checksum: Option<u32>,
    },
    /// The end of the input.
    End,
}

/// A part, and the bytes of input up to its end.
pub(super) type PlacedPart = (Part, u64);

/// Consecutive parts, at most the last of which the thread pool decodes: parts of little content are not passed to
/// another thread one by one.
pub(super) type Parts = Vec<PlacedPart>;

/// A buffer that is no longer used.
pub(super) enum Used {
    Input(Vec<u8>),
    Content(Vec<u8>),
}

/// Input that was read.
pub(super) struct Input {
    bytes: Vec<u8>,
    /// Bytes that were read, from the start.
    n_bytes: usize,
    /// True at the end of the input.
    pub is_last: bool,
}

impl Input {
    /// Reads at least `n_bytes` more after the first `n_kept` bytes of `bytes`, unless the input ends.
    fn read(
        mut bytes: Vec<u8>,
        n_kept: usize,
        n_bytes: usize,
        reader: &mut impl Read,
    ) -> Result<Self, super::StreamError> {
        let end = n_kept + n_bytes;
        let n_read = read_full(reader, &mut bytes[n_kept..end])?;
        Ok(Self {
            bytes,
            n_bytes: n_kept + n_read,
            is_last: n_read < n_bytes,
        })
    }

    /// Reads the start of the input.
    pub(super) fn first(reader: &mut impl Read) -> Result<Self, super::StreamError> {
        Self::read(zeros(READ_BYTES)?, 0, READ_BYTES, reader)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.n_bytes]
    }
}

/// Reads all input, after `input`, and starts a task for each group of independent blocks.
pub(super) fn read_all(
    mut reader: impl Read,
    mut input: Input,
    dictionary: Option<Dictionary>,
    sink: &Sink<Parts, Used>,
) -> Result<(), Stop> {
    let mut frames = FrameReader::new().with_dictionary(dictionary);
    let mut header = None;
    let mut free = Free::default();
    loop {
        let mut found = Found::default();
        let parsed = found.parse(&mut frames, &mut header, input.bytes());
        let rest = &input.bytes()[found.n_bytes..];
        let (n_rest, is_last) = (rest.len(), input.is_last);
        let n_wanted = match &parsed {
            Ok(needed) => READ_BYTES.max((*needed).min(MAX_PIECE_BYTES)),
            Err(_) => 0,
        };
        free.collect(sink);
        let mut next = free.input(n_rest + n_wanted)?;
        next[..n_rest].copy_from_slice(rest);
        found.send(input.bytes, &mut free, sink)?;
        parsed?;
        if is_last {
            let at = frames.position();
            if let Some(FrameEvent::End { content_checksum }) = frames.finish(&next[..n_rest])? {
                sink.send(vec![(Part::FrameEnd { content_checksum }, at)])?;
            }
            return Ok(sink.send(vec![(Part::End, at)])?);
        }
        input = Input::read(next, n_rest, n_wanted, &mut reader)?;
    }
}

/// The parts of some input.
#[derive(Default)]
struct Found {
    /// Each with the bytes of input up to its end.
    parts: Vec<(FoundPart, u64)>,
    /// Bytes of input up to the end of the last part.
    n_bytes: usize,
}

enum FoundPart {
    Header(FrameHeader),
    Blocks { group: Group, is_linked: bool },
    FrameEnd { content_checksum: Option<u32> },
}

impl Found {
    /// Parses `bytes`; returns the number of bytes that the next piece needs beside the rest.
    fn parse(
        &mut self,
        frames: &mut FrameReader,
        header: &mut Option<FrameHeader>,
        bytes: &[u8],
    ) -> Result<usize> {
        loop {
            let at = self.n_bytes;
            let (consumed, event) = match frames.step(&bytes[at..])? {
                Step::More {
                    consumed: 0,
                    needed,
                } => return Ok(needed),
                Step::More { consumed, .. } => {
                    self.n_bytes += consumed;
                    continue;
                }
                Step::Event { consumed, event } => (consumed, event),
            };
            self.n_bytes += consumed;
            let end = frames.position();
            match (event, &*header) {
                (FrameEvent::Header(started), _) => {
                    *header = Some(started);
                    self.parts.push((FoundPart::Header(started), end));
                }
                (FrameEvent::Block(block), Some(header)) => {
                    let start = at + WORD_BYTES;
                    let block = Block {
                        index: block.index,
                        is_compressed: block.compressed,
                        bytes: start..start + block.data.len(),
                        max_content: block.max_content(header),
                    };
                    let dictionary = header.dictionary(frames.dictionary());
                    self.add(block, header.linked, dictionary, end);
                }
                (FrameEvent::End { content_checksum }, _) => {
                    self.parts
                        .push((FoundPart::FrameEnd { content_checksum }, end));
                }
                (FrameEvent::Skippable { .. } | FrameEvent::Block(_), _) => {}
            }
        }
    }

    /// Adds a block to the last group, or to a new one.
    fn add(&mut self, block: Block, is_linked: bool, dictionary: Option<&Dictionary>, end: u64) {
        if let Some((FoundPart::Blocks { group, .. }, group_end)) = self.parts.last_mut()
            && group.max_content + block.max_content <= TASK_BYTES
        {
            group.push(block);
            *group_end = end;
            return;
        }
        let mut group = Group {
            dictionary: dictionary.cloned(),
            ..Group::default()
        };
        group.push(block);
        self.parts
            .push((FoundPart::Blocks { group, is_linked }, end));
    }

    /// Sends all parts, whose blocks are in `bytes`.
    fn send(self, bytes: Vec<u8>, free: &mut Free, sink: &Sink<Parts, Used>) -> Result<(), Ended> {
        let bytes = Arc::new(bytes);
        let mut parts = Parts::new();
        for (part, end) in self.parts {
            let mut is_parallel = false;
            let part = match part {
                FoundPart::Header(header) => Part::Header(header),
                FoundPart::FrameEnd { content_checksum } => Part::FrameEnd { content_checksum },
                FoundPart::Blocks {
                    mut group,
                    is_linked,
                } => {
                    group.bytes = Arc::clone(&bytes);
                    if is_linked {
                        Part::Linked(group)
                    } else {
                        is_parallel = sink.is_parallel && group.max_content >= MIN_SPAWNED_BYTES;
                        free.collect(sink);
                        let mut content = free.contents.pop().unwrap_or_default();
                        let decode = move || group.decode(&mut content).map(|()| (group, content));
                        Part::Independent(Pending::start(is_parallel, decode))
                    }
                }
            };
            parts.push((part, end));
            if is_parallel {
                sink.send(std::mem::take(&mut parts))?;
            }
        }
        if !parts.is_empty() {
            sink.send(parts)?;
        }
        if let Some(bytes) = Arc::into_inner(bytes) {
            free.inputs.push(bytes);
        }
        Ok(())
    }
}

/// Buffers for reuse.
#[derive(Default)]
struct Free {
    inputs: Vec<Vec<u8>>,
    contents: Vec<Vec<u8>>,
}

impl Free {
    fn collect(&mut self, sink: &Sink<Parts, Used>) {
        while let Some(used) = sink.reuse() {
            match used {
                Used::Input(bytes) => self.inputs.push(bytes),
                Used::Content(bytes) => self.contents.push(bytes),
            }
        }
    }

    /// Returns a buffer of at least `n_bytes` of arbitrary content.
    fn input(&mut self, n_bytes: usize) -> Result<Vec<u8>> {
        let Some(mut bytes) = self.inputs.pop() else {
            return zeros(n_bytes);
        };
        if bytes.len() < n_bytes {
            let more = n_bytes - bytes.len();
            reserve(&mut bytes, more)?;
            bytes.resize(n_bytes, 0);
        }
        Ok(bytes)
    }
}
