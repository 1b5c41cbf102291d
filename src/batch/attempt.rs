//! Which engine a call of a [`Codec`] runs on, and the attempt to run it on the GPU.

#[cfg(feature = "wgpu")]
use super::bytes::{Bytes, PackedBytes};
#[cfg(feature = "wgpu")]
use super::choice::{BackendChoice, BackendRequest, Rejected};
use super::codec::{Codec, Report};
#[cfg(feature = "wgpu")]
use super::decompress::Checked;
#[cfg(feature = "wgpu")]
use super::sink::{BlockSink, OwnBlocks, PageSink};
#[cfg(feature = "wgpu")]
use crate::Error;
use crate::Result;
use crate::lz4::{BlockError, Level, PackedPages};

/// What to do with a call.
pub(super) enum Plan {
    /// On the CPU, for this reason.
    Cpu(String),
    /// On the GPU, for this reason.
    #[cfg(feature = "wgpu")]
    Gpu(String),
}

/// What came of an attempt.
pub(crate) enum Attempt<T> {
    /// The GPU did it.
    #[cfg_attr(
        not(feature = "wgpu"),
        expect(dead_code, reason = "without a GPU engine all is left to the CPU")
    )]
    Done(T, Report),
    /// It is left to the CPU, for this reason.
    Cpu(String),
}

#[cfg(not(feature = "wgpu"))]
impl Codec {
    pub(super) async fn plan_compress(
        &mut self,
        _bytes: &[u8],
        _page_size: u32,
        _level: Level,
    ) -> Result<Plan> {
        Ok(Plan::Cpu(self.choice.reason.clone()))
    }

    pub(super) async fn try_compress(
        &mut self,
        _bytes: &[u8],
        _page_size: u32,
        _level: Level,
    ) -> Result<Attempt<PackedPages>> {
        Ok(Attempt::Cpu(self.choice.reason.clone()))
    }

    pub(super) async fn try_decompress(
        &mut self,
        _pages: &PackedPages,
    ) -> Result<Attempt<(Vec<u8>, Vec<Option<BlockError>>)>> {
        Ok(Attempt::Cpu(self.choice.reason.clone()))
    }
}

#[cfg(feature = "wgpu")]
impl Codec {
    pub(super) async fn try_compress(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
    ) -> Result<Attempt<PackedPages>> {
        self.try_compress_to::<OwnBlocks>(&Bytes::Slice(bytes), page_size, level)
            .await
    }

    pub(super) async fn try_decompress(
        &mut self,
        pages: &PackedPages,
    ) -> Result<Attempt<(Vec<u8>, Vec<Option<BlockError>>)>> {
        self.try_decompress_to(&pages.into()).await
    }

    /// Compresses pages if that is the GPU's.
    pub(crate) async fn try_compress_to<Sink: BlockSink>(
        &mut self,
        bytes: &Bytes<'_>,
        page_size: u32,
        level: Level,
    ) -> Result<Attempt<Sink::Out>> {
        let plan = self.plan_compress_of(bytes, page_size, level).await?;
        let (reason, gpu) = match (plan, &mut self.gpu) {
            (Plan::Gpu(reason), Some(gpu)) => (reason, gpu),
            (Plan::Gpu(reason) | Plan::Cpu(reason), _) => return Ok(Attempt::Cpu(reason)),
        };
        match gpu.compress::<Sink>(bytes, page_size, level).await {
            Ok((pages, timings)) => {
                let engine = "wgpu";
                Ok(Attempt::Done(
                    pages,
                    Report {
                        engine,
                        reason,
                        timings,
                    },
                ))
            }
            Err(error) => self.give_up(error).map(Attempt::Cpu),
        }
    }

    /// Decompresses pages if that is the GPU's.
    pub(crate) async fn try_decompress_to<Sink: PageSink>(
        &mut self,
        pages: &PackedBytes<'_>,
    ) -> Result<Attempt<Checked<Sink>>> {
        let plan = self.plan_decompress_of(pages).await?;
        let (reason, gpu) = match (plan, &mut self.gpu) {
            (Plan::Gpu(reason), Some(gpu)) => (reason, gpu),
            (Plan::Gpu(reason) | Plan::Cpu(reason), _) => return Ok(Attempt::Cpu(reason)),
        };
        match gpu.decompress::<Sink>(pages).await {
            Ok((checked, timings)) => {
                let engine = "wgpu";
                Ok(Attempt::Done(
                    checked,
                    Report {
                        engine,
                        reason,
                        timings,
                    },
                ))
            }
            Err(error) => self.give_up(error).map(Attempt::Cpu),
        }
    }

    pub(super) async fn plan_compress(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
    ) -> Result<Plan> {
        self.plan_compress_of(&Bytes::Slice(bytes), page_size, level)
            .await
    }

    async fn plan_compress_of(
        &mut self,
        bytes: &Bytes<'_>,
        page_size: u32,
        level: Level,
    ) -> Result<Plan> {
        let auto = self.options.backend == BackendRequest::Auto;
        match &mut self.gpu {
            None => Ok(Plan::Cpu(self.choice.reason.clone())),
            Some(_) if !auto => Ok(Plan::Gpu(self.choice.reason.clone())),
            Some(gpu) => match gpu.weigh_compress(bytes, page_size, level).await {
                Ok(plan) => Ok(plan),
                Err(error) => self.give_up(error).map(Plan::Cpu),
            },
        }
    }

    async fn plan_decompress_of(&mut self, pages: &PackedBytes<'_>) -> Result<Plan> {
        let auto = self.options.backend == BackendRequest::Auto;
        match &mut self.gpu {
            None => Ok(Plan::Cpu(self.choice.reason.clone())),
            Some(_) if !auto => Ok(Plan::Gpu(self.choice.reason.clone())),
            Some(gpu) => match gpu.weigh_decompress(pages).await {
                Ok(plan) => Ok(plan),
                Err(error) => self.give_up(error).map(Plan::Cpu),
            },
        }
    }

    /// In `Auto` mode a GPU that failed is given up for the CPU, and the reason is returned; a forced one is not.
    fn give_up(&mut self, error: Error) -> Result<String> {
        let is_gpu_fault = matches!(
            error,
            Error::DeviceLost { .. }
                | Error::OutOfMemory { .. }
                | Error::Engine { .. }
                | Error::KernelCompile { .. }
        );
        if self.options.backend != BackendRequest::Auto || !is_gpu_fault {
            return Err(error);
        }
        let mut rejected = std::mem::take(&mut self.choice.rejected);
        rejected.push(Rejected {
            candidate: self.choice.adapter.clone(),
            reason: error.to_string(),
        });
        self.choice = BackendChoice::cpu("the GPU failed".into(), rejected);
        self.gpu = None;
        Ok(format!("the GPU failed: {error}"))
    }
}
