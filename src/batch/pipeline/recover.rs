//! Recovers a batch from a lost device or exhausted device memory.

use super::decompress::Target;
use super::plan::{Form, Packed};
use super::ring::Pipeline;
use super::sink::Sink;
use super::source::Source;
use crate::batch::timing::Timings;
use crate::lz4::BlockError;
use crate::{Error, Result};

/// Smallest job, in pages, to which jobs are halved when memory runs out.
const MIN_BATCH_PAGES: u64 = 64;

impl Pipeline {
    /// Runs [`compress`](Self::compress) on host memory, replayed once on a new device if this one is lost, and in smaller
    /// jobs if memory runs out.
    pub(crate) async fn compress_safely(
        &mut self,
        source: Source<'_>,
        form: Form<'_>,
        mut sink: Sink<'_>,
    ) -> Result<Timings> {
        let mut may_reopen = true;
        self.begin();
        loop {
            match self.compress_once(source, form, &mut sink).await {
                Err(error) => self.recover(error, &mut may_reopen).await?,
                done => return self.end(done),
            }
        }
    }

    /// Runs [`decompress`](Self::decompress) to host memory, as long as all pages, with the same recovery.
    pub(crate) async fn decompress_safely(
        &mut self,
        pages: &Packed<'_>,
        mut target: Target<'_>,
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let mut may_reopen = true;
        self.begin();
        loop {
            match self.decompress_once(pages, &mut target).await {
                Err(error) => self.recover(error, &mut may_reopen).await?,
                done => return self.end(done),
            }
        }
    }

    /// Runs [`compress`](Self::compress), on several threads where that is faster.
    async fn compress_once(
        &mut self,
        source: Source<'_>,
        form: Form<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Timings> {
        // Without page faults in the output one thread is as fast: measured 1.05 to 1.1 times.
        #[cfg(not(target_arch = "wasm32"))]
        if let (Source::Bytes(bytes), Sink::Packed(pages)) = (source, &mut *sink)
            && pages.packed.capacity() < bytes.len()
            && let Some(n) = self.n_workers(bytes.len() as u64)
        {
            self.dictionary.given(&self.device, form.dictionary).await?;
            return self.compress_on_workers(n, bytes, form, pages);
        }
        self.compress(source, form, sink).await
    }

    /// Runs [`decompress`](Self::decompress), on several threads where that is faster.
    async fn decompress_once(
        &mut self,
        pages: &Packed<'_>,
        target: &mut Target<'_>,
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        #[cfg(not(target_arch = "wasm32"))]
        if let (Source::Bytes(_) | Source::Frame(_), Target::Bytes(out)) =
            (pages.blocks, &mut *target)
            && let Some(n) = self.n_workers(pages.n_bytes)
        {
            self.dictionary
                .given(&self.device, pages.dictionary)
                .await?;
            return self.decompress_on_workers(n, pages, out);
        }
        self.decompress(pages, target).await
    }

    /// Opens the same device again after a loss.
    pub(in crate::batch) async fn reopen_async(&mut self) -> Result<()> {
        self.device = self.device.reopen_async().await?;
        self.n_devices_lost += 1;
        self.forget_jobs();
        Ok(())
    }

    /// Prepares another attempt, or returns `error` if there is none to make.
    pub(super) async fn recover(&mut self, error: Error, may_reopen: &mut bool) -> Result<()> {
        match error {
            Error::DeviceLost { .. } if *may_reopen => {
                *may_reopen = false;
                self.reopen_async().await.map_err(|_| error)?;
            }
            #[cfg(not(target_arch = "wasm32"))]
            Error::OutOfMemory { .. } if self.has_fewer_workers() => {}
            Error::OutOfMemory { .. } if self.batch_pages / 2 >= MIN_BATCH_PAGES => {
                self.batch_pages /= 2
            }
            other => return Err(other),
        }
        self.forget_jobs();
        Ok(())
    }
}
