//! The document about a native backend for kernels.

use crate::*;
use pagepress::gpu::{Backend, KernelArg, KernelSource, PowerPreference, Waitable};
use pagepress::kernels::Access;

/// Calls every method of the document's trait, with typed handles; memory is freed by dropping it.
#[test]
fn backend_trait() {
    async fn calls<B: Backend>(backend: &B) -> pagepress::Result<Vec<u8>> {
        assert!(["wgpu", "cuda"].contains(&backend.name()));
        assert!(backend.capabilities().max_workgroup_invocations >= 64);
        let wgsl_source = "
            @group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(4)
            fn twice(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] *= 2u; }";
        let source = KernelSource::new(wgsl_source, "twice", &[Access::ReadWrite]);
        let kernel = backend.compile_kernel(&source).await?;
        let data = backend.allocate_memory(16)?;
        let words: Vec<u8> = (0..4u32).flat_map(u32::to_le_bytes).collect();
        backend.upload_async(&data, 0, &words).await?;
        let launched = backend.launch_kernel(&kernel, [1, 1, 1], &[KernelArg::Buffer(&data)])?;
        launched.wait_async().await?;
        backend.synchronize_async().await?;
        backend.download_async(&data, 0..16).await
    }
    let found = block_on(calls(&any_device())).unwrap();
    let words: Vec<u8> = (0..4u32).flat_map(|i| (2 * i).to_le_bytes()).collect();
    assert_eq!(found, words);
}

/// The order is CUDA, wgpu, the CPU.
#[test]
fn get_backend() {
    use pagepress::batch::{Codec, CodecOptions};
    let codec = Codec::new(CodecOptions::default()).unwrap();
    match pagepress::GpuBackend::auto_detect() {
        Some(backend) => {
            let device = GpuDevice::from(backend);
            assert!(!device.info().is_software());
            device.check().unwrap();
        }
        None => assert_eq!(codec.choice().engine, "cpu"),
    }
}

#[test]
fn adapter_selection() {
    async fn select_adapter() -> Option<GpuDevice> {
        // Try high-performance first
        let request = DeviceRequest {
            power_preference: PowerPreference::HighPerformance,
            ..DeviceRequest::default()
        };
        if let Ok(adapter) = GpuDevice::open_async(&request).await {
            return Some(adapter);
        }

        // Fall back to low-power
        let request = DeviceRequest {
            power_preference: PowerPreference::LowPower,
            ..DeviceRequest::default()
        };
        GpuDevice::open_async(&request).await.ok()
    }
    let found = block_on(select_adapter());
    assert_eq!(found.is_some(), GpuDevice::is_available());
}
