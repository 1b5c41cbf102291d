//! [`GpuBackend`]: operations on slices, wherever they run faster.

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
    /// Not requested yet.
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

    /// Returns the place where the last operation ran; `None` before the first.
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

    /// Returns the reason why the CPU takes over after a failure of the GPU; the error if it may not.
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

    /// Returns true if the CPU may take over after a failure of the GPU.
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

    /// Runs an operation on arrays wherever that is faster: `download` makes the result of what a device sends, `keep` of
    /// what the CPU made.
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
