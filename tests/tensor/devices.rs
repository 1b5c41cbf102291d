//! Several devices at once, and data that is kept on a device.

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, DeviceRequest, GpuBatchConfig, GpuDevice, GpuDevicePool, KernelSource, PipelineCache,
};
use pagepress::lz4::{self, Level};
use pagepress::tensor::layer::rotary_turns;
use pagepress::tensor::{GpuMatmulCache, GpuTensor, Reduction, Shape, Step, WeightLayout, cpu};
use pagepress::{Error, PAGE_SIZE};

use crate::common::pages;
use crate::naive::numbers;
use crate::subject::Subject;

/// Returns the device of a subject, and a second device on the same adapter.
fn two(subject: &Subject) -> Option<[GpuDevice; 2]> {
    match subject {
        Subject::Cpu => None,
        Subject::Gpu(device) => {
            let again = block_on(device.reopen_async()).unwrap();
            Some([device.clone(), again])
        }
    }
}

fn assert_same(what: &str, found: &[f32], exact: &[f32]) {
    assert_eq!(found.len(), exact.len(), "{what}");
    for (i, (found, exact)) in found.iter().zip(exact).enumerate() {
        let off = (found - exact).abs();
        assert!(
            off <= 2e-5 * exact.abs().max(1.0),
            "{what}: element {i}: {found}, {exact}"
        );
    }
}

/// Calls `found` and `exact` with slices for `n` results and compares the results.
fn compare(
    what: &str,
    n: usize,
    found: impl FnOnce(&mut [f32]) -> pagepress::Result<()>,
    exact: impl FnOnce(&mut [f32]) -> pagepress::Result<()>,
) {
    let (mut left, mut right) = (vec![f32::NAN; n], vec![f32::NAN; n]);
    found(&mut left).unwrap();
    exact(&mut right).unwrap();
    assert_same(what, &left, &right);
}

fn operations_agree(pool: &GpuDevicePool) {
    for n in [0, 1, 2, 1001] {
        let (a, b) = (numbers(n, 50, 3.0), numbers(n, 51, 3.0));
        let steps = [Step::Mul, Step::Relu];
        compare(
            "steps",
            n,
            |out| pool.elementwise(&steps, &a, Some(&b), out),
            |out| cpu::elementwise(&steps, &a, Some(&b), out),
        );
        assert_same(
            "dot",
            &[pool.dot(&a, &b).unwrap()],
            &[cpu::dot(&a, &b).unwrap()],
        );
        for reduction in [Reduction::Sum, Reduction::Max, Reduction::SumOfSquares] {
            let found = pool.reduce(reduction, &a).unwrap();
            let exact = cpu::reduce(reduction, &a);
            assert!(found == exact || (found - exact).abs() <= 1e-4 * exact.abs().max(10.0));
        }
    }
    for [m, k, n] in [[0, 3, 2], [1, 5, 7], [7, 33, 20], [5, 0, 3]] {
        let (a, b) = (numbers(m * k, 52, 2.0), numbers(k * n, 53, 2.0));
        compare(
            "matmul",
            m * n,
            |out| pool.matmul(&a, &b, out, m, k, n),
            |out| cpu::matmul(&a, &b, out, m, k, n),
        );
    }
    let rows = numbers(5 * 77, 54, 4.0);
    compare(
        "softmax",
        385,
        |out| pool.softmax(&rows, 77, out),
        |out| cpu::softmax(&rows, 77, out),
    );
    compare(
        "log_softmax",
        385,
        |out| pool.log_softmax(&rows, 77, out),
        |out| cpu::log_softmax(&rows, 77, out),
    );
    let turns = rotary_turns(10_000.0, 22, 9).unwrap();
    let heads = numbers(5 * 66, 56, 4.0);
    compare(
        "rotary",
        330,
        |out| pool.rotary(&heads, &turns, out, [3, 22], 4),
        |out| cpu::rotary(&heads, [3, 22], &turns, 4, out),
    );
    compare(
        "rotary of nothing",
        0,
        |out| pool.rotary(&[], &turns, out, [3, 22], 4),
        |_| Ok(()),
    );
    let kernel = numbers(15, 55, 1.0);
    compare(
        "convolve2d",
        73 * 3,
        |out| pool.convolve2d(&rows, &kernel, out, [5, 77], [3, 5]),
        |out| cpu::convolve2d(&rows, &kernel, out, [5, 77], [3, 5]),
    );
}

pub fn rows_are_spread_and_gathered_in_order(subject: &Subject) {
    let Some([first, second]) = two(subject) else {
        return;
    };
    let pool = GpuDevicePool::with_devices(vec![first.clone(), second.clone()]).unwrap();
    operations_agree(&pool);
    operations_agree(&GpuDevicePool::with_devices(vec![first.clone()]).unwrap());
    let mut out = [0.0; 4];
    let errors = [
        pool.elementwise(&[Step::Relu], &[1.0], None, &mut out)
            .unwrap_err(),
        pool.matmul(&[1.0], &[1.0], &mut out, 2, 1, 2).unwrap_err(),
        pool.dot(&[1.0], &[]).unwrap_err(),
    ];
    assert!(
        errors.iter().all(|error| error.code() == "LENGTH_MISMATCH"),
        "{errors:?}"
    );
    for cols in [0, 3] {
        let error = pool.softmax(&[1.0; 4], cols, &mut out).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
    let error = GpuDevicePool::with_devices(Vec::new()).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    // The other device does the work of a lost one.
    second.destroy();
    operations_agree(&pool);
    let lost = GpuDevicePool::with_devices(vec![second]).unwrap();
    assert_eq!(lost.dot(&[1.0], &[1.0]).unwrap_err().code(), "DEVICE_LOST");
}

pub fn pages_are_spread_and_gathered_in_order(subject: &Subject) {
    let Some(devices) = two(subject) else {
        return;
    };
    let pool = GpuDevicePool::with_devices(devices.to_vec()).unwrap();
    let config = GpuBatchConfig {
        batch_size: 8,
        ..GpuBatchConfig::default()
    };
    let mut compressor = pool.compressor(config).unwrap();
    for n_pages in [0, 1, 203] {
        let bytes = pages::mixed(n_pages * PAGE_SIZE, 9);
        let (all, _) = bytes.as_chunks::<PAGE_SIZE>();
        let found = compressor.compress_batch(all).unwrap();
        let expected = lz4::compress_pages(&bytes, PAGE_SIZE as u32, Level::Fast).unwrap();
        assert!(found.pages == expected, "{n_pages} pages differ");
        let back = compressor.decompress_batch(&found.pages).unwrap();
        assert!(
            back.into_pages().unwrap() == all,
            "{n_pages} pages do not come back"
        );
    }
    let counts = compressor
        .compressors()
        .iter()
        .map(|one| one.stats().pages_compressed);
    assert_eq!(counts.sum::<u64>(), 204);
    let bytes = pages::mixed(100 * PAGE_SIZE, 10);
    let (all, _) = bytes.as_chunks::<PAGE_SIZE>();
    let mut packed = compressor.compress_batch(all).unwrap().pages;
    packed.table[77].offset = 1 << 30;
    let back = compressor.decompress_batch(&packed).unwrap();
    let wrong: Vec<usize> = (0..100)
        .filter(|&page| back.errors[page].is_some())
        .collect();
    assert_eq!(wrong, [77]);
    packed.table.pop();
    let error = compressor.decompress_batch(&packed).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}

pub fn pools_hold_software_only_if_asked_to(subject: &Subject) {
    let Subject::Gpu(_) = subject else {
        return;
    };
    match GpuDevicePool::new() {
        Ok(pool) => assert!(
            pool.devices()
                .iter()
                .all(|device| !device.info().is_software())
        ),
        Err(error) => {
            assert!(!GpuDevice::is_available());
            assert_eq!(error.code(), "BACKEND_UNAVAILABLE");
            assert!(error.to_string().contains("software"), "{error}");
        }
    }
    let all = DeviceRequest {
        allow_software: true,
        ..DeviceRequest::default()
    };
    let pool = GpuDevicePool::open(&all).unwrap();
    let n_adapters = GpuDevice::list_adapters().len();
    assert_eq!(pool.devices().len() + pool.rejected().len(), n_adapters);
}

pub fn weights_stay_on_the_device(subject: &Subject) {
    let Some([device, _]) = two(subject) else {
        return;
    };
    let mut cache = GpuMatmulCache::new(device.clone());
    let (k, n) = (70, 50);
    let weights = numbers(k * n, 60, 1.0);
    let mut by_output = vec![0.0; k * n];
    for i in 0..k * n {
        by_output[i % n * k + i / n] = weights[i];
    }
    cache
        .upload_weight("in", &weights, k, n, WeightLayout::InputRows)
        .unwrap();
    cache
        .upload_weight("out", &by_output, k, n, WeightLayout::OutputRows)
        .unwrap();
    assert_eq!(
        (cache.weight_size("in"), cache.n_parts("in")),
        (Some([k, n]), Some(1))
    );
    assert!(cache.weight_bytes() >= 2 * 4 * (k * n) as u64);
    // Inputs of growing and shrinking sizes.
    for m in [3, 0, 1, 40, 2] {
        let input = numbers(m * k, 61, 1.0);
        for name in ["in", "out"] {
            compare(
                name,
                m * n,
                |out| cache.matmul(name, &input, out, m),
                |out| cpu::matmul(&input, &weights, out, m, k, n),
            );
        }
        let resident = block_on(async {
            let shape = Shape::new(&[m, k])?;
            let input = GpuTensor::from_slice_async(&device, &input, shape).await?;
            cache.apply_async("out", &input).await?.to_vec_async().await
        });
        let mut exact = vec![0.0; m * n];
        cpu::matmul(&input, &weights, &mut exact, m, k, n).unwrap();
        assert_same("apply", &resident.unwrap(), &exact);
    }
    let mut out = [0.0; 4];
    let code = |result: pagepress::Result<()>| result.unwrap_err().code();
    assert_eq!(
        code(cache.matmul("none", &[1.0], &mut out, 1)),
        "INVALID_ARGUMENT"
    );
    assert_eq!(
        code(cache.matmul("in", &[1.0], &mut out, 1)),
        "LENGTH_MISMATCH"
    );
    let wrong = cache.upload_weight("in", &[1.0], 1, 2, WeightLayout::InputRows);
    assert_eq!(code(wrong), "LENGTH_MISMATCH");
    let wrong = block_on(async {
        let input = GpuTensor::from_slice_async(&device, &out, Shape::new(&[2, 2])?).await?;
        cache.apply_async("in", &input).await
    });
    assert!(matches!(wrong, Err(Error::ShapeMismatch { .. })));
    // No inputs.
    cache
        .upload_weight("empty", &[], 0, 4, WeightLayout::InputRows)
        .unwrap();
    out.fill(f32::NAN);
    cache.matmul("empty", &[], &mut out, 1).unwrap();
    assert_eq!(out, [0.0; 4]);
    assert!(cache.remove_weight("in") && !cache.remove_weight("in"));
}

pub fn weights_beyond_a_binding_are_kept_in_parts(subject: &Subject) {
    let Some([device, _]) = two(subject) else {
        return;
    };
    // With larger bindings, the test would need gigabytes.
    const BINDING: u64 = 128 << 20;
    if device.capabilities().max_binding_bytes > BINDING {
        return;
    }
    let (k, n) = (4500, 8192);
    assert!((4 * k * n) as u64 > BINDING);
    // Weight (i, j) is i mod 7 times j mod 3, so that the sums are known.
    let weight = |i: usize, j: usize| ((i % 7) * (j % 3)) as f32;
    let input: Vec<f32> = (0..k).map(|i| (i % 5) as f32 - 2.0).collect();
    let sum: f32 = (0..k).map(|i| input[i] * (i % 7) as f32).sum();
    let exact: Vec<f32> = (0..n).map(|j| sum * (j % 3) as f32).collect();
    let mut cache = GpuMatmulCache::new(device);
    for layout in [WeightLayout::InputRows, WeightLayout::OutputRows] {
        let values: Vec<f32> = match layout {
            WeightLayout::InputRows => (0..k * n).map(|at| weight(at / n, at % n)).collect(),
            WeightLayout::OutputRows => (0..k * n).map(|at| weight(at % k, at / k)).collect(),
        };
        cache.upload_weight("large", &values, k, n, layout).unwrap();
        assert_eq!(cache.n_parts("large"), Some(2));
        let mut out = vec![f32::NAN; n];
        cache.matmul("large", &input, &mut out, 1).unwrap();
        assert!(out == exact, "{layout:?}");
    }
}

pub fn kernels_are_kept_by_their_text(subject: &Subject) {
    let Some([device, _]) = two(subject) else {
        return;
    };
    let cache = PipelineCache::default();
    let wgsl = "@compute @workgroup_size(1) fn nothing() {}";
    block_on(async {
        for text in [wgsl.to_owned(), wgsl.to_owned()] {
            let source = KernelSource::new(&text, "nothing", &[]);
            let kernel = cache.compile_kernel(&device, &source).await.unwrap();
            device.launch_kernel(&kernel, [1, 1, 1], &[]).unwrap();
        }
        let source = KernelSource::new("fn nothing() { let x: u32 = 1.5; }", "nothing", &[]);
        let error = cache.compile_kernel(&device, &source).await.unwrap_err();
        assert_eq!(error.code(), "KERNEL_COMPILE");
    });
    assert_eq!(cache.n_kernels(), 1);
}
