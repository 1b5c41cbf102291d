//! Decompression of a stream.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::group::Group;
use super::parts::{Input, Part, Parts, PlacedPart, TASK_BYTES, Used, read_all};
use super::tasks::{Source, spawn_source};
use super::{Progress, StreamError, StreamOutput};
use crate::lz4::Dictionary;
use crate::lz4::frame::{FrameBlock, FrameDecoder};

/// Implements [`decompress_stream`](super::decompress_stream).
pub(super) fn decompress<R: Read + Send + 'static>(
    mut reader: R,
    output: &mut StreamOutput<impl Write, impl FnMut(Progress) -> ControlFlow<()>>,
    limit: Option<u64>,
    dictionary: Option<&Dictionary>,
) -> Result<(), StreamError> {
    let dictionary = dictionary.cloned();
    let mut decoder = FrameDecoder::new(limit)
        .with_group_bytes(TASK_BYTES)
        .with_dictionary(dictionary.clone());
    let input = Input::first(&mut reader)?;
    if input.is_last {
        // Too little for threads.
        decompress_whole(input.bytes(), &mut decoder, output)?;
        return output.flush();
    }
    let source = spawn_source(move |sink| read_all(reader, input, dictionary, sink))?;
    let mut linked = Vec::new();
    loop {
        for part in source.next()? {
            if !write_part(part, &source, &mut decoder, &mut linked, output)? {
                return output.flush();
            }
        }
    }
}

/// Decompresses the frames in `bytes`.
fn decompress_whole(
    bytes: &[u8],
    decoder: &mut FrameDecoder,
    output: &mut StreamOutput<impl Write, impl FnMut(Progress) -> ControlFlow<()>>,
) -> Result<(), StreamError> {
    let (mut at, mut content) = (0, Vec::new());
    loop {
        match decoder.advance(&bytes[at..], &mut content)? {
            0 => return Ok(decoder.finish(&bytes[at..])?),
            consumed => at += consumed,
        }
        output.write(&content)?;
        output.advance_to(at as u64)?;
        content.clear();
    }
}

/// Writes the content of a part; returns false at the end. `linked` is a buffer for the content of linked blocks.
fn write_part(
    (part, end): PlacedPart,
    source: &Source<Parts, Used>,
    decoder: &mut FrameDecoder,
    linked: &mut Vec<u8>,
    output: &mut StreamOutput<impl Write, impl FnMut(Progress) -> ControlFlow<()>>,
) -> Result<bool, StreamError> {
    let mut write = |content: &[u8], decoder: &mut FrameDecoder| {
        decoder.add(content)?;
        output.write(content)?;
        output.advance_to(end)
    };
    match part {
        Part::Header(header) => decoder.start(header)?,
        Part::Independent(decoded) => {
            let (group, content) = decoded.wait()??;
            write(&content, decoder)?;
            source.reuse(Used::Content(content));
            reuse_input(group, source);
        }
        Part::Linked(group) => {
            linked.clear();
            let blocks: Vec<FrameBlock<'_>> = group.iter().collect();
            decoder.append_linked(&blocks, linked)?;
            write(linked, decoder)?;
            reuse_input(group, source);
        }
        Part::FrameEnd { content_checksum } => decoder.end(content_checksum)?,
        Part::End => {
            output.advance_to(end)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives the input of a group back if no other group needs it.
fn reuse_input(group: Group, source: &Source<Parts, Used>) {
    if let Some(bytes) = Arc::into_inner(group.bytes) {
        source.reuse(Used::Input(bytes));
    }
}
