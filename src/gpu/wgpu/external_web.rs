//! Devices and buffers that the page opened, as JavaScript objects.

#[cfg(web_pages)]
use js_sys::Uint8Array;
use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::prelude::*;

use super::ENGINE;
use super::adapter;
use super::adapter_web;
#[cfg(web_pages)]
use super::answer::create_raw_buffer;
use super::answer::{adopt_buffer, raw, returning};
use super::device::WgpuDevice;
use super::limits;
use super::memory::WgpuBuffer;
use crate::gpu::check;
use crate::gpu::choice::DeviceRequest;
#[cfg(web_pages)]
use crate::js_bytes::JsBytes;
use crate::{Error, Result};

const BUFFER: &str = "give a GPUBuffer with usage STORAGE, made by the same device";

impl WgpuDevice {
    /// Wraps the page's `GPUDevice`, with the limits and features that it was opened with. The page still owns it: this
    /// crate never destroys it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `device` is not a `GPUDevice`; [`Error::BackendUnavailable`] if there is no
    /// WebGPU.
    pub(crate) async fn from_js(device: &JsValue, request: &DeviceRequest) -> Result<Self> {
        let get = |name: &str| Reflect::get(device, &JsValue::from_str(name)).unwrap_or_default();
        let [queue, limits, features] = ["queue", "limits", "features"].map(get);
        if !(queue.is_object() && limits.is_object() && features.is_object()) {
            return Err(check::invalid(
                "device",
                "a value that is no GPUDevice".into(),
                "give a GPUDevice that is open",
            ));
        }
        // The properties of an adapter that wgpu reads.
        let answer = Object::new();
        let request_device = returning(&Promise::resolve(device));
        let fields = [
            ("info", get("adapterInfo")),
            ("features", features),
            ("limits", limits),
            ("requestDevice", request_device.into()),
        ];
        for (name, value) in fields {
            Reflect::set(&answer, &JsValue::from_str(name), &value).map_err(|_| unavailable())?;
        }
        let adapter = adapter_web::answered(&answer)
            .await
            .ok_or_else(unavailable)?;
        let opened = adapter.request_device(&wgpu::DeviceDescriptor::default());
        let (limits, features) = (adapter.limits(), adapter.features());
        let opened = opened.await.map_err(|_| unavailable())?;
        let info = adapter::describe(&adapter.get_info());
        let is_external = true;
        Ok(Self::of(
            opened,
            info,
            &limits,
            limits::capabilities(&limits, features, request),
            request,
            is_external,
        ))
    }

    /// Returns the browser's `GPUDevice`.
    pub(crate) fn raw_web(&self) -> JsValue {
        raw(&self.0.device).cloned().unwrap_or_default()
    }

    /// Returns the number of bytes of buffers in use, and of those in the pool.
    #[cfg(web_pages)]
    pub(crate) fn memory_bytes(&self) -> (u64, u64) {
        let pooled = self.0.pool.held_bytes();
        (self.0.budget.held().saturating_sub(pooled), pooled)
    }

    /// Wraps the page's `GPUBuffer`, which must have the usage `STORAGE`. Nothing is copied, and the page still owns
    /// it. A buffer of another device cannot be detected here: work on it fails when it is waited for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if it is not such a buffer.
    pub(crate) fn buffer_from_js(&self, buffer: &JsValue) -> Result<WgpuBuffer> {
        let number = |name: &str| {
            let value = Reflect::get(buffer, &JsValue::from_str(name));
            value.ok().and_then(|value| value.as_f64())
        };
        let (Some(size), Some(usage)) = (number("size"), number("usage")) else {
            return Err(check::invalid(
                "buffer",
                "a value that is no GPUBuffer".into(),
                BUFFER,
            ));
        };
        let usage = wgpu::BufferUsages::from_bits_truncate(usage as u32);
        if !usage.contains(wgpu::BufferUsages::STORAGE) || size < 4.0 {
            let value = format!("one of {} bytes with usage {}", size as u64, usage.bits());
            return Err(check::invalid("buffer", value, BUFFER));
        }
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size: size as u64,
            usage,
            mapped_at_creation: false,
        };
        let made = adopt_buffer(self.raw_device(), buffer, &descriptor);
        let made = made.ok_or_else(unavailable)?;
        let n_bytes = made.size() / 4 * 4;
        Ok(WgpuBuffer::external(&self.0, made, n_bytes))
    }
}

/// Buffers that are created for the page.
#[cfg(web_pages)]
impl WgpuDevice {
    /// Creates a `GPUBuffer` of `n_bytes`, rounded up to 4, for kernels and copies, with additional usages `usage`. The
    /// page owns and destroys it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]. Where a browser reports that later, the next call that waits returns it.
    pub(crate) fn create_page_buffer(
        &self,
        n_bytes: u64,
        usage: u32,
    ) -> Result<(JsValue, WgpuBuffer)> {
        let kernels = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let size = n_bytes.next_multiple_of(4).max(4);
        let created = create_raw_buffer(self.raw_device(), size, kernels.bits() | usage, false);
        let buffer = created.ok_or(Error::OutOfMemory { requested: size })?;
        let handle = self.buffer_from_js(&buffer)?;
        Ok((buffer, handle))
    }

    /// Writes an array to the start of a buffer of the same length, rounded up to 4 bytes; the last word is
    /// zero-padded.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the array shrank.
    pub(crate) fn write_page_buffer(&self, buffer: &WgpuBuffer, bytes: &JsBytes) -> Result<()> {
        let (queue, Some(buffer)) = (self.raw_queue(), buffer.raw()) else {
            return Err(unavailable());
        };
        let whole = bytes.len() / 4 * 4;
        let raw_queue: Option<&JsValue> = queue.as_webgpu().map(AsRef::as_ref);
        let raw_buffer: Option<&JsValue> = buffer.as_webgpu().map(AsRef::as_ref);
        let (Some(raw_queue), Some(raw_buffer)) = (raw_queue, raw_buffer) else {
            return Err(unavailable());
        };
        if whole > 0 {
            let queue = raw_queue.unchecked_ref::<RawQueue>();
            queue.write_buffer(raw_buffer, 0.0, &bytes.part(0..whole)?);
        }
        let mut last = [0; 4];
        bytes.read_into(whole, &mut last[..bytes.len() - whole])?;
        if bytes.len() > whole {
            queue.write_buffer(buffer, whole as u64, &last);
        }
        Ok(())
    }
}

#[cfg(web_pages)]
#[wasm_bindgen]
extern "C" {
    type RawQueue;
    #[wasm_bindgen(method, js_name = writeBuffer)]
    fn write_buffer(this: &RawQueue, buffer: &JsValue, at: f64, bytes: &Uint8Array);
}

fn unavailable() -> Error {
    Error::BackendUnavailable {
        backend: ENGINE,
        reason: "this browser does not let its WebGPU be used with a device that is open".into(),
    }
}
