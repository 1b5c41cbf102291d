//! Compresses content to blocks of a frame: each job's blocks are written to their places in the frame, on several cores.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::placement::Placement;
use super::plan::Form;
use super::ring::{Pipeline, broken};
use super::sink::Sink;
use super::source::Source;
use crate::batch::timing::Timings;
use crate::lz4::PageEntry;
use crate::lz4::frame::{Checksum, FrameOptions, FramedPages, beside};
use crate::{Error, Result};

/// Makes blocks of a frame of the blocks of jobs.
#[derive(Debug)]
pub(super) struct Framing<'a> {
    options: &'a FrameOptions,
    content: &'a [u8],
    /// The checksum of the content of the jobs so far, which are placed in order. `None` if it is not wanted here.
    sum: Option<Mutex<Checksum>>,
    /// True if one thread places all jobs.
    is_alone: bool,
}

impl<'a> Framing<'a> {
    pub(super) fn new(
        options: &'a FrameOptions,
        content: &'a [u8],
        sum: Option<Checksum>,
        is_alone: bool,
    ) -> Self {
        Self {
            options,
            content,
            sum: sum.map(Mutex::new),
            is_alone,
        }
    }

    /// Writes the blocks of the job on the bytes `pages` of the content to memory that `take` gives, and meanwhile hashes
    /// these bytes.
    pub(super) fn write<'r>(
        &self,
        pages: Range<u64>,
        blocks: &[u8],
        table: &[PageEntry],
        take: impl FnOnce(usize) -> Result<&'r mut [MaybeUninit<u8>]>,
    ) -> Result<()> {
        let content = &self.content[pages.start as usize..pages.end as usize];
        let framed = FramedPages::new(
            self.options,
            content,
            blocks,
            table,
            self.options.block_size,
        );
        let framed = framed.map_err(|error| match error {
            Error::InvalidArgument { .. } => broken(format!("the kernels wrote: {error}")),
            error => error,
        })?;
        let room = take(framed.n_bytes())?;
        let mut write = || framed.write(room, self.is_alone);
        let Some(sum) = &self.sum else { return write() };
        let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = &mut *sum;
        beside(content.len(), || sum.add(content), write).1
    }
}

impl Pipeline {
    /// Compresses `content` to blocks of a frame, and appends them to `out`, which has room for the longest. Returns `sum`
    /// after adding the content. It recovers as [`compress_safely`](Self::compress_safely).
    pub(crate) async fn compress_frame_safely(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
        sum: Option<Checksum>,
        out: &mut Vec<u8>,
    ) -> Result<(Option<Checksum>, Timings)> {
        let mut may_reopen = true;
        self.begin();
        loop {
            match self
                .compress_frame_once(content, options, sum.clone(), out)
                .await
            {
                Err(error) => self.recover(error, &mut may_reopen).await?,
                done => return self.end(done),
            }
        }
    }

    async fn compress_frame_once(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
        sum: Option<Checksum>,
        out: &mut Vec<u8>,
    ) -> Result<(Option<Checksum>, Timings)> {
        let form = Form {
            page_size: options.block_size,
            level: options.level,
            dictionary: options.dictionary.as_ref(),
        };
        // The checksum needs the jobs in order.
        #[cfg(not(target_arch = "wasm32"))]
        let n_workers = self
            .n_workers(content.len() as u64)
            .filter(|_| sum.is_none());
        #[cfg(target_arch = "wasm32")]
        let n_workers = None::<usize>;
        let framing = Framing::new(options, content, sum, n_workers.is_none());
        let placement = Placement::new(out.spare_capacity_mut(), Some(framing));
        let timings = match n_workers {
            #[cfg(not(target_arch = "wasm32"))]
            Some(n) => {
                self.dictionary.given(&self.device, form.dictionary).await?;
                self.place_on_workers(n, content, form, &placement)?
            }
            _ => {
                let (source, mut sink) = (Source::Bytes(content), Sink::Placed(&placement));
                self.compress(source, form, &mut sink).await?
            }
        };
        let (n_bytes, _) = placement.finish();
        let sum = placement.into_framing().and_then(|framing| framing.sum);
        // SAFETY: the jobs took the first `n_bytes` bytes of the spare capacity, without gaps, and each wrote all that it took
        // before it succeeded, as all have.
        unsafe { out.set_len(out.len() + n_bytes) };
        let sum = sum.map(|sum| sum.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok((sum, timings))
    }
}
