//! Handles of [`GpuDevice`](super::GpuDevice): each knows the engine it belongs to, and an engine refuses those of
//! another.

use std::ops::Range;

use super::backend::{HostMemory, KernelArg, Place, Recorder, Sized64, Waitable};
use super::wgpu::{WgpuBuffer, WgpuHostBuffer, WgpuKernel, WgpuStream, WgpuSubmission};
use crate::Result;

/// A compiled kernel.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Kernel {
    /// Of the wgpu engine.
    Wgpu(WgpuKernel),
}

/// Device memory; freed, or pooled, when the last clone is dropped.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Buffer {
    /// Of the wgpu engine.
    Wgpu(WgpuBuffer),
}

/// Memory that host and device share.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum HostBuffer {
    /// Of the wgpu engine.
    Wgpu(WgpuHostBuffer),
}

/// A recorder of launches and copies.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stream {
    /// Of the wgpu engine.
    Wgpu(WgpuStream),
}

/// Submitted work.
#[derive(Debug)]
#[non_exhaustive]
pub enum Submission {
    /// Of the wgpu engine.
    Wgpu(WgpuSubmission),
}

impl Sized64 for Buffer {
    fn n_bytes(&self) -> u64 {
        match self {
            Self::Wgpu(buffer) => buffer.n_bytes(),
        }
    }
}

impl Sized64 for HostBuffer {
    fn n_bytes(&self) -> u64 {
        match self {
            Self::Wgpu(buffer) => buffer.n_bytes(),
        }
    }
}

impl HostMemory for HostBuffer {
    async fn write_async(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Wgpu(buffer) => buffer.write_async(offset, bytes).await,
        }
    }

    async fn read_async<R>(&self, range: Range<u64>, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        match self {
            Self::Wgpu(buffer) => buffer.read_async(range, read).await,
        }
    }
}

/// The same with memory of JavaScript, which is copied once.
#[cfg(target_arch = "wasm32")]
impl HostBuffer {
    pub(crate) async fn write_js_async(
        &self,
        offset: u64,
        n_bytes: u64,
        view: impl FnOnce() -> Result<js_sys::Uint8Array>,
    ) -> Result<()> {
        match self {
            Self::Wgpu(buffer) => buffer.write_js_async(offset, n_bytes, view).await,
        }
    }

    pub(crate) async fn read_js_async<R>(
        &self,
        range: Range<u64>,
        read: impl FnOnce(&js_sys::Uint8Array) -> R,
    ) -> Result<R> {
        match self {
            Self::Wgpu(buffer) => buffer.read_js_async(range, read).await,
        }
    }
}

fn wgpu_place<'a>(place: &Place<'a, Buffer, HostBuffer>) -> Place<'a, WgpuBuffer, WgpuHostBuffer> {
    match *place {
        Place::Device(Buffer::Wgpu(buffer), offset) => Place::Device(buffer, offset),
        Place::Host(HostBuffer::Wgpu(buffer), offset) => Place::Host(buffer, offset),
    }
}

pub(super) fn wgpu_args<'a>(args: &[KernelArg<'a, Buffer>]) -> Vec<KernelArg<'a, WgpuBuffer>> {
    let arg = |arg: &KernelArg<'a, Buffer>| match arg {
        KernelArg::Buffer(Buffer::Wgpu(buffer)) => KernelArg::Buffer(buffer),
        KernelArg::Slice(Buffer::Wgpu(buffer), range) => KernelArg::Slice(buffer, range.clone()),
        KernelArg::Params(words) => KernelArg::Params(words),
    };
    args.iter().map(arg).collect()
}

impl Recorder for Stream {
    type Kernel = Kernel;
    type Buffer = Buffer;
    type HostBuffer = HostBuffer;
    type Submission = Submission;

    fn launch(
        &mut self,
        kernel: &Kernel,
        grid: [u32; 3],
        args: &[KernelArg<'_, Buffer>],
    ) -> Result<()> {
        match (self, kernel) {
            (Self::Wgpu(stream), Kernel::Wgpu(kernel)) => {
                stream.launch(kernel, grid, &wgpu_args(args))
            }
        }
    }

    fn copy(
        &mut self,
        dst: Place<'_, Buffer, HostBuffer>,
        src: Place<'_, Buffer, HostBuffer>,
        n_bytes: u64,
    ) -> Result<()> {
        match self {
            Self::Wgpu(stream) => stream.copy(wgpu_place(&dst), wgpu_place(&src), n_bytes),
        }
    }

    fn submit(self) -> Result<Submission> {
        match self {
            Self::Wgpu(stream) => stream.submit().map(Submission::Wgpu),
        }
    }
}

impl Waitable for Submission {
    async fn wait_async(self) -> Result<Option<u64>> {
        match self {
            Self::Wgpu(submission) => submission.wait_async().await,
        }
    }
}
