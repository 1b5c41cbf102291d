//! [`GpuBackend`]: operations on slices, wherever they run faster.

use super::calibrate::{Engine, Speed};
use super::check_dims;
use super::cpu;
use super::shape::Shape;
use super::step::{Reduction, Step};
use super::work::Work;
use crate::engine::BackendUsed;
use crate::gpu::{Backend, GpuDevice};
use crate::memory::zeros;
use crate::{Error, Result};

/// Work that the CPU is expected to finish within this time stays there: no GPU answers sooner.
const ROUND_TRIP_NS: f64 = if cfg!(target_arch = "wasm32") {
    1e6
} else {
    3e4
};

/// Work of the CPU that is worth opening and measuring a GPU, which takes about as long or longer.
const WORTH_OPENING_NS: f64 = 30e6;

/// Operations on slices that return vectors, on the CPU or on a GPU: wherever each is expected to take less time,
/// transfers included. [`last_backend`](Self::last_backend) says where, and what was expected.
///
/// What is expected rests on measurements: of the CPU at the first operation of a kind (about a millisecond), and of a
/// GPU, a few tens of milliseconds, once the CPU has spent that much on operations that a GPU might have done sooner.
/// The device is opened then. Without one, or if it fails, the CPU does the work. Results
/// that memory has no room for are [`Error::OutOfMemory`].
///
/// The documents define a second type of this name: `pagepress::GpuBackend`, at the root of the crate, detects a device.
///
/// ```no_run
/// use pagepress::tensor::GpuBackend;
/// let mut backend = GpuBackend::new();
/// let sum = backend.vec_add(&[1.0, 2.0], &[3.0, 4.0])?;
/// assert_eq!(sum, [4.0, 6.0]);
/// println!("on {}", backend.last_backend().ok_or("nothing ran")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct GpuBackend {
    device: Device,
    last: Option<BackendUsed>,
    cpu: Speed,
    gpu: Speed,
    /// Nanoseconds that the CPU was expected to spend on work that a GPU might have done sooner.
    missed_ns: f64,
}

#[derive(Debug, Default)]
enum Device {
    /// Nobody asked yet.
    #[default]
    Unopened,
    /// Used for what it does sooner than the CPU.
    Open(GpuDevice),
    /// Used for everything.
    Forced(GpuDevice),
    /// There is none, or it failed.
    None(String),
}

impl GpuBackend {
    /// A backend that opens the best hardware GPU when it first pays.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A backend that runs everything on `device`. Then a failure of it is an error.
    #[must_use]
    pub fn with_device(device: GpuDevice) -> Self {
        Self {
            device: Device::Forced(device),
            ..Self::default()
        }
    }

    /// A backend that chooses between `device`, which may be a software one, and the CPU.
    #[must_use]
    pub fn choosing(device: GpuDevice) -> Self {
        Self {
            device: Device::Open(device),
            ..Self::default()
        }
    }

    /// Gives up the device that it opened, if it did.
    #[cfg(web_tensor)]
    pub(crate) fn close(&self) {
        if let Device::Open(device) = &self.device {
            device.destroy();
        }
    }

    /// Where the last operation ran; `None` before the first.
    #[must_use]
    pub const fn last_backend(&self) -> Option<&BackendUsed> {
        self.last.as_ref()
    }

    /// The device for an operation, and why it; or why there is none.
    async fn device_for(
        &mut self,
        work: Work,
    ) -> Result<std::result::Result<(GpuDevice, String), String>> {
        if let Device::Forced(device) = &self.device {
            return Ok(Ok((device.clone(), "it was asked for".into())));
        }
        if let Device::None(reason) = &self.device {
            return Ok(Err(reason.clone()));
        }
        self.cpu.measure(Engine::Cpu, work.class).await?;
        let cpu_ns = self.cpu.ns(work).unwrap_or(0.0);
        if cpu_ns < ROUND_TRIP_NS {
            return Ok(Err("the CPU needs less time than a transfer".into()));
        }
        if let Device::Unopened = self.device {
            self.missed_ns += cpu_ns;
            if self.missed_ns < WORTH_OPENING_NS {
                return Ok(Err("so far too little work to measure a GPU for".into()));
            }
            self.device = match GpuDevice::new_async().await {
                Ok(device) => Device::Open(device),
                Err(error) => Device::None(error.to_string()),
            };
        }
        let device = match &self.device {
            Device::Open(device) | Device::Forced(device) => device.clone(),
            Device::None(reason) => return Ok(Err(reason.clone())),
            Device::Unopened => return Ok(Err("no device was opened".into())),
        };
        if let Err(error) = self.gpu.measure(Engine::Gpu(&device), work.class).await {
            return Ok(Err(self.failed(error)?));
        }
        let gpu_ns = self.gpu.ns(work).unwrap_or(f64::INFINITY);
        let [gpu, cpu] = [gpu_ns, cpu_ns].map(|ns| (ns / 1000.0) as u64);
        let reason =
            format!("by measurement {gpu} microseconds are expected on the GPU, {cpu} on the CPU");
        Ok(match gpu_ns < cpu_ns {
            true => Ok((device, reason)),
            false => Err(reason),
        })
    }

    /// Why the CPU does what the GPU could not; the error, if it may not.
    fn failed(&mut self, error: Error) -> Result<String> {
        if !self.may_go_on(&error) {
            return Err(error);
        }
        let reason = format!("the GPU failed: {error}");
        if let Error::DeviceLost { .. } = error {
            self.device = Device::None(reason.clone());
        }
        Ok(reason)
    }

    /// Runs `on_gpu` where that is faster, else, or if the device fails, `on_cpu`.
    pub(super) async fn run<T>(
        &mut self,
        work: Work,
        on_gpu: impl AsyncFnOnce(&GpuDevice) -> Result<T>,
        on_cpu: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let reason = match self.device_for(work).await? {
            Ok((device, reason)) => match on_gpu(&device).await {
                Ok(result) => {
                    self.last = Some(BackendUsed::Gpu {
                        engine: device.name(),
                        device: device.info().to_string(),
                        reason,
                    });
                    return Ok(result);
                }
                Err(error) => self.failed(error)?,
            },
            Err(reason) => reason,
        };
        let result = on_cpu()?;
        self.last = Some(BackendUsed::Cpu { reason });
        Ok(result)
    }

    /// Whether the CPU may do what the GPU could not.
    fn may_go_on(&self, error: &Error) -> bool {
        let is_of_device = matches!(
            error,
            Error::DeviceLost { .. }
                | Error::OutOfMemory { .. }
                | Error::Engine { .. }
                | Error::KernelCompile { .. }
        );
        is_of_device && !matches!(self.device, Device::Forced(_))
    }

    /// All steps in turn of `a`; those that take two take the element of `b`, which is as long.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::InvalidArgument`] if a step takes two and there is no `b`.
    pub async fn elementwise_async(
        &mut self,
        steps: &[Step],
        a: &[f32],
        b: Option<&[f32]>,
    ) -> Result<Vec<f32>> {
        let n_read = a.len() + b.map_or(0, <[f32]>::len);
        let work = Work::elementwise(steps, a.len(), n_read);
        let on_gpu = async |device: &GpuDevice| {
            let mut out = zeros(a.len())?;
            device.elementwise_async(steps, a, b, &mut out).await?;
            Ok(out)
        };
        let on_cpu = || {
            let mut out = zeros(a.len())?;
            cpu::elementwise(steps, a, b, &mut out)?;
            Ok(out)
        };
        self.run(work, on_gpu, on_cpu).await
    }

    /// The sum of products; 0 of none.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    pub async fn dot_async(&mut self, a: &[f32], b: &[f32]) -> Result<f32> {
        let work = Work::dot(a.len());
        let on_gpu = async |device: &GpuDevice| device.dot_async(a, b).await;
        self.run(work, on_gpu, || cpu::dot(a, b)).await
    }

    /// eˣ over the sum of all eˣ.
    ///
    /// # Errors
    /// See [`GpuBackend`].
    pub async fn softmax_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.softmax_of(false, a).await
    }

    /// The logarithm of [`softmax_async`](Self::softmax_async).
    ///
    /// # Errors
    /// See [`GpuBackend`].
    pub async fn log_softmax_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.softmax_of(true, a).await
    }

    async fn softmax_of(&mut self, log: bool, a: &[f32]) -> Result<Vec<f32>> {
        let work = Work::softmax(a.len());
        let on_gpu = async |device: &GpuDevice| {
            let mut out = zeros(a.len())?;
            match log {
                true => device.log_softmax_async(a, &mut out).await?,
                false => device.softmax_async(a, &mut out).await?,
            }
            Ok(out)
        };
        let on_cpu = || {
            let mut out = zeros(a.len())?;
            match log {
                true => cpu::log_softmax(a, a.len(), &mut out)?,
                false => cpu::softmax(a, a.len(), &mut out)?,
            }
            Ok(out)
        };
        self.run(work, on_gpu, on_cpu).await
    }

    /// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::InvalidArgument`] where `k` is 0 and the result has more elements than memory.
    pub async fn matmul_async(
        &mut self,
        a: &[f32],
        b: &[f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<Vec<f32>> {
        check_dims("a", a.len(), &[m, k])?;
        check_dims("b", b.len(), &[k, n])?;
        let n_out = Shape::new(&[m, n])?.n_elements();
        let work = Work::matmul(m, k, n);
        let on_gpu = async |device: &GpuDevice| {
            let mut c = zeros(n_out)?;
            device.matmul_async(a, b, &mut c, m, k, n).await?;
            Ok(c)
        };
        let on_cpu = || {
            let mut c = zeros(n_out)?;
            cpu::matmul(a, b, &mut c, m, k, n)?;
            Ok(c)
        };
        self.run(work, on_gpu, on_cpu).await
    }

    /// The convolution of a picture of `size` rows and columns with a kernel of `kernel_size`, where it fits.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::InvalidArgument`] for a kernel that is empty or larger than the picture.
    pub async fn convolve2d_async(
        &mut self,
        input: &[f32],
        kernel: &[f32],
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> Result<Vec<f32>> {
        check_dims("input", input.len(), &size)?;
        check_dims("kernel", kernel.len(), &kernel_size)?;
        let [out_rows, out_cols] = cpu::check_sizes(size, kernel_size)?;
        let n_out = out_rows * out_cols;
        let work = Work::convolve2d(input.len(), kernel.len(), n_out);
        let on_gpu = async |device: &GpuDevice| {
            let mut out = zeros(n_out)?;
            let ([rows, cols], [kernel_rows, kernel_cols]) = (size, kernel_size);
            device
                .convolve2d_async(
                    input,
                    kernel,
                    &mut out,
                    rows,
                    cols,
                    kernel_rows,
                    kernel_cols,
                )
                .await?;
            Ok(out)
        };
        let on_cpu = || {
            let mut out = zeros(n_out)?;
            cpu::convolve2d(input, kernel, &mut out, size, kernel_size)?;
            Ok(out)
        };
        self.run(work, on_gpu, on_cpu).await
    }

    /// The reduction of all elements. [`Reduction::Dot`] takes them as both factors.
    ///
    /// # Errors
    /// See [`GpuBackend`].
    pub async fn reduce_async(&mut self, reduction: Reduction, a: &[f32]) -> Result<f32> {
        let reduction = match reduction {
            Reduction::Dot => Reduction::SumOfSquares,
            other => other,
        };
        let work = Work::reduce(a.len(), 0);
        let on_gpu = async |device: &GpuDevice| device.reduce_slice_async(reduction, a).await;
        self.run(work, on_gpu, || Ok(cpu::reduce(reduction, a)))
            .await
    }
}

/// The same, blocking. Native only. Errors are those of the forms that do not block.
macro_rules! blocking {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $async:ident($($given:expr),*);)*) => {
        /// The operations, blocking. Native only.
        #[cfg(not(target_arch = "wasm32"))]
        impl GpuBackend {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// As the form that does not block.
                pub fn $name(&mut self, $($arg: $ty),*) -> Result<$out> {
                    crate::gpu::runtime::block_on(self.$async($($given),*))
                }
            )*
        }
    };
}

blocking! {
    /// All steps in turn of `a`; those that take two take the element of `b`.
    elementwise(steps: &[Step], a: &[f32], b: Option<&[f32]>) -> Vec<f32> = elementwise_async(steps, a, b);
    /// max(x, 0)
    relu(a: &[f32]) -> Vec<f32> = elementwise_async(&[Step::Relu], a, None);
    /// x above 0, else `alpha` x.
    leaky_relu(a: &[f32], alpha: f32) -> Vec<f32> = elementwise_async(&[Step::LeakyRelu(alpha)], a, None);
    /// x above 0, else `alpha` (eˣ - 1).
    elu(a: &[f32], alpha: f32) -> Vec<f32> = elementwise_async(&[Step::Elu(alpha)], a, None);
    /// 1 / (1 + e⁻ˣ)
    sigmoid(a: &[f32]) -> Vec<f32> = elementwise_async(&[Step::Sigmoid], a, None);
    /// tanh x
    tanh(a: &[f32]) -> Vec<f32> = elementwise_async(&[Step::Tanh], a, None);
    /// x / (1 + e⁻ˣ)
    swish(a: &[f32]) -> Vec<f32> = elementwise_async(&[Step::Swish], a, None);
    /// x Φ(x), with Φ the integral of the normal distribution.
    gelu(a: &[f32]) -> Vec<f32> = elementwise_async(&[Step::Gelu], a, None);
    /// x, but at least `min` and at most `max`.
    clip(a: &[f32], min: f32, max: f32) -> Vec<f32> = elementwise_async(&[Step::Clip(min, max)], a, None);
    /// The sum of two vectors.
    vec_add(a: &[f32], b: &[f32]) -> Vec<f32> = elementwise_async(&[Step::Add], a, Some(b));
    /// The sum of products.
    dot(a: &[f32], b: &[f32]) -> f32 = dot_async(a, b);
    /// eˣ over the sum of all eˣ.
    softmax(a: &[f32]) -> Vec<f32> = softmax_async(a);
    /// The logarithm of the softmax.
    log_softmax(a: &[f32]) -> Vec<f32> = log_softmax_async(a);
    /// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
    matmul(a: &[f32], b: &[f32], m: usize, k: usize, n: usize) -> Vec<f32> = matmul_async(a, b, m, k, n);
    /// The convolution of a picture with a kernel, where it fits.
    convolve2d(input: &[f32], kernel: &[f32], size: [usize; 2], kernel_size: [usize; 2]) -> Vec<f32> =
        convolve2d_async(input, kernel, size, kernel_size);
    /// The reduction of all elements.
    reduce(reduction: Reduction, a: &[f32]) -> f32 = reduce_async(reduction, a);
}
