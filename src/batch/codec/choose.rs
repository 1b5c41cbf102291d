//! Chooses the engine of each call of a [`Codec`].

#[cfg(gpu_engine)]
use std::borrow::Cow;

use super::Codec;
#[cfg(gpu_engine)]
use crate::Error;
use crate::Result;
#[cfg(gpu_engine)]
use crate::batch::pipeline::plan::{Form, Packed};
#[cfg(gpu_engine)]
use crate::engine::{BackendChoice, BackendRequest, Rejected};
#[cfg(not(gpu_engine))]
use crate::lz4::PackedPages;
use crate::lz4::{Dictionary, Level};

/// The engine of a call, with the reason for the choice.
pub(in crate::batch) enum Plan {
    /// The CPU.
    Cpu(String),
    /// The GPU.
    #[cfg(gpu_engine)]
    Gpu(String),
}

#[cfg(not(gpu_engine))]
impl Codec {
    pub(in crate::batch) async fn plan_compress(
        &mut self,
        _bytes: &[u8],
        _page_size: u32,
        _level: Level,
        _dictionary: Option<&Dictionary>,
    ) -> Result<Plan> {
        Ok(Plan::Cpu(self.choice.reason.clone()))
    }

    pub(in crate::batch) async fn plan_decompress(&mut self, _pages: &PackedPages) -> Result<Plan> {
        Ok(Plan::Cpu(self.choice.reason.clone()))
    }
}

#[cfg(gpu_engine)]
impl Codec {
    pub(in crate::batch) async fn plan_compress(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
        dictionary: Option<&Dictionary>,
    ) -> Result<Plan> {
        let first = |n: usize| Ok(Cow::Borrowed(&bytes[..n]));
        let form = Form {
            page_size,
            level,
            dictionary,
        };
        self.plan_compress_of(bytes.len(), first, form).await
    }

    /// Plans a compression of `n_bytes`. `first` returns that many bytes from the start, as a sample.
    pub(in crate::batch) async fn plan_compress_of<'a>(
        &mut self,
        n_bytes: usize,
        first: impl Fn(usize) -> Result<Cow<'a, [u8]>>,
        form: Form<'_>,
    ) -> Result<Plan> {
        let auto = self.options.backend == BackendRequest::Auto;
        let Some(gpu) = &mut self.gpu else {
            return Ok(Plan::Cpu(self.choice.reason.clone()));
        };
        if let Some(reason) = form.level.cpu_only() {
            return Ok(Plan::Cpu(reason.into()));
        }
        if !auto {
            return Ok(Plan::Gpu(self.choice.reason.clone()));
        }
        let weighed = gpu.weigh_compress(n_bytes, first, form).await;
        weighed.or_else(|error| self.give_up(error).map(Plan::Cpu))
    }

    /// Plans a decompression.
    pub(in crate::batch) async fn plan_decompress(&mut self, pages: &Packed<'_>) -> Result<Plan> {
        let auto = self.options.backend == BackendRequest::Auto;
        let weighed = match &mut self.gpu {
            None => return Ok(Plan::Cpu(self.choice.reason.clone())),
            Some(_) if !auto => return Ok(Plan::Gpu(self.choice.reason.clone())),
            Some(gpu) => gpu.weigh_decompress(pages).await,
        };
        weighed.or_else(|error| self.give_up(error).map(Plan::Cpu))
    }

    /// Replaces a failed GPU by the CPU in `Auto` mode, and returns the reason. Otherwise returns `error`.
    pub(in crate::batch) fn give_up(&mut self, error: Error) -> Result<String> {
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
