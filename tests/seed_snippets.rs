//! The code of the documents that the public names come from, as it stands there: only the path of the crate is changed, and
//! variables that a piece of code does not make are given to it.
//!
//! The code opens the best hardware GPU. Where there is none it must say so; what it computes is then computed on a software
//! GPU.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::error::Error as StdError;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{DeviceRequest, GpuDevice};

fn software() -> DeviceRequest {
    DeviceRequest {
        allow_software: true,
        ..DeviceRequest::default()
    }
}

fn any_device() -> GpuDevice {
    GpuDevice::open(&software()).expect(
        "these tests need a GPU, a software one will do: apt-get install mesa-vulkan-drivers, or set VK_ICD_FILENAMES",
    )
}

/// Where there is a GPU, the code ran; where there is none, it says so.
fn ran<T>(result: Result<T, Box<dyn StdError>>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(!GpuDevice::is_available(), "{error}");
            let error = error.downcast::<pagepress::Error>().unwrap();
            assert_eq!(error.code(), "BACKEND_UNAVAILABLE");
            None
        }
    }
}

/// What stands in for `GpuDevice` where there is no hardware: the same calls open a software GPU.
struct Software;

#[expect(clippy::new_ret_no_self, reason = "it takes the place of another type")]
impl Software {
    fn new() -> pagepress::Result<GpuDevice> {
        GpuDevice::open(&software())
    }

    async fn new_async() -> pagepress::Result<GpuDevice> {
        GpuDevice::open_async(&software()).await
    }

    fn is_available() -> bool {
        true
    }

    async fn is_available_async() -> bool {
        true
    }
}

/// A product, what is left of an input, and a sum of products.
type Found = ([f32; 4], [f32; 4], f32);

fn assert_right((result, output, dot): Found) {
    assert_eq!(result, [19.0, 22.0, 43.0, 50.0]);
    assert_eq!(output, [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(dot, 70.0);
}

/// Documents about a compressor of pages.
mod compression {
    use super::*;

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

    /// Whether a device does something.
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

    /// The head of the kernel in the document; ours takes more bindings.
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

    /// The document's own struct takes what ours has, field by field.
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
}

/// Documents about tensors.
mod tensors {
    use super::*;

    const A: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
    const B: [f32; 4] = [5.0, 6.0, 7.0, 8.0];
    const INPUT: [f32; 4] = [-1.0, 0.0, 2.0, -0.5];
    const NOTHING: [f32; 4] = [f32::NAN; 4];

    macro_rules! sync_api {
        ($GpuDevice:ident) => {{
            fn main() -> Result<Option<Found>, Box<dyn StdError>> {
                let (a, b, input, mut result, mut output) = (A, B, INPUT, NOTHING, NOTHING);
                let (m, k, n) = (2, 2, 2);
                // Initialize device
                let device = $GpuDevice::new()?;

                // Check availability
                if $GpuDevice::is_available() {
                    // Execute operations
                    device.matmul(&a, &b, &mut result, m, k, n)?;
                    device.relu(&input, &mut output)?;
                    let dot = device.dot(&a, &b)?;
                    return Ok(Some((result, output, dot)));
                }
                Ok(None)
            }
            main()
        }};
    }

    #[test]
    fn sync_api() {
        use pagepress::gpu::GpuDevice;
        assert_right(sync_api!(Software).unwrap().unwrap());
        if let Some(found) = ran(sync_api!(GpuDevice)) {
            assert_right(found.unwrap());
        }
    }

    macro_rules! async_api {
        ($GpuDevice:ident) => {{
            async fn main() -> Result<Option<Found>, Box<dyn StdError>> {
                let (a, b, input, mut result, mut output) = (A, B, INPUT, NOTHING, NOTHING);
                let (m, k, n) = (2, 2, 2);
                // Initialize device
                let device = $GpuDevice::new_async().await?;

                // Check availability
                if $GpuDevice::is_available_async().await {
                    // Execute operations
                    device.matmul_async(&a, &b, &mut result, m, k, n).await?;
                    device.relu_async(&input, &mut output).await?;
                    let dot = device.dot_async(&a, &b).await?;
                    return Ok(Some((result, output, dot)));
                }
                Ok(None)
            }
            block_on(main())
        }};
    }

    #[test]
    fn async_api() {
        use pagepress::gpu::GpuDevice;
        assert_right(async_api!(Software).unwrap().unwrap());
        if let Some(found) = ran(async_api!(GpuDevice)) {
            assert_right(found.unwrap());
        }
    }

    macro_rules! runtime_detection {
        ($GpuDevice:ident) => {{
            async fn main() -> Result<GpuDevice, Box<dyn StdError>> {
                use pagepress::gpu::runtime;
                if runtime::sync_available() {
                    // Can use sync APIs (native only)
                    let device = $GpuDevice::new()?;
                    Ok(device)
                } else {
                    // Must use async APIs (WASM)
                    let device = $GpuDevice::new_async().await?;
                    Ok(device)
                }
            }
            block_on(main())
        }};
    }

    #[test]
    fn runtime_detection() {
        runtime_detection!(Software).unwrap().check().unwrap();
        if let Some(device) = ran(runtime_detection!(GpuDevice)) {
            device.check().unwrap();
        }
    }

    macro_rules! batch_api {
        ($GpuDevice:ident) => {{
            async fn main() -> Result<Vec<f32>, Box<dyn StdError>> {
                use pagepress::gpu::GpuCommandBatch;
                let device = $GpuDevice::new()?;
                let mut batch = GpuCommandBatch::new(device);

                // Queue operations (no GPU execution yet)
                let input = batch.upload(&[1.0, 2.0, -3.0, 4.0]);
                let a = batch.relu(input);
                let b = batch.scale(a, 2.0);

                // Execute batch in single GPU round-trip
                batch.execute().await?;

                // Read result
                let result = batch.read(b).await?;
                Ok(result)
            }
            block_on(main())
        }};
    }

    #[test]
    fn batch_api() {
        use pagepress::gpu::GpuDevice;
        assert_eq!(batch_api!(Software).unwrap(), [2.0, 4.0, 0.0, 8.0]);
        if let Some(result) = ran(batch_api!(GpuDevice)) {
            assert_eq!(result, [2.0, 4.0, 0.0, 8.0]);
        }
    }

    /// The document shows how its functions are written: ours can take their place.
    #[test]
    fn runtime_module() {
        use pagepress::gpu::runtime;
        pub fn block_on<F: Future>(f: F) -> F::Output {
            runtime::block_on(f)
        }
        pub const fn sync_available() -> bool {
            runtime::sync_available()
        }
        const IS_THERE: bool = sync_available();
        assert!(IS_THERE && block_on(async { true }));
    }

    /// The same: errors turn into strings.
    #[test]
    fn conditional_compilation() {
        use pagepress::gpu::runtime;
        struct Device(GpuDevice);
        impl Device {
            pub fn relu(&self, input: &[f32], result: &mut [f32]) -> Result<(), String> {
                runtime::block_on(self.relu_async(input, result))
            }

            // Async always available
            pub async fn relu_async(
                &self,
                input: &[f32],
                result: &mut [f32],
            ) -> Result<(), String> {
                Ok(self.0.relu_async(input, result).await?)
            }
        }
        let device = Device(any_device());
        let mut result = NOTHING;
        device.relu(&INPUT, &mut result).unwrap();
        assert_eq!(result, [0.0, 0.0, 2.0, 0.0]);
        let error = device.relu(&INPUT, &mut result[..1]).unwrap_err();
        assert!(error.contains("result has 1 elements, 4"), "{error}");
    }

    /// The page's example, without JavaScript: `tests/web.rs` has it as it is.
    #[test]
    fn process_data() {
        macro_rules! process_data {
            ($GpuDevice:ident) => {{
                pub async fn process_data(input: &[f32]) -> Result<Vec<f32>, String> {
                    let device = $GpuDevice::new_async().await?;

                    let mut output = vec![0.0; input.len()];
                    device.relu_async(input, &mut output).await?;

                    Ok(output)
                }
                block_on(process_data(&INPUT))
            }};
        }
        assert_eq!(process_data!(Software).unwrap(), [0.0, 0.0, 2.0, 0.0]);
        assert_eq!(process_data!(GpuDevice).is_ok(), GpuDevice::is_available());
    }

    /// The names of the module's page, but for those of a transformer's layer.
    #[test]
    fn names_of_the_gpu_module() {
        use pagepress::gpu::{
            BufferId, GpuBackend, GpuCommandBatch, GpuDevice, GpuDevicePool, GpuMatmulCache, MaxOp,
            MemoryLayout, MinOp, PartitionView, PipelineCache, ReduceOp, SumOp, TILE_SIZE,
            TensorView, TileInfo, runtime, tiled_max_2d, tiled_min_2d, tiled_reduce_2d,
            tiled_reduce_partial, tiled_sum_2d,
        };
        use pagepress::tensor::Shape;
        fn tiles_of(view: &PartitionView) -> Vec<TileInfo> {
            view.tiles().collect()
        }
        fn all<Op: ReduceOp>(data: &[f32], [width, height]: [usize; 2]) -> f32 {
            let partial = tiled_reduce_partial::<Op>(data, width, height).unwrap();
            assert_eq!(
                partial.len(),
                width.div_ceil(TILE_SIZE) * height.div_ceil(TILE_SIZE)
            );
            tiled_reduce_2d::<Op>(data, width, height).unwrap()
        }
        let size = [20, 18];
        let data: Vec<f32> = (0..360u16).map(f32::from).collect();
        let sum = all::<SumOp>(&data, size);
        assert_eq!(sum, 64_620.0);
        assert_eq!(tiled_sum_2d(&data, 20, 18).unwrap(), sum);
        assert_eq!(
            tiled_max_2d(&data, 20, 18).unwrap(),
            all::<MaxOp>(&data, size)
        );
        assert_eq!(
            tiled_min_2d(&data, 20, 18).unwrap(),
            all::<MinOp>(&data, size)
        );

        let view = TensorView::new(Shape::new(&[18, 20]).unwrap());
        assert_eq!(view.layout(), MemoryLayout::RowMajor);
        let tiles = view.partition(Shape::new(&[16, 16]).unwrap()).unwrap();
        assert_eq!(tiles_of(&tiles).len(), 4);

        let device: GpuDevice = any_device();
        let mut batch = GpuCommandBatch::new(device.clone());
        let id: BufferId = batch.upload(&data);
        let read = runtime::block_on(batch.read(id)).unwrap();
        assert_eq!(read, data);
        let mut backend = GpuBackend::with_device(device.clone());
        assert_eq!(backend.relu(&INPUT).unwrap(), [0.0, 0.0, 2.0, 0.0]);
        assert_eq!(device.tiled_sum_2d(&data, 20, 18).unwrap(), sum);
        let pool = GpuDevicePool::with_devices(vec![device.clone()]).unwrap();
        assert_eq!(pool.dot(&INPUT, &INPUT).unwrap(), 5.25);
        let kernels: PipelineCache<pagepress::gpu::Kernel> = PipelineCache::default();
        assert_eq!(kernels.n_kernels(), 0);
        let mut weights = GpuMatmulCache::new(device);
        let mut product = NOTHING;
        weights
            .upload_weight("b", &B, 2, 2, pagepress::gpu::WeightLayout::InputRows)
            .unwrap();
        weights.matmul("b", &A, &mut product, 2).unwrap();
        assert_eq!(product, [19.0, 22.0, 43.0, 50.0]);
    }
}

/// The document about a native backend for kernels.
mod backend {
    use super::*;
    use pagepress::gpu::{Backend, KernelArg, KernelSource, PowerPreference, Waitable};
    use pagepress::kernels::Access;

    /// Every method of its trait, with typed handles; memory is freed by dropping it.
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
            let launched =
                backend.launch_kernel(&kernel, [1, 1, 1], &[KernelArg::Buffer(&data)])?;
            launched.wait_async().await?;
            backend.synchronize_async().await?;
            backend.download_async(&data, 0..16).await
        }
        let found = block_on(calls(&any_device())).unwrap();
        let words: Vec<u8> = (0..4u32).flat_map(|i| (2 * i).to_le_bytes()).collect();
        assert_eq!(found, words);
    }

    /// CUDA, then wgpu, then the CPU.
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
}
