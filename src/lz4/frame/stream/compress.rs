//! Compression of a stream.

use std::io::{Read, Write};
use std::ops::ControlFlow;

use super::tasks::{Pending, Sink, Stop, spawn_source};
use super::{Progress, StreamError, StreamOutput, read_full};
use crate::Result;
use crate::lz4::Encoder;
use crate::lz4::frame::checksum::Checksum;
use crate::lz4::frame::write::push_blocks;
use crate::lz4::frame::{FrameOptions, FrameWriter};
use crate::memory::{reserve, zeros};

/// Least bytes of content of a task, so that starting it costs little beside its work.
const TASK_BYTES: usize = 512 << 10;

/// The content of a task, its blocks and the encoder, which circulate.
struct Work {
    content: Vec<u8>,
    /// Bytes of `content` that were read.
    n_bytes: usize,
    blocks: Vec<u8>,
    encoder: Encoder,
}

enum Item {
    Blocks(Pending<Result<Work>>),
    /// The end of the content, with its checksum if the frame has one.
    End(Option<Checksum>),
}

impl Work {
    fn new(options: &FrameOptions, task_bytes: usize) -> Result<Self> {
        Ok(Self {
            content: zeros(task_bytes)?,
            n_bytes: 0,
            blocks: Vec::new(),
            encoder: options.encoder()?,
        })
    }

    fn read(&mut self, reader: &mut impl Read) -> Result<(), StreamError> {
        self.n_bytes = read_full(reader, &mut self.content)?;
        Ok(())
    }

    fn content(&self) -> &[u8] {
        &self.content[..self.n_bytes]
    }

    fn is_last(&self) -> bool {
        self.n_bytes < self.content.len()
    }

    fn compress(mut self, options: &FrameOptions) -> Result<Self> {
        self.blocks.clear();
        reserve(&mut self.blocks, self.n_bytes)?;
        let content = &self.content[..self.n_bytes];
        push_blocks(&mut self.encoder, options, content, &mut self.blocks)?;
        Ok(self)
    }
}

/// Implements [`compress_stream`](super::compress_stream).
pub(super) fn compress<R: Read + Send + 'static>(
    mut reader: R,
    output: &mut StreamOutput<impl Write, impl FnMut(Progress) -> ControlFlow<()>>,
    options: &FrameOptions,
) -> Result<(), StreamError> {
    let mut end = Vec::new();
    let mut frame = FrameWriter::new(options, &mut end)?;
    let task_bytes = TASK_BYTES.next_multiple_of(options.block_size as usize);
    let mut first = Work::new(options, task_bytes)?;
    first.read(&mut reader)?;
    output.write(&end)?;
    end.clear();
    let mut put = |work: &Work, frame: &mut FrameWriter| {
        frame.note_blocks(work.n_bytes, &work.blocks);
        output.write(&work.blocks)?;
        output.advance_to(output.total.bytes_in + work.n_bytes as u64)
    };
    if first.is_last() {
        // Too little for threads.
        frame.add_content(first.content());
        put(&first.compress(options)?, &mut frame)?;
    } else {
        let options = options.clone();
        let source = spawn_source(move |sink| read_all(reader, first, &options, sink))?;
        let sum = loop {
            match source.next()? {
                Item::Blocks(pending) => {
                    let work = pending.wait()??;
                    put(&work, &mut frame)?;
                    source.reuse(work);
                }
                Item::End(sum) => break sum,
            }
        };
        frame.set_checksum(sum);
    }
    frame.finish(&mut end)?;
    output.write(&end)?;
    output.advance_to(output.total.bytes_in)?;
    output.flush()
}

/// Reads all content, starting with `work`, and starts a task for each part.
fn read_all(
    mut reader: impl Read,
    mut work: Work,
    options: &FrameOptions,
    sink: &Sink<Item, Work>,
) -> Result<(), Stop> {
    let mut sum = options.content_checksum.then(Checksum::new);
    let task_bytes = work.content.len();
    while work.n_bytes > 0 {
        if let Some(sum) = &mut sum {
            sum.add(work.content());
        }
        let is_last = work.is_last();
        let task = {
            let options = options.clone();
            move || work.compress(&options)
        };
        sink.send(Item::Blocks(Pending::start(sink.is_parallel, task)))?;
        if is_last {
            break;
        }
        work = match sink.reuse() {
            Some(work) => work,
            None => Work::new(options, task_bytes)?,
        };
        work.read(&mut reader)?;
    }
    Ok(sink.send(Item::End(sum))?)
}
