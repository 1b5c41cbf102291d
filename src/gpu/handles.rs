//! Handles of [`GpuDevice`](super::GpuDevice): enums over the engines. An engine rejects handles of another.

use std::ops::Range;

use super::backend::{HostMemory, KernelArg, Place, Recorder, Sized64, Waitable};
use super::check;
#[cfg(cuda_engine)]
use super::cuda::{CudaBuffer, CudaHostBuffer, CudaKernel, CudaStream, CudaSubmission};
use super::host_use::HostUse;
use super::id::{DeviceId, Owned};
use super::times::DeviceTimes;
#[cfg(feature = "wgpu")]
use super::wgpu::{WgpuBuffer, WgpuHostBuffer, WgpuKernel, WgpuStream, WgpuSubmission};
use crate::Result;

/// Evaluates one expression for the value of either engine.
macro_rules! on_engine {
    ($value:expr, $kind:ident, $it:ident => $body:expr) => {
        match $value {
            #[cfg(cuda_engine)]
            $kind::Cuda($it) => $body,
            #[cfg(feature = "wgpu")]
            $kind::Wgpu($it) => $body,
        }
    };
}
pub(super) use on_engine;

/// Declares a handle with one variant per engine, and the conversions.
macro_rules! handle {
    ($(#[$doc:meta])* $kind:ident, $cuda:ident, $wgpu:ident) => {
        $(#[$doc])*
        #[non_exhaustive]
        pub enum $kind {
            /// Handle of the CUDA engine.
            #[cfg(cuda_engine)]
            Cuda($cuda),
            /// Handle of the wgpu engine.
            #[cfg(feature = "wgpu")]
            Wgpu($wgpu),
        }

        #[cfg(cuda_engine)]
        handle!(@of $cuda, $kind, Cuda);
        #[cfg(feature = "wgpu")]
        handle!(@of $wgpu, $kind, Wgpu);
    };
    (@of $own:ident, $kind:ident, $variant:ident) => {
        impl From<$own> for $kind {
            fn from(handle: $own) -> Self {
                Self::$variant(handle)
            }
        }

        impl Within<$kind> for $own {
            #[allow(irrefutable_let_patterns, reason = "not where there are two engines")]
            fn within(handle: &$kind) -> Option<&Self> {
                if let $kind::$variant(handle) = handle {
                    return Some(handle);
                }
                None
            }
        }
    };
}

/// Conversion from a handle of any engine to one of a specific engine.
trait Within<Any>: Sized {
    /// Returns the handle if it is of this engine.
    fn within(handle: &Any) -> Option<&Self>;
}

handle!(
    /// A compiled kernel.
    #[derive(Debug, Clone)]
    Kernel, CudaKernel, WgpuKernel
);
handle!(
    /// Device memory; freed, or pooled, when the last clone is dropped.
    #[derive(Debug, Clone)]
    Buffer, CudaBuffer, WgpuBuffer
);
handle!(
    /// Memory that host and device share.
    #[derive(Debug, Clone)]
    HostBuffer, CudaHostBuffer, WgpuHostBuffer
);
handle!(
    /// A recorder of launches and copies.
    #[derive(Debug)]
    Stream, CudaStream, WgpuStream
);
handle!(
    /// Submitted work.
    #[derive(Debug)]
    Submission, CudaSubmission, WgpuSubmission
);

/// Implements the device identity of each handle.
macro_rules! owned {
    ($($kind:ident),*) => {
        $(
            impl $kind {
                /// Returns the identity of the device that made this handle.
                #[must_use]
                pub fn device_id(&self) -> DeviceId {
                    on_engine!(self, Self, handle => Owned::device_id(handle))
                }
            }

            impl Owned for $kind {
                fn device_id(&self) -> DeviceId {
                    self.device_id()
                }
            }
        )*
    };
}

owned!(Kernel, Buffer, HostBuffer, Stream, Submission);

impl Sized64 for Buffer {
    fn n_bytes(&self) -> u64 {
        on_engine!(self, Self, buffer => buffer.n_bytes())
    }
}

impl Sized64 for HostBuffer {
    fn n_bytes(&self) -> u64 {
        on_engine!(self, Self, buffer => buffer.n_bytes())
    }
}

impl HostMemory for HostBuffer {
    async fn write_async(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        on_engine!(self, Self, buffer => buffer.write_async(offset, bytes).await)
    }

    async fn fill_async<R>(
        &self,
        range: Range<u64>,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        on_engine!(self, Self, buffer => buffer.fill_async(range, fill).await)
    }

    async fn read_async<R>(&self, range: Range<u64>, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        on_engine!(self, Self, buffer => buffer.read_async(range, read).await)
    }
}

impl HostBuffer {
    /// Returns memory of this use as a buffer for kernels on a device with
    /// [`Capabilities::shares_memory`](super::Capabilities::shares_memory), else `None`. Work that uses it takes the memory from the host
    /// until it is done, as a copy does.
    #[cfg_attr(
        not(feature = "wgpu"),
        expect(unused_variables, reason = "memory of CUDA is not shared")
    )]
    pub(crate) fn on_device(&self, host_use: HostUse) -> Option<Buffer> {
        match self {
            #[cfg(cuda_engine)]
            Self::Cuda(_) => None,
            #[cfg(feature = "wgpu")]
            Self::Wgpu(host) => host.on_device(host_use).map(Buffer::from),
        }
    }

    /// Copies ranges of `from` to `n_bytes` of memory from `offset` on, once the device has finished with the memory. Each range
    /// comes with its offset from there, a multiple of 8 as `offset` and `n_bytes` are, in ascending order.
    pub(crate) async fn write_parts_async(
        &self,
        offset: u64,
        n_bytes: u64,
        from: &[u8],
        parts: &[(u64, Range<usize>)],
    ) -> Result<()> {
        on_engine!(self, Self, buffer => buffer.write_parts_async(offset, n_bytes, from, parts).await)
    }
}

/// Copies between mapped memory and JavaScript arrays: see [`WgpuHostBuffer`].
#[cfg(web_module)]
impl HostBuffer {
    pub(crate) async fn write_js_async(
        &self,
        offset: u64,
        from: &crate::js_bytes::JsBytes,
        range: Range<usize>,
    ) -> Result<()> {
        on_engine!(self, Self, buffer => buffer.write_js_async(offset, from, range).await)
    }

    #[cfg(web_pages)]
    pub(crate) async fn write_js_parts_async(
        &self,
        offset: u64,
        n_bytes: u64,
        from: &crate::js_bytes::JsBytes,
        parts: &[(u64, Range<usize>)],
    ) -> Result<()> {
        on_engine!(self, Self, buffer => buffer.write_js_parts_async(offset, n_bytes, from, parts).await)
    }

    pub(crate) async fn read_js_async(
        &self,
        range: Range<u64>,
        to: &crate::js_bytes::JsBytes,
        at: usize,
    ) -> Result<()> {
        on_engine!(self, Self, buffer => buffer.read_js_async(range, to, at).await)
    }

    #[cfg(web_pages)]
    pub(crate) async fn read_parts_async(
        &self,
        n_bytes: u64,
        parts: &[Range<u64>],
        read: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        on_engine!(self, Self, buffer => buffer.read_parts_async(n_bytes, parts, read).await)
    }
}

impl Buffer {
    /// Wraps a buffer that the caller created on the wgpu device of `device`. Nothing is copied, and the caller still
    /// owns the buffer. Kernels use its first `n_bytes`, a multiple of 4. It must have the usages `STORAGE`, `COPY_SRC`
    /// and `COPY_DST` and be 64 bytes larger than `n_bytes`, since kernels without run-time checks may read that far,
    /// but do not use the values. With [`RuntimeChecks::Always`](super::RuntimeChecks::Always) the 64 bytes are not
    /// needed.
    ///
    /// A buffer of another wgpu device cannot be detected here: work on it fails with [`Engine`](crate::Error::Engine)
    /// when it is recorded or submitted. The handle has the identity of `device`, and other devices reject it.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for a device of another engine, and for other usages and sizes.
    #[cfg(feature = "wgpu")]
    pub fn from_wgpu(
        device: &super::GpuDevice,
        buffer: ::wgpu::Buffer,
        n_bytes: u64,
    ) -> Result<Self> {
        let Some(device) = device.as_wgpu() else {
            return Err(check::invalid(
                "device",
                "one of another engine".into(),
                "give a device of the wgpu engine",
            ));
        };
        device.buffer_from_wgpu(buffer, n_bytes).map(Self::from)
    }

    /// Returns true if the memory is that of a [`HostBuffer`]: see [`HostBuffer::on_device`].
    pub(crate) fn is_of_host(&self) -> bool {
        match self {
            #[cfg(cuda_engine)]
            Self::Cuda(_) => false,
            #[cfg(feature = "wgpu")]
            Self::Wgpu(buffer) => buffer.host().is_some(),
        }
    }

    /// Returns the address in device memory, for other CUDA code; see [`CudaBuffer::device_ptr`]. `None` on other engines.
    #[cfg(cuda_engine)]
    #[must_use]
    pub fn device_ptr(&self) -> Option<u64> {
        CudaBuffer::within(self).map(CudaBuffer::device_ptr)
    }
}

/// Returns `handle` as one of the engine it is used on.
fn own<'a, Any, Own: Within<Any>>(what: &'static str, handle: &'a Any) -> Result<&'a Own> {
    Own::within(handle).ok_or_else(|| check::foreign(what))
}

fn own_place<'a, B: Within<Buffer>, H: Within<HostBuffer>>(
    place: &Place<'a, Buffer, HostBuffer>,
) -> Result<Place<'a, B, H>> {
    match *place {
        Place::Device(buffer, offset) => own("copy", buffer).map(|own| Place::Device(own, offset)),
        Place::Host(buffer, offset) => own("copy", buffer).map(|own| Place::Host(own, offset)),
    }
}

fn own_args<'a, B: Within<Buffer>>(
    args: &[KernelArg<'a, Buffer>],
) -> Result<Vec<KernelArg<'a, B>>> {
    let arg = |arg: &KernelArg<'a, Buffer>| {
        Ok(match arg {
            KernelArg::Buffer(buffer) => KernelArg::Buffer(own("args", *buffer)?),
            KernelArg::Slice(buffer, range) => {
                KernelArg::Slice(own("args", *buffer)?, range.clone())
            }
            KernelArg::Params(words) => KernelArg::Params(words),
        })
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
        on_engine!(self, Self, stream => stream.launch(own("kernel", kernel)?, grid, &own_args(args)?))
    }

    fn copy(
        &mut self,
        dst: Place<'_, Buffer, HostBuffer>,
        src: Place<'_, Buffer, HostBuffer>,
        n_bytes: u64,
    ) -> Result<()> {
        on_engine!(self, Self, stream => stream.copy(own_place(&dst)?, own_place(&src)?, n_bytes))
    }

    fn submit(self) -> Result<Submission> {
        on_engine!(self, Self, stream => stream.submit().map(Submission::from))
    }

    fn submit_timed(self) -> Result<Submission> {
        on_engine!(self, Self, stream => stream.submit_timed().map(Submission::from))
    }

    fn submit_untimed(self) -> Result<()> {
        on_engine!(self, Self, stream => stream.submit_untimed())
    }
}

impl Waitable for Submission {
    async fn wait_async(self) -> Result<Option<u64>> {
        on_engine!(self, Self, submission => submission.wait_async().await)
    }

    async fn wait_times_async(self) -> Result<DeviceTimes> {
        on_engine!(self, Self, submission => submission.wait_times_async().await)
    }
}
