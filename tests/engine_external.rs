//! Devices and buffers that the caller created with wgpu, on any adapter of the machine.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, Buffer, DeviceRequest, GpuDevice, GpuTensor, RuntimeChecks};
use pagepress::tensor::{Shape, Step, TensorView};
use pagepress::{Error, wgpu};
use wgpu::BufferUsages;

const USAGE: BufferUsages = BufferUsages::STORAGE
    .union(BufferUsages::COPY_SRC)
    .union(BufferUsages::COPY_DST);

fn open_with(limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapters = block_on(instance.enumerate_adapters(backends));
    let adapter = adapters.first().expect("this machine needs a GPU");
    let descriptor = wgpu::DeviceDescriptor {
        required_limits: limits,
        ..wgpu::DeviceDescriptor::default()
    };
    block_on(adapter.request_device(&descriptor)).unwrap()
}

fn open() -> (wgpu::Device, wgpu::Queue) {
    open_with(wgpu::Limits::default())
}

fn buffer(device: &wgpu::Device, size: u64, usage: BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn kernels_work_on_memory_of_the_caller() {
    let (device, queue) = open();
    let gpu = GpuDevice::from_wgpu(device.clone(), queue.clone(), &DeviceRequest::default());
    let gpu = gpu.unwrap();
    assert_eq!(gpu.name(), "wgpu");
    let raw = buffer(&device, 4 * 4 + 64, USAGE);
    queue.write_buffer(&raw, 0, &bytes_of(&[-1.0, 2.0, -3.0, 4.0]));
    let shared = Buffer::from_wgpu(&gpu, raw.clone(), 16).unwrap();
    assert_eq!(shared.device_id(), gpu.id());
    let view = TensorView::new(Shape::vector(4));
    let tensor = GpuTensor::from_buffer(&gpu, shared, view).unwrap();
    let relu = block_on(tensor.apply_async(&[Step::Relu])).unwrap();
    let found = block_on(relu.to_vec_async()).unwrap();
    assert_eq!(found, [0.0, 2.0, 0.0, 4.0]);
    // The tensor sees the caller's next write: both share the memory.
    queue.write_buffer(&raw, 0, &bytes_of(&[5.0; 4]));
    assert_eq!(block_on(tensor.to_vec_async()).unwrap(), [5.0; 4]);
}

#[test]
fn the_caller_keeps_device_and_buffer() {
    let (device, queue) = open();
    let request = DeviceRequest::default();
    let gpu = GpuDevice::from_wgpu(device.clone(), queue.clone(), &request).unwrap();
    let raw = buffer(&device, 128, USAGE);
    drop(Buffer::from_wgpu(&gpu, raw.clone(), 64).unwrap());
    gpu.destroy();
    assert!(matches!(gpu.check(), Err(Error::DeviceLost { .. })));
    assert!(block_on(gpu.reopen_async()).is_err());
    // A second handle for the same buffer works.
    let gpu = GpuDevice::from_wgpu(device, queue, &request).unwrap();
    let shared = Buffer::from_wgpu(&gpu, raw, 64).unwrap();
    block_on(gpu.upload_async(&shared, 0, &[7; 64])).unwrap();
    let found = block_on(gpu.download_async(&shared, 0..64)).unwrap();
    assert_eq!(found, [7; 64]);
}

#[test]
fn unsuitable_buffers_are_refused() {
    let (device, queue) = open();
    let request = DeviceRequest::default();
    let gpu = GpuDevice::from_wgpu(device.clone(), queue.clone(), &request).unwrap();
    let refused = |size, usage, n_bytes| {
        let made = buffer(&device, size, usage);
        let error = Buffer::from_wgpu(&gpu, made, n_bytes).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT", "{error}");
    };
    refused(64, USAGE, 64);
    refused(256, USAGE, 0);
    refused(256, USAGE, 6);
    refused(256, BufferUsages::STORAGE, 64);
    refused(256, USAGE - BufferUsages::STORAGE, 64);
    let checked = DeviceRequest {
        runtime_checks: RuntimeChecks::Always,
        ..DeviceRequest::default()
    };
    let checked = GpuDevice::from_wgpu(device.clone(), queue, &checked).unwrap();
    Buffer::from_wgpu(&checked, buffer(&device, 64, USAGE), 64).unwrap();
}

#[test]
fn buffers_of_another_device_fail_with_an_error() {
    let ((device, queue), (other, _)) = (open(), open());
    let gpu = GpuDevice::from_wgpu(device, queue, &DeviceRequest::default()).unwrap();
    let foreign = Buffer::from_wgpu(&gpu, buffer(&other, 128, USAGE), 64).unwrap();
    let view = TensorView::new(Shape::vector(16));
    let tensor = GpuTensor::from_buffer(&gpu, foreign, view).unwrap();
    let error = block_on(tensor.to_vec_async()).unwrap_err();
    assert_eq!(error.code(), "ENGINE", "{error}");
    // Handles store the id of their device.
    let (third, queue) = open();
    let third = GpuDevice::from_wgpu(third, queue, &DeviceRequest::default()).unwrap();
    let own = gpu.allocate_memory(64).unwrap();
    let error = GpuTensor::from_buffer(&third, own, TensorView::new(Shape::vector(16)));
    assert_eq!(error.unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn devices_of_low_limits_are_refused() {
    let (device, queue) = open_with(wgpu::Limits::downlevel_defaults());
    let error = GpuDevice::from_wgpu(device, queue, &DeviceRequest::default()).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    assert!(error.to_string().contains("max_storage_buffers"), "{error}");
}
