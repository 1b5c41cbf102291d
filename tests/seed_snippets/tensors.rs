//! Documents about tensors.

use crate::*;

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

/// The document shows the bodies of its functions; the functions of the crate can replace them.
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

/// The document shows the bodies of its functions, and converts errors to strings.
#[test]
fn conditional_compilation() {
    use pagepress::gpu::runtime;
    struct Device(GpuDevice);
    impl Device {
        pub fn relu(&self, input: &[f32], result: &mut [f32]) -> Result<(), String> {
            runtime::block_on(self.relu_async(input, result))
        }

        // Async always available
        pub async fn relu_async(&self, input: &[f32], result: &mut [f32]) -> Result<(), String> {
            Ok(self.0.relu_async(input, result).await?)
        }
    }
    let device = Device(any_device());
    let mut result = NOTHING;
    device.relu(&INPUT, &mut result).unwrap();
    assert_eq!(result, [0.0, 0.0, 2.0, 0.0]);
    let error = device.relu(&INPUT, &mut result[..1]).unwrap_err();
    assert!(
        error.contains("result has 1 elements, expected 4"),
        "{error}"
    );
}

/// Runs the example of the page without JavaScript; `tests/web.rs` runs it verbatim.
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

/// Uses every name on the page of the module.
#[test]
fn names_of_the_gpu_module() {
    use pagepress::gpu::{
        BufferId, GpuBackend, GpuCommandBatch, GpuDevice, GpuDevicePool, GpuMatmulCache, MaxOp,
        MemoryLayout, MinOp, PartitionView, PipelineCache, QkvLoRA, ReduceOp, SumOp, TILE_SIZE,
        TensorView, TileInfo, WgslForwardPass, runtime, shaders, tiled_max_2d, tiled_min_2d,
        tiled_reduce_2d, tiled_reduce_partial, tiled_sum_2d,
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
    assert!(shaders::all().any(|shader| shader.wgsl.contains("fn tensor_matmul(")));
    use pagepress::tensor::layer::{LayerConfig, LayerWeights, LowRank, LowRankQkv, Mlp};
    let config = LayerConfig {
        mlp: Mlp::Gelu,
        ..LayerConfig::decoder(2, 1, 2)
    };
    let [one, none] = [[1.0, 0.0, 0.0, 1.0], [0.0; 4]];
    let layer = LayerWeights {
        attention_norm: (&one[..2]).into(),
        q: (&one[..]).into(),
        k: (&one[..]).into(),
        v: (&none[..]).into(),
        o: (&one[..]).into(),
        mlp_norm: (&one[..2]).into(),
        gate: None,
        up: (&one[..]).into(),
        down: (&none[..]).into(),
    };
    let mut layer = WgslForwardPass::new(device.clone(), config.clone(), &layer).unwrap();
    let low_rank = LowRankQkv {
        rank: 1,
        scale: 1.0,
        q: None,
        k: None,
        v: Some(LowRank {
            a: &one[..2],
            b: &one[..2],
        }),
    };
    let row = [3.0, -4.0];
    let mut output = row;
    // With values of 0, a row is unchanged.
    layer.forward(&row, &mut output).unwrap();
    assert_eq!(output, row);
    layer.set_lora(Some(QkvLoRA::upload(&device, &config, &low_rank).unwrap()));
    layer.reset();
    layer.forward(&row, &mut output).unwrap();
    let root = 12.5f32.sqrt();
    assert!((output[0] - 3.0 - 3.0 / root).abs() < 1e-5 && output[1] == -4.0);
    let mut weights = GpuMatmulCache::new(device);
    let mut product = NOTHING;
    weights
        .upload_weight("b", &B, 2, 2, pagepress::gpu::WeightLayout::InputRows)
        .unwrap();
    weights.matmul("b", &A, &mut product, 2).unwrap();
    assert_eq!(product, [19.0, 22.0, 43.0, 50.0]);
}
