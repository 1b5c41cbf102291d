//! [`GpuBackend`]: runs operations on slices on the CPU or the GPU, whichever is faster.

use super::arrays::Array;
use super::calibrate::{Engine, Speed};
use crate::engine::BackendUsed;
use crate::gpu::{Backend, GpuDevice};
use crate::memory::zeros;
use crate::tensor::Shape;
use crate::tensor::op::Op;
use crate::tensor::op::work::Work;
use crate::tensor::record::Download;
use crate::{Error, Result};

/// Minimum latency of a GPU call. Work that the CPU is expected to finish within this time stays on the CPU.
const ROUND_TRIP_NS: f64 = if cfg!(target_arch = "wasm32") {
    1e6
} else {
    3e4
};

/// CPU time, spent on work that a GPU might do faster, after which a GPU is opened and measured. That takes about as
/// long or longer.
const WORTH_OPENING_NS: f64 = 30e6;

/// Runs operations on slices on the CPU or on a GPU, whichever is expected to be faster, transfers included. Results
/// are vectors. [`last_backend`](Self::last_backend) returns the engine that ran the last operation, and the reason.
///
/// Estimates are based on measurements. The CPU is measured at the first operation of each class, which takes about a
/// millisecond. The GPU is opened and measured, which takes a few tens of milliseconds, once the CPU has spent that
/// much time on operations that a GPU might have done faster. If there is no GPU or it fails, the operations run on the
/// CPU. If there is no memory for a result, the error is [`Error::OutOfMemory`].
///
/// `pagepress::GpuBackend`, at the root of the crate, is a different type, which detects a device.
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
    /// Expected CPU time, in nanoseconds, of the operations so far that a GPU might have done faster.
    missed_ns: f64,
}

#[derive(Debug, Default)]
enum Device {
    /// Not requested yet.
    #[default]
    Unopened,
    /// Used for operations that are expected to be faster on it.
    Open(GpuDevice),
    /// Used for everything.
    Forced(GpuDevice),
    /// No device could be opened, or it was lost; contains the reason.
    None(String),
}

impl GpuBackend {
    /// Creates a backend that opens the best hardware GPU once there is enough work for it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a backend that runs everything on `device`. Failures of the device are errors.
    #[must_use]
    pub fn with_device(device: GpuDevice) -> Self {
        Self {
            device: Device::Forced(device),
            ..Self::default()
        }
    }

    /// Creates a backend that chooses between `device`, which may be a software adapter, and the CPU.
    #[must_use]
    pub fn choosing(device: GpuDevice) -> Self {
        Self {
            device: Device::Open(device),
            ..Self::default()
        }
    }

    /// Destroys the device, unless the backend must use it for everything.
    #[cfg(web_tensor)]
    pub(crate) fn close(&self) {
        if let Device::Open(device) = &self.device {
            device.destroy();
        }
    }

    /// Returns the engine that ran the last operation, and the reason; `None` before the first operation.
    #[must_use]
    pub const fn last_backend(&self) -> Option<&BackendUsed> {
        self.last.as_ref()
    }

    /// Returns the device for an operation and the reason for it, or the reason to run it on the CPU.
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

    /// Handles a failure of the GPU: returns the reason to run on the CPU, or the error if the CPU must not be used.
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

    /// Runs `on_gpu` if that is expected to be faster. Otherwise, or if the device fails, runs `on_cpu`.
    async fn run<T>(
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

    /// Returns true if an operation that failed on the GPU may run on the CPU.
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

    /// Runs an operation on arrays, on the CPU or the GPU. `download` converts the result of a device, `keep` that of
    /// the CPU.
    pub(super) async fn compute_async<T>(
        &mut self,
        op: &Op,
        inputs: &[Array<'_>],
        download: impl AsyncFnOnce(Download, usize) -> Result<T>,
        keep: impl FnOnce(Vec<f32>) -> Result<T>,
    ) -> Result<T> {
        let result = op.result_of(inputs)?;
        let n = result.shape().n_elements();
        let shapes: Vec<&Shape> = inputs.iter().map(|input| input.view.shape()).collect();
        let work = op.work(&shapes, result.shape());
        let on_gpu = async |device: &GpuDevice| {
            let made = device.compute_async(op, inputs, &result).await?;
            download(made, n).await
        };
        let on_cpu = || {
            let mut out = zeros(n)?;
            op.on_cpu_of(inputs, &mut out)?;
            keep(out)
        };
        self.run(work, on_gpu, on_cpu).await
    }
}
