//! An open device and its [`Backend`] implementation.

use std::rc::Rc;

use super::ENGINE;
use super::calls;
use super::kernel::{self, WebKernel};
use super::memory::{MAX_POOLED_BYTES, Raw, WebBuffer, WebHostBuffer};
use super::stream::WebStream;
use crate::gpu::backend::{Backend, HostUse, KernelSource};
use crate::gpu::choice::{DeviceRequest, LimitTier, PowerPreference};
use crate::gpu::id::DeviceId;
use crate::gpu::info::{Capabilities, DeviceKind, GpuDeviceInfo};
use crate::gpu::pipeline_cache::PipelineCache;
use crate::gpu::pool::Pool;
use crate::js::{self, Bytes, Value};
use crate::{Error, Result};

/// A device of WebGPU; clones share it.
#[derive(Debug, Clone)]
pub struct WebDevice(Rc<Shared>);

/// What all handles of a device share.
#[derive(Debug)]
pub(super) struct Shared {
    pub id: DeviceId,
    pub device: Value,
    pub info: GpuDeviceInfo,
    pub capabilities: Capabilities,
    /// Free buffers by usage and size.
    pub pool: Pool<u32, Raw>,
    pub kernels: PipelineCache<WebKernel>,
}

/// Turns of the event loop in which news of a lost device arrives, if there is any.
const TURNS_FOR_NEWS: u32 = 20;

/// The adapter that the browser gives, if it does.
pub(crate) async fn list() -> Vec<GpuDeviceInfo> {
    let request = DeviceRequest {
        allow_software: true,
        ..DeviceRequest::default()
    };
    let opened = open(&request).await;
    opened.iter().map(|device| device.0.info.clone()).collect()
}

/// Opens the device that `request` asks for.
pub(crate) async fn open(request: &DeviceRequest) -> Result<WebDevice> {
    let low_power = request.power_preference == PowerPreference::LowPower;
    let asked = js::ask(|token| calls::open_device(low_power, request.allow_software, token));
    let unavailable = |reason: String| Error::BackendUnavailable {
        backend: ENGINE,
        reason,
    };
    let device = answered(asked.receive().await).map_err(unavailable)?;
    let device = value(device).ok_or_else(|| unavailable(String::new()))?;
    Ok(WebDevice::of(device, request.limits))
}

/// What was answered; an answer that never comes is a failure like another.
pub(super) fn answered(answer: Option<js::Answer>) -> js::Answer {
    answer.unwrap_or_else(|| Err("there was no answer".into()))
}

/// The value that an answer is the number of.
pub(super) fn value(number: f64) -> Option<Value> {
    Value::new(number as u32)
}

fn info(device: &Value) -> GpuDeviceInfo {
    let text = Value::new(calls::describe(device.number()));
    let text = text.map(|text| Bytes::new(text).text()).unwrap_or_default();
    let mut lines = text.split('\n').map(str::to_owned);
    let kind = match lines.next().as_deref() {
        Some("1") => DeviceKind::Software,
        _ => DeviceKind::Unknown,
    };
    GpuDeviceInfo {
        vendor: lines.next().unwrap_or_default(),
        name: lines.next().unwrap_or_default(),
        engine: ENGINE,
        api: "webgpu",
        kind,
        driver: String::new(),
        subgroup_size: (0, 0),
    }
}

fn capabilities(device: &Value, tier: LimitTier) -> Capabilities {
    let mut limits = [0.0; calls::N_LIMITS];
    // SAFETY: as many numbers are written.
    unsafe { calls::limits(device.number(), limits.as_mut_ptr()) };
    let [
        binding,
        buffer,
        workgroup,
        invocations,
        grid,
        buffers,
        timestamps,
    ] = limits;
    Capabilities {
        max_binding_bytes: tier.binding_bytes(binding as u64),
        max_buffer_bytes: buffer as u64,
        max_workgroup_bytes: workgroup as u32,
        max_workgroup_invocations: invocations as u32,
        max_grid: grid as u32,
        max_storage_buffers: buffers as u32,
        subgroups: false,
        int64: false,
        timestamps: timestamps != 0.0,
        // WebGPU has timestamps at passes only.
        copy_timestamps: false,
        spirv_passthrough: false,
        free_memory_bytes: None,
        processors: None,
    }
}

impl Shared {
    /// The loss of the device, or the first error noted since the last check.
    pub(super) fn check(&self) -> Result<()> {
        let Some(text) = Value::new(calls::fault(self.device.number())) else {
            return Ok(());
        };
        let mut text = Bytes::new(text).text();
        let kind = text.remove(0);
        Err(match kind {
            'L' => Error::DeviceLost { reason: text },
            'M' => Error::OutOfMemory { requested: 0 },
            _ => Error::Engine {
                engine: ENGINE,
                message: text,
            },
        })
    }

    /// An engine error, or the loss of the device behind it, once news of that had time to arrive.
    pub(super) async fn failed(&self, message: String) -> Error {
        for _ in 0..TURNS_FOR_NEWS {
            js::turn().await;
            if let Err(error) = self.check() {
                return error;
            }
        }
        Error::Engine {
            engine: ENGINE,
            message,
        }
    }
}

impl WebDevice {
    /// A device that JavaScript has open.
    pub(crate) fn of(device: Value, tier: LimitTier) -> Self {
        Self(Rc::new(Shared {
            id: DeviceId::new(),
            info: info(&device),
            capabilities: capabilities(&device, tier),
            device,
            pool: Pool::new(MAX_POOLED_BYTES),
            kernels: PipelineCache::default(),
        }))
    }

    /// The identity of this open device.
    #[must_use]
    pub fn id(&self) -> DeviceId {
        self.0.id
    }

    /// The number of the browser's `GPUDevice`.
    pub(crate) fn number(&self) -> u32 {
        self.0.device.number()
    }

    /// Memory that holds what was there before.
    pub(crate) fn allocate_uncleared(&self, n_bytes: u64) -> Result<WebBuffer> {
        WebBuffer::uncleared(&self.0, n_bytes)
    }

    /// Whether the device still answers.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] with the browser's words.
    pub fn check(&self) -> Result<()> {
        self.0.check()
    }

    /// Gives the device up: everything submitted later fails with [`Error::DeviceLost`].
    pub fn destroy(&self) {
        calls::destroy_device(self.number());
    }
}

impl Backend for WebDevice {
    type Kernel = WebKernel;
    type Buffer = WebBuffer;
    type HostBuffer = WebHostBuffer;
    type Stream = WebStream;
    type Submission = super::WebSubmission;

    fn name(&self) -> &'static str {
        ENGINE
    }

    fn info(&self) -> &GpuDeviceInfo {
        &self.0.info
    }

    fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    async fn compile_kernel(&self, source: &KernelSource<'_>) -> Result<WebKernel> {
        kernel::compile(&self.0, source).await
    }

    fn allocate_memory(&self, n_bytes: u64) -> Result<WebBuffer> {
        WebBuffer::cleared(&self.0, n_bytes)
    }

    fn allocate_host(&self, n_bytes: u64, host_use: HostUse) -> Result<WebHostBuffer> {
        WebHostBuffer::new(&self.0, n_bytes, host_use)
    }

    fn stream(&self) -> WebStream {
        WebStream::new(&self.0)
    }

    async fn synchronize_async(&self) -> Result<()> {
        let asked = js::ask(|token| calls::synchronize(self.number(), token));
        match answered(asked.receive().await) {
            Ok(_) => self.0.check(),
            Err(message) => Err(self.0.failed(message).await),
        }
    }
}
