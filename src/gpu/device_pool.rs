//! [`GpuDevicePool`]: all GPUs of a machine, used together.

use super::choice::{DeviceRequest, EngineChoice, Rejected};
use super::device::GpuDevice;
use super::info::GpuDeviceInfo;
use super::spread::{Shareable, spread};
use crate::engine::{CUDA, WGPU};
use crate::{Error, Result};

/// Several open GPUs, over which work is spread: rows of tensors, and batches of pages
/// ([`compressor`](Self::compressor)). Results are gathered in order and do not depend on the number of GPUs, except that
/// sums are added in another order.
///
/// Work is split into one part per device. Pages are split into more parts, so that a faster device processes more of
/// them (work stealing). If a device is lost, its part is processed by another. Natively each device has its own thread
/// during a call, and futures block on the threads without yielding.
///
/// ```no_run
/// use pagepress::gpu::GpuDevicePool;
/// let pool = GpuDevicePool::new()?;
/// let (a, b) = (vec![1.0; 1000 * 64], vec![0.5; 64 * 8]);
/// let mut product = vec![0.0; 1000 * 8];
/// pool.matmul(&a, &b, &mut product, 1000, 64, 8)?;
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GpuDevicePool {
    devices: Vec<GpuDevice>,
    rejected: Vec<Rejected>,
}

impl GpuDevicePool {
    /// Opens every hardware GPU once: through CUDA where that is possible, else through wgpu.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`] if there is none, with a reason for each candidate.
    pub async fn new_async() -> Result<Self> {
        Self::open_async(&DeviceRequest::default()).await
    }

    /// Opens every GPU that `request` allows; software adapters only if it allows them. Its `adapter_index` is ignored.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`] if there is none, with a reason for each candidate.
    pub async fn open_async(request: &DeviceRequest) -> Result<Self> {
        let adapters = GpuDevice::list_adapters_async().await;
        let (taken, mut rejected) = choose(&adapters, request);
        let mut devices = Vec::with_capacity(taken.len());
        for index in taken {
            let of_list = DeviceRequest {
                engine: EngineChoice::Auto,
                adapter_index: Some(index),
                ..request.clone()
            };
            match GpuDevice::open_async(&of_list).await {
                Ok(device) => devices.push(device),
                Err(error) => rejected.push(Rejected {
                    candidate: adapters[index].to_string(),
                    reason: error.to_string(),
                }),
            }
        }
        if devices.is_empty() {
            let reasons: Vec<String> = rejected
                .iter()
                .map(|one| format!("{}: {}", one.candidate, one.reason))
                .collect();
            return Err(Error::BackendUnavailable {
                backend: "GPU",
                reason: match reasons.is_empty() {
                    true => "no adapter found".into(),
                    false => reasons.join("; "),
                },
            });
        }
        Ok(Self { devices, rejected })
    }

    /// Creates a pool of open devices.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there are none.
    pub fn with_devices(devices: Vec<GpuDevice>) -> Result<Self> {
        if devices.is_empty() {
            return Err(Error::InvalidArgument {
                name: "devices",
                value: "none".into(),
                expected: "give at least one",
            });
        }
        Ok(Self {
            devices,
            rejected: Vec::new(),
        })
    }

    /// [`new_async`](Self::new_async), blocking. Native only.
    ///
    /// # Errors
    /// As [`new_async`](Self::new_async).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Result<Self> {
        super::runtime::block_on(Self::new_async())
    }

    /// [`open_async`](Self::open_async), blocking. Native only.
    ///
    /// # Errors
    /// As [`open_async`](Self::open_async).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open(request: &DeviceRequest) -> Result<Self> {
        super::runtime::block_on(Self::open_async(request))
    }

    /// Returns the devices; at least one.
    #[must_use]
    pub fn devices(&self) -> &[GpuDevice] {
        &self.devices
    }

    /// Returns the adapters that are not in the pool, each with the reason.
    #[must_use]
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// Distributes parts of work over the devices; see [`spread`].
    pub(crate) async fn spread<P, T, F>(&self, parts: Vec<P>, work: F) -> Result<Vec<T>>
    where
        P: Shareable,
        T: Shareable,
        F: AsyncFn(&mut GpuDevice, &mut P) -> Result<T>,
        for<'f> &'f F: Shareable,
    {
        let mut devices = self.devices.clone();
        spread(&mut devices, parts, work).await
    }
}

/// Returns the positions of the adapters to open, and the reasons against the others. A GPU that is available through
/// several APIs is opened through the first: it has one name, and two adapters of one API are two GPUs.
fn choose(adapters: &[GpuDeviceInfo], request: &DeviceRequest) -> (Vec<usize>, Vec<Rejected>) {
    let (mut taken, mut rejected): (Vec<usize>, _) = (Vec::new(), Vec::new());
    for (index, adapter) in adapters.iter().enumerate() {
        let of_engine = match request.engine {
            EngineChoice::Auto => true,
            EngineChoice::Cuda => adapter.engine == CUDA,
            EngineChoice::Wgpu => adapter.engine == WGPU,
        };
        let same = taken.iter().map(|&i| &adapters[i]).find(|other| {
            other.name == adapter.name && (other.engine, other.api) != (adapter.engine, adapter.api)
        });
        let reason = if !of_engine {
            "another engine was asked for".into()
        } else if adapter.is_software() && !request.allow_software {
            "software adapter, slower than the CPU path".into()
        } else if let Some(other) = same {
            format!("the same GPU as {other}, which comes first")
        } else {
            taken.push(index);
            continue;
        };
        rejected.push(Rejected {
            candidate: adapter.to_string(),
            reason,
        });
    }
    (taken, rejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::info::DeviceKind;

    fn adapter(
        name: &str,
        engine: &'static str,
        api: &'static str,
        kind: DeviceKind,
    ) -> GpuDeviceInfo {
        GpuDeviceInfo {
            name: name.into(),
            vendor: String::new(),
            engine,
            api,
            kind,
            driver: String::new(),
            subgroup_size: (0, 0),
        }
    }

    #[test]
    fn each_gpu_is_opened_once_and_software_only_on_request() {
        let adapters = [
            adapter("H200", "cuda", "cuda", DeviceKind::Discrete),
            adapter("H200", "cuda", "cuda", DeviceKind::Discrete),
            adapter("H200", "wgpu", "vulkan", DeviceKind::Discrete),
            adapter("Arc", "wgpu", "vulkan", DeviceKind::Integrated),
            adapter("Arc", "wgpu", "dx12", DeviceKind::Integrated),
            adapter("llvmpipe", "wgpu", "vulkan", DeviceKind::Software),
        ];
        let taken = |request: &DeviceRequest| choose(&adapters, request).0;
        let mut request = DeviceRequest::default();
        assert_eq!(taken(&request), [0, 1, 3]);
        let (_, rejected) = choose(&adapters, &request);
        assert_eq!(rejected.len(), 3);
        assert!(rejected[0].reason.contains("the same GPU as H200"));
        assert!(rejected[2].reason.contains("software"));
        request.allow_software = true;
        assert_eq!(taken(&request), [0, 1, 3, 5]);
        request.engine = EngineChoice::Wgpu;
        assert_eq!(taken(&request), [2, 3, 5]);
    }
}
