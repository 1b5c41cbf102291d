//! [`Backend`]: the interface between work (codecs, tensor operations, users' kernels) and an engine.

use std::future::Future;
use std::ops::Range;

use super::check;
pub use super::host_use::HostUse;
use super::info::{Capabilities, GpuDeviceInfo};
use super::times::{Busy, DeviceTimes};
use crate::Result;
use crate::copy::copied;
use crate::kernels::{Access, KernelInfo, Launch};

/// WGSL to compile, with everything that distinguishes one compiled kernel from another.
#[derive(Debug, Clone, Copy)]
pub struct KernelSource<'a> {
    /// Complete WGSL source.
    pub wgsl: &'a str,
    /// Entry point, a `@compute` function; also the label.
    pub entry: &'a str,
    /// Values of `override` constants by name.
    pub overrides: &'a [(&'a str, f64)],
    /// Access of each binding of group 0; binding `i` is element `i`.
    pub bindings: &'a [Access],
    /// True if the engine inserts its own checks of accesses, divisors and loops into the kernel.
    is_checked: bool,
    /// True if the engine clears workgroup memory before the kernel runs.
    is_cleared: bool,
    /// True if the kernel may access memory by address.
    has_addresses: bool,
    /// True if matrix units take halves as bfloat16.
    is_of_bfloat16: bool,
    /// True if matrix units take factors of f32 as TF32.
    is_of_tf32: bool,
}

impl<'a> KernelSource<'a> {
    /// Returns a source with the engine's checks and no override constants.
    #[must_use]
    pub const fn new(wgsl: &'a str, entry: &'a str, bindings: &'a [Access]) -> Self {
        Self {
            wgsl,
            entry,
            overrides: &[],
            bindings,
            is_checked: true,
            is_cleared: true,
            has_addresses: false,
            is_of_bfloat16: false,
            is_of_tf32: false,
        }
    }

    /// Returns a kernel of the crate's own table, with the engine's checks: it may be launched with any arguments.
    #[must_use]
    pub const fn of(kernel: &'a KernelInfo, overrides: &'a [(&'a str, f64)]) -> Self {
        Self::new(kernel.wgsl, kernel.name, kernel.bindings).with_overrides(overrides)
    }

    /// Returns the kernel of a job's launch, without the run-time checks that the crate's kernels do not need.
    ///
    /// # Safety
    /// A function of [`crate::kernels`] must have created `launch` as part of a job. Every buffer bound to a slot must
    /// have at least the number of bytes that the job specifies for that slot. The job's preceding launches must run
    /// before this one. Where the engine's kernels access memory by address, the addresses in the job's buffers must be valid.
    pub(crate) unsafe fn of_launch(launch: &'a Launch, overrides: &'a [(&'a str, f64)]) -> Self {
        Self {
            is_checked: false,
            is_cleared: !launch.kernel.fills_workgroup(),
            has_addresses: launch.kernel.has_addresses(),
            is_of_bfloat16: launch.kernel.is_of_bfloat16(),
            is_of_tf32: launch.kernel.is_of_tf32(),
            ..Self::of(launch.kernel, overrides)
        }
    }

    /// Sets values of `override` constants by name.
    #[must_use]
    pub const fn with_overrides(self, overrides: &'a [(&'a str, f64)]) -> Self {
        Self { overrides, ..self }
    }

    /// Lets cooperative matrices of `f32` be factors of products, rounded to TF32: 10 bits after the binary point, to nearest. The CUDA
    /// engine has them, from compute capability 8.0 on.
    #[must_use]
    pub const fn with_floats_as_tf32(self) -> Self {
        Self {
            is_of_tf32: true,
            ..self
        }
    }

    /// Removes the engine's checks of accesses, divisors and loops, where the engine can omit them.
    ///
    /// # Safety
    /// At every launch, whatever its arguments and grid, the kernel must access no element outside its buffers,
    /// variables and values, except that it may read up to 32 bytes beyond the end of a buffer if it does not use the
    /// values. It must neither divide by zero nor divide the least integer by -1, and its loops must terminate.
    #[must_use]
    pub const unsafe fn without_checks(self) -> Self {
        Self {
            is_checked: false,
            ..self
        }
    }

    /// Removes the zero-initialisation of workgroup memory.
    ///
    /// # Safety
    /// At every launch, the kernel must not read workgroup memory that its own workgroup has not written. Such memory
    /// is undefined, and may contain data of other programs.
    #[must_use]
    pub const unsafe fn without_clearing(self) -> Self {
        Self {
            is_cleared: false,
            ..self
        }
    }

    /// Returns true if the engine compiles its own checks into the kernel.
    #[must_use]
    pub const fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// Returns true if the kernel accesses memory by address, where the engine can.
    pub(crate) const fn has_addresses(&self) -> bool {
        self.has_addresses
    }

    /// Returns true if matrix units take halves as bfloat16.
    pub(crate) const fn is_of_bfloat16(&self) -> bool {
        self.is_of_bfloat16
    }

    /// Returns true if matrix units take factors of f32 as TF32.
    pub(crate) const fn is_of_tf32(&self) -> bool {
        self.is_of_tf32
    }

    /// Returns true if workgroup memory is zeroed before the kernel runs.
    #[must_use]
    pub const fn is_cleared(&self) -> bool {
        self.is_cleared
    }
}

/// An argument of a launch; the n-th argument is binding n of group 0.
#[derive(Debug)]
pub enum KernelArg<'a, Buffer> {
    /// A whole device buffer; `arrayLength` sees its length in bytes as allocated by the caller.
    Buffer(&'a Buffer),
    /// A range of a device buffer in bytes; it starts at a multiple of 256 and its length is a multiple of 4.
    Slice(&'a Buffer, Range<u64>),
    /// A small uniform block; padded to a multiple of 16 bytes.
    Params(&'a [u32]),
}

/// One end of a copy: a buffer and a byte offset, a multiple of 4.
#[derive(Debug)]
pub enum Place<'a, Buffer, HostBuffer> {
    /// Device memory.
    Device(&'a Buffer, u64),
    /// Memory that host and device share.
    Host(&'a HostBuffer, u64),
}

impl<Buffer, HostBuffer> Clone for Place<'_, Buffer, HostBuffer> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Buffer, HostBuffer> Copy for Place<'_, Buffer, HostBuffer> {}

/// Memory of a known length.
pub trait Sized64 {
    /// Returns the length in bytes that was requested at allocation.
    fn n_bytes(&self) -> u64;
}

/// A staging buffer, which both host and device access: mapped on wgpu, pinned on CUDA.
pub trait HostMemory: Sized64 {
    /// Copies `bytes` to `offset` once the device has finished with earlier contents.
    /// An [`HostUse::Upload`] buffer only; `offset` is a multiple of 8, the length of 4. Ranges written between two
    /// submissions must not overlap.
    fn write_async(&self, offset: u64, bytes: &[u8]) -> impl Future<Output = Result<()>>;

    /// Calls `fill` with `range` (multiples of 8) to write in place, once the device has finished with earlier contents;
    /// the bytes passed in are unspecified. An [`HostUse::Upload`] buffer only.
    fn fill_async<R>(
        &self,
        range: Range<u64>,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> impl Future<Output = Result<R>>;

    /// Waits until the device has finished writing, then calls `read` with `range` (multiples of 4).
    /// An [`HostUse::Download`] buffer only.
    fn read_async<R>(
        &self,
        range: Range<u64>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> impl Future<Output = Result<R>>;
}

/// Launches and copies recorded in order and submitted as one unit; each sees the writes of those before it.
pub trait Recorder {
    /// Compiled kernel of this engine.
    type Kernel;
    /// Device memory of this engine.
    type Buffer;
    /// Host memory of this engine.
    type HostBuffer;
    /// Submitted work of this engine, to wait for.
    type Submission;

    /// Records one dispatch of `grid` workgroups.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) when the arguments do not fit the kernel's bindings or the
    /// grid exceeds the device's limit.
    fn launch(
        &mut self,
        kernel: &Self::Kernel,
        grid: [u32; 3],
        args: &[KernelArg<'_, Self::Buffer>],
    ) -> Result<()>;

    /// Records a copy of `n_bytes`, a multiple of 4.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) if a range exceeds its buffer or both ends are host memory.
    fn copy(
        &mut self,
        dst: Place<'_, Self::Buffer, Self::HostBuffer>,
        src: Place<'_, Self::Buffer, Self::HostBuffer>,
        n_bytes: u64,
    ) -> Result<()>;

    /// Submits everything recorded to the device, and returns before it has run.
    ///
    /// # Errors
    /// [`Engine`](crate::Error::Engine) for work that the engine rejects; [`DeviceLost`](crate::Error::DeviceLost).
    fn submit(self) -> Result<Self::Submission>;

    /// Submits as [`submit`](Self::submit) does, and times copies between host and device too where the device supports it: see
    /// [`Waitable::wait_times_async`].
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    fn submit_timed(self) -> Result<Self::Submission>
    where
        Self: Sized,
    {
        self.submit()
    }

    /// Submits work without timestamps and without a handle to wait for: cheaper for small work. The engine may submit it together with
    /// work that follows shortly, but before anything can depend on it.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    fn submit_untimed(self) -> Result<()>
    where
        Self: Sized,
    {
        self.submit().map(drop)
    }
}

/// Work that was submitted to the device.
pub trait Waitable: Sized {
    /// Waits until the work has run.
    ///
    /// Returns the time of the launches in nanoseconds by the device's clock, without copies; `None` if the device has
    /// no timestamps.
    fn wait_async(self) -> impl Future<Output = Result<Option<u64>>>;

    /// Waits until the work has run, and returns the times of all of it by the device's clock. Copies are measured only
    /// in work that was [submitted to be timed](Recorder::submit_timed), if [`Capabilities::copy_timestamps`] is true.
    fn wait_times_async(self) -> impl Future<Output = Result<DeviceTimes>> {
        async {
            let kernel_ns = self.wait_async().await?;
            Ok(DeviceTimes {
                kernels: kernel_ns.map_or(Busy::Unmeasured, Busy::Total),
                ..DeviceTimes::default()
            })
        }
    }
}

/// An engine's open device: compiles kernels, allocates memory, records and submits work. Handles are cheap to clone and typed
/// per engine; memory is freed, or returned to a pool, on drop.
pub trait Backend: Clone {
    /// A compiled kernel.
    type Kernel: Clone;
    /// Device memory.
    type Buffer: Clone + Sized64;
    /// Memory that host and device share.
    type HostBuffer: Clone + HostMemory;
    /// A recorder of launches and copies.
    type Stream: Recorder<
            Kernel = Self::Kernel,
            Buffer = Self::Buffer,
            HostBuffer = Self::HostBuffer,
            Submission = Self::Submission,
        >;
    /// Submitted work.
    type Submission: Waitable;

    /// Returns the name of the engine: `"cuda"` or `"wgpu"`.
    fn name(&self) -> &'static str;

    /// Returns the description of the device.
    fn info(&self) -> &GpuDeviceInfo;

    /// Returns the limits and features of the device.
    fn capabilities(&self) -> &Capabilities;

    /// Compiles WGSL. Kernels are cached by the content of their source.
    ///
    /// # Errors
    /// [`KernelCompile`](crate::Error::KernelCompile) with the compiler's message, line and column.
    fn compile_kernel(
        &self,
        source: &KernelSource<'_>,
    ) -> impl Future<Output = Result<Self::Kernel>>;

    /// Allocates device memory of `n_bytes`, a positive multiple of 4, filled with zeros.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory); [`InvalidArgument`](crate::Error::InvalidArgument) beyond the
    /// device's largest buffer.
    fn allocate_memory(&self, n_bytes: u64) -> Result<Self::Buffer>;

    /// Allocates a staging buffer of `n_bytes`, a positive multiple of 4, filled with zeros.
    ///
    /// # Errors
    /// As [`allocate_memory`](Self::allocate_memory).
    fn allocate_host(&self, n_bytes: u64, host_use: HostUse) -> Result<Self::HostBuffer>;

    /// Returns an empty recorder.
    fn stream(&self) -> Self::Stream;

    /// Waits until everything submitted has run.
    fn synchronize_async(&self) -> impl Future<Output = Result<()>>;

    /// Launches one kernel at once.
    ///
    /// # Errors
    /// As [`Recorder::launch`] and [`Recorder::submit`].
    fn launch_kernel(
        &self,
        kernel: &Self::Kernel,
        grid: [u32; 3],
        args: &[KernelArg<'_, Self::Buffer>],
    ) -> Result<Self::Submission> {
        let mut stream = self.stream();
        stream.launch(kernel, grid, args)?;
        stream.submit()
    }

    /// Copies `bytes` (length a multiple of 4) from the host to `dst` at `offset`, and waits for it.
    fn upload_async(
        &self,
        dst: &Self::Buffer,
        offset: u64,
        bytes: &[u8],
    ) -> impl Future<Output = Result<()>> {
        let allocate = |n_bytes| self.allocate_host(n_bytes, HostUse::Upload);
        upload(self, allocate, dst, offset, bytes)
    }

    /// Copies `range` (multiples of 4) of `src` to the host.
    fn download_async(
        &self,
        src: &Self::Buffer,
        range: Range<u64>,
    ) -> impl Future<Output = Result<Vec<u8>>> {
        let allocate = |n_bytes| self.allocate_host(n_bytes, HostUse::Download);
        download(self, allocate, src, range)
    }
}

/// Uploads through a staging buffer that `allocate` returns: see [`Backend::upload_async`].
pub(super) async fn upload<B: Backend>(
    backend: &B,
    allocate: impl FnOnce(u64) -> Result<B::HostBuffer>,
    dst: &B::Buffer,
    offset: u64,
    bytes: &[u8],
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let n_bytes = bytes.len() as u64;
    // Records the copy first, so that nothing is allocated for an invalid range.
    check::copy_end(offset, n_bytes, dst.n_bytes())?;
    let host = allocate(n_bytes)?;
    host.write_async(0, bytes).await?;
    let mut stream = backend.stream();
    stream.copy(Place::Device(dst, offset), Place::Host(&host, 0), n_bytes)?;
    stream.submit()?.wait_async().await.map(drop)
}

/// Downloads through a staging buffer that `allocate` returns: see [`Backend::download_async`].
pub(super) async fn download<B: Backend>(
    backend: &B,
    allocate: impl FnOnce(u64) -> Result<B::HostBuffer>,
    src: &B::Buffer,
    range: Range<u64>,
) -> Result<Vec<u8>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let n_bytes = range.end - range.start;
    check::copy_end(range.start, n_bytes, src.n_bytes())?;
    let host = allocate(n_bytes)?;
    let mut stream = backend.stream();
    stream.copy(
        Place::Host(&host, 0),
        Place::Device(src, range.start),
        n_bytes,
    )?;
    stream.submit()?;
    host.read_async(0..n_bytes, copied).await?
}
