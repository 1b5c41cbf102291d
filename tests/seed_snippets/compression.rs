//! Documents about a compressor of pages.

use crate::*;

#[cfg(cuda_engine)]
#[test]
fn backend_selection() {
    use pagepress::gpu::{CudaContext, WgpuContext};
    pub enum GpuBackend {
        Cuda(CudaContext),
        Wgpu(WgpuContext),
    }

    impl GpuBackend {
        #[allow(clippy::match_result_ok, reason = "as it stands there")]
        pub fn auto_detect() -> Option<Self> {
            // 1. Try CUDA first (fastest on NVIDIA)
            if let Some(cuda) = CudaContext::new().ok() {
                return Some(GpuBackend::Cuda(cuda));
            }
            // 2. Fall back to WGPU (Metal, Vulkan, DX12)
            if let Some(wgpu) = WgpuContext::new().ok() {
                return Some(GpuBackend::Wgpu(wgpu));
            }
            None
        }
    }
    let ours = pagepress::GpuBackend::auto_detect();
    match GpuBackend::auto_detect() {
        None => assert!(ours.is_none() && !GpuDevice::is_available()),
        Some(GpuBackend::Cuda(device)) => {
            assert!(matches!(ours, Some(pagepress::GpuBackend::Cuda(_))));
            assert!(device.as_device_works());
        }
        Some(GpuBackend::Wgpu(device)) => {
            assert!(matches!(ours, Some(pagepress::GpuBackend::Wgpu(_))));
            assert!(device.as_device_works());
        }
    }
}

/// A check that a device works.
#[cfg(cuda_engine)]
trait Works: Sized + pagepress::gpu::Backend {
    fn as_device_works(&self) -> bool {
        block_on(async {
            let buffer = self.allocate_memory(4)?;
            self.upload_async(&buffer, 0, &[1, 2, 3, 4]).await?;
            self.download_async(&buffer, 0..4).await
        }) == Ok(vec![1, 2, 3, 4])
    }
}

#[cfg(cuda_engine)]
impl<B: pagepress::gpu::Backend> Works for B {}

/// Compiles the document's kernel, of which it has only the head; the kernel of the crate has more bindings.
#[test]
fn compute_shader() {
    use pagepress::gpu::{Backend, KernelSource};
    use pagepress::kernels::Access;
    let wgsl = "
        @group(0) @binding(0) var<storage, read> input_pages: array<u32>;
        @group(0) @binding(1) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(256)
        fn lz4_compress(@builtin(global_invocation_id) id: vec3<u32>) {
        let page_idx = id.x;
        // LZ4 compression kernel
        }";
    let bindings = [Access::Read, Access::ReadWrite];
    let source = KernelSource::new(wgsl, "lz4_compress", &bindings);
    block_on(any_device().compile_kernel(&source)).unwrap();
}

#[test]
fn basic_usage() {
    fn main() -> Result<(), Box<dyn StdError>> {
        use pagepress::gpu::{GpuBatchCompressor, GpuBatchConfig, gpu_available};
        use pagepress::{Algorithm, PAGE_SIZE};

        if gpu_available() {
            let config = GpuBatchConfig {
                device_index: 0,
                algorithm: Algorithm::Lz4,
                batch_size: 1000,
                async_dma: true,
                ring_buffer_slots: 4,
            };
            let mut compressor = GpuBatchCompressor::new(config)?;
            let pages: Vec<[u8; PAGE_SIZE]> = vec![[0u8; PAGE_SIZE]; 1000];
            let result = compressor.compress_batch(&pages)?;
            println!("Compression ratio: {:.2}x", result.compression_ratio());
        }
        Ok(())
    }
    main().unwrap();
}

/// The document's struct has the fields of the crate's struct.
#[test]
fn configuration_options() {
    use pagepress::Algorithm;
    pub struct GpuBatchConfig {
        /// CUDA device index (0 = first GPU)
        pub device_index: u32,
        /// Compression algorithm
        pub algorithm: Algorithm,
        /// Number of pages per batch
        pub batch_size: usize,
        /// Enable async DMA transfers
        pub async_dma: bool,
        /// Ring buffer slots for pipelining
        pub ring_buffer_slots: usize,
    }
    let pagepress::gpu::GpuBatchConfig {
        device_index,
        algorithm,
        batch_size,
        async_dma,
        ring_buffer_slots,
    } = pagepress::gpu::GpuBatchConfig::default();
    let config = GpuBatchConfig {
        device_index,
        algorithm,
        batch_size,
        async_dma,
        ring_buffer_slots,
    };
    assert_eq!((config.device_index, config.algorithm), (0, Algorithm::Lz4));
    assert_eq!((config.batch_size, config.ring_buffer_slots), (1000, 4));
    assert!(config.async_dma);
}

#[test]
fn batch_results() {
    use pagepress::PAGE_SIZE;
    use pagepress::gpu::{GpuBatchCompressor, GpuBatchConfig};
    fn main(
        mut compressor: GpuBatchCompressor,
        pages: Vec<[u8; PAGE_SIZE]>,
    ) -> Result<f64, Box<dyn StdError>> {
        let result = compressor.compress_batch(&pages)?;

        // Timing components
        println!("H2D transfer: {} ns", result.h2d_time_ns);
        println!("Kernel execution: {} ns", result.kernel_time_ns);
        println!("D2H transfer: {} ns", result.d2h_time_ns);
        println!("Total time: {} ns", result.total_time_ns);

        // Metrics
        let throughput = result.throughput_bytes_per_sec(pages.len() * PAGE_SIZE);
        println!("Throughput: {:.2} GB/s", throughput / 1e9);
        println!("Compression ratio: {:.2}x", result.compression_ratio());
        println!("PCIe 5x rule satisfied: {}", result.pcie_rule_satisfied());
        assert!(throughput > 0.0);
        Ok(result.compression_ratio())
    }
    let compressor =
        GpuBatchCompressor::with_device(any_device(), GpuBatchConfig::default()).unwrap();
    let ratio = main(compressor, vec![[0; PAGE_SIZE]; 1000]).unwrap();
    assert!(ratio > 200.0, "{ratio}");
}

#[test]
fn select_a_backend() {
    use pagepress::gpu::{gpu_available, select_backend};

    let batch_size = 5000;
    let has_gpu = gpu_available();

    let backend = select_backend(batch_size, has_gpu);
    println!("Selected backend: {:?}", backend);
    // Output: Gpu (for large batches with GPU available)
    assert_eq!(format!("{backend:?}") == "Gpu", has_gpu);
    assert_eq!(format!("{:?}", select_backend(batch_size, true)), "Gpu");
}
