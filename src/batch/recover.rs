//! Running a batch to its end on a device that may be lost, or be short of memory, in the middle.

use super::bytes::{Bytes, PackedBytes};
use super::decompress::Checked;
use super::ring::{Pipeline, RingPlace};
use super::sink::{BlockSink, PageSink};
use super::timing::Timings;
use crate::lz4::Level;
use crate::{Error, Result};

/// Jobs are not cut below this many pages when memory runs out.
const MIN_BATCH_PAGES: u64 = 64;

impl Pipeline {
    /// [`compress`](Self::compress), replayed once on a new device if this one is lost, and in smaller jobs if
    /// memory runs out.
    pub(crate) async fn compress_safely<Sink: BlockSink>(
        &mut self,
        bytes: &Bytes<'_>,
        page_size: u32,
        level: Level,
    ) -> Result<(Sink::Out, Timings)> {
        let mut may_reopen = true;
        loop {
            match self.compress::<Sink>(bytes, page_size, level).await {
                Err(error) => self.recover(error, &mut may_reopen).await?,
                Ok((sink, timings)) => return Ok((sink.finish()?, timings)),
            }
        }
    }

    /// [`decompress`](Self::decompress), likewise.
    pub(crate) async fn decompress_safely<Sink: PageSink>(
        &mut self,
        pages: &PackedBytes<'_>,
    ) -> Result<(Checked<Sink>, Timings)> {
        let mut may_reopen = true;
        loop {
            match self.decompress(pages).await {
                Err(error) => self.recover(error, &mut may_reopen).await?,
                done => return done,
            }
        }
    }

    /// Makes another attempt possible, or gives `error` back.
    async fn recover(&mut self, error: Error, may_reopen: &mut bool) -> Result<()> {
        match error {
            Error::DeviceLost { .. } if *may_reopen => {
                *may_reopen = false;
                self.device = self.device.reopen_async().await.map_err(|_| error)?;
                self.n_devices_lost += 1;
            }
            Error::OutOfMemory { .. } if self.batch_pages / 2 >= MIN_BATCH_PAGES => {
                self.batch_pages /= 2
            }
            other => return Err(other),
        }
        self.ring
            .iter_mut()
            .for_each(|place| *place = RingPlace::default());
        Ok(())
    }
}
