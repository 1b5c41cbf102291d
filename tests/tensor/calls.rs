//! Operations on slices, and batches, on a device.

use pagepress::Error;
use pagepress::gpu::GpuDevice;
#[cfg(not(target_arch = "wasm32"))]
use pagepress::tensor::BackendUsed;
use pagepress::tensor::{GpuBackend, GpuCommandBatch, Reduction, Shape, Step, cpu};

#[cfg(not(target_arch = "wasm32"))]
use crate::naive;
use crate::naive::numbers;
use crate::subject::{Subject, Tensor};

fn assert_same(what: &str, found: &[f32], exact: &[f32]) {
    assert_eq!(found.len(), exact.len(), "{what}");
    for (i, (found, exact)) in found.iter().zip(exact).enumerate() {
        let off = (found - exact).abs();
        assert!(
            off <= 1e-5 * exact.abs().max(1e-3),
            "{what}: element {i}: {found}, {exact}"
        );
    }
}

fn device(subject: &Subject) -> Option<GpuDevice> {
    match subject {
        Subject::Cpu => None,
        Subject::Gpu(device) => Some(device.clone()),
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub fn slices_go_in_and_out(subject: &Subject) {
    let Some(device) = device(subject) else {
        return;
    };
    let (a, b) = (numbers(1001, 30, 3.0), numbers(1001, 31, 3.0));
    let mut out = vec![f32::NAN; 1001];
    let exact = |step: Step| -> Vec<f32> {
        let pairs = a.iter().zip(&b);
        pairs
            .map(|(x, y)| naive::step(step, *x, *y) as f32)
            .collect()
    };
    type Unary = fn(&GpuDevice, &[f32], &mut [f32]) -> pagepress::Result<()>;
    let operations: [(Step, Unary); 8] = [
        (Step::Relu, GpuDevice::relu),
        (Step::LeakyRelu(0.2), |d, a, out| d.leaky_relu(a, out, 0.2)),
        (Step::Elu(0.7), |d, a, out| d.elu(a, out, 0.7)),
        (Step::Sigmoid, GpuDevice::sigmoid),
        (Step::Tanh, GpuDevice::tanh),
        (Step::Swish, GpuDevice::swish),
        (Step::Gelu, GpuDevice::gelu),
        (Step::Clip(-1.0, 1.0), |d, a, out| d.clip(a, out, -1.0, 1.0)),
    ];
    for (step, operation) in operations {
        operation(&device, &a, &mut out).unwrap();
        assert_same(&format!("{step:?}"), &out, &exact(step));
        let error = operation(&device, &a, &mut [0.0; 3]).unwrap_err();
        let wrong = Error::LengthMismatch {
            name: "result",
            expected: 1001,
            actual: 3,
        };
        assert_eq!(error, wrong);
        operation(&device, &[], &mut []).unwrap();
    }
    device.vec_add(&a, &b, &mut out).unwrap();
    assert_same("vec_add", &out, &exact(Step::Add));
    let dot = device.dot(&a, &b).unwrap();
    assert!((dot - cpu::dot(&a, &b).unwrap()).abs() < 1e-2);
    assert_eq!(device.dot(&[], &[]).unwrap(), 0.0);
    assert_eq!(
        device.dot(&a, &b[1..]).unwrap_err().code(),
        "LENGTH_MISMATCH"
    );
    device.softmax(&a, &mut out).unwrap();
    assert!((out.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    let logarithms: Vec<f32> = out.iter().map(|x| x.ln()).collect();
    device.log_softmax(&a, &mut out).unwrap();
    assert_same("log_softmax", &out, &logarithms);
    let mut product = vec![0.0; 11 * 13];
    device
        .matmul(&a[..77], &b[..91], &mut product, 11, 7, 13)
        .unwrap();
    let mut twin = product.clone();
    cpu::matmul(&a[..77], &b[..91], &mut twin, 11, 7, 13).unwrap();
    for (found, exact) in product.iter().zip(&twin) {
        assert!((found - exact).abs() < 1e-4);
    }
    let error = device
        .matmul(&a[..76], &b[..91], &mut product, 11, 7, 13)
        .unwrap_err();
    assert_eq!(error.code(), "LENGTH_MISMATCH");
    let mut convolved = vec![0.0; 8 * 17];
    device
        .convolve2d(&a[..200], &b[..12], &mut convolved, 10, 20, 3, 4)
        .unwrap();
    let exact = naive::convolve2d(&a[..200], &b[..12], [10, 20], [3, 4]);
    for (found, (exact, _)) in convolved.iter().zip(&exact) {
        assert!((f64::from(*found) - exact).abs() < 1e-4);
    }
    let sum = device.tiled_sum_2d(&a, 143, 7).unwrap();
    assert!((sum - cpu::tiled_sum_2d(&a, 143, 7).unwrap()).abs() < 1e-2);
    assert_eq!(
        device.tiled_max_2d(&a, 143, 7),
        cpu::tiled_max_2d(&a, 143, 7)
    );
    assert_eq!(
        device.tiled_min_2d(&a, 143, 7),
        cpu::tiled_min_2d(&a, 143, 7)
    );
    assert_eq!(device.tiled_max_2d(&[], 0, 7).unwrap(), f32::NEG_INFINITY);
    assert_eq!(
        device.tiled_sum_2d(&a, 143, 8).unwrap_err().code(),
        "LENGTH_MISMATCH"
    );
}

pub async fn batches_give_what_single_operations_give(subject: &Subject) {
    let Some(device) = device(subject) else {
        return;
    };
    let (x, y) = (numbers(600, 32, 2.0), numbers(600, 33, 2.0));
    let mut batch = GpuCommandBatch::new(device);
    let (a, b) = (batch.upload(&x), batch.upload(&y));
    let relu = batch.relu(a);
    let scaled = batch.scale(relu, 2.0);
    let sum = batch.add(scaled, b);
    let gelu = batch.gelu(sum);
    let square = batch.mul(gelu, gelu);
    let product = batch.matmul(square, gelu, 20, 30, 20);
    let dot = batch.dot(sum, gelu);
    let total = batch.reduce(Reduction::Sum, product);
    let softmax = batch.softmax(square);
    let kernel = batch.upload(&y[..9]);
    let convolved = batch.convolve2d(square, kernel, [20, 30], [3, 3]);
    batch.execute().await.unwrap();
    let chain = |steps: &[Step], a: &[f32], b: &[f32]| {
        let mut out = vec![0.0; a.len()];
        cpu::elementwise(steps, a, Some(b), &mut out).unwrap();
        out
    };
    let steps = [Step::Relu, Step::Scale(2.0), Step::Add];
    let cpu_sum = chain(&steps, &x, &y);
    let cpu_gelu = chain(&[Step::Gelu], &cpu_sum, &[0.0; 600]);
    let cpu_square = chain(&[Step::Mul], &cpu_gelu, &cpu_gelu);
    // Results, and intermediate tensors.
    assert_same(
        "relu",
        &batch.read(relu).await.unwrap(),
        &chain(&steps[..1], &x, &y),
    );
    assert_same(
        "scaled",
        &batch.read(scaled).await.unwrap(),
        &chain(&steps[..2], &x, &y),
    );
    assert_same("sum", &batch.read(sum).await.unwrap(), &cpu_sum);
    assert_same("gelu", &batch.read(gelu).await.unwrap(), &cpu_gelu);
    assert_same("square", &batch.read(square).await.unwrap(), &cpu_square);
    let mut cpu_product = vec![0.0; 400];
    cpu::matmul(&cpu_square, &cpu_gelu, &mut cpu_product, 20, 30, 20).unwrap();
    let found = batch.read(product).await.unwrap();
    for (found, exact) in found.iter().zip(&cpu_product) {
        assert!(
            (found - exact).abs() <= 1e-4 * exact.abs().max(10.0),
            "{found} {exact}"
        );
    }
    let found = batch.read(dot).await.unwrap()[0];
    let exact = cpu::dot(&cpu_sum, &cpu_gelu).unwrap();
    assert!((found - exact).abs() < 1e-4 * exact);
    let found = batch.read(total).await.unwrap()[0];
    let exact: f32 = cpu_product.iter().sum();
    assert!((found - exact).abs() < 1e-4 * exact.abs());
    assert!((batch.read(softmax).await.unwrap().iter().sum::<f32>() - 1.0).abs() < 1e-4);
    assert_eq!(batch.read(convolved).await.unwrap().len(), 18 * 28);
    // The batch continues after `execute`.
    let more = batch.scale(product, 0.5);
    batch.execute().await.unwrap();
    let half: Vec<f32> = batch
        .read(product)
        .await
        .unwrap()
        .iter()
        .map(|x| x * 0.5)
        .collect();
    assert_eq!(batch.read(more).await.unwrap(), half);
    assert_eq!(batch.execute().await.unwrap(), None);
}

pub async fn wrong_batches_are_typed_errors(subject: &Subject) {
    let Some(device) = device(subject) else {
        return;
    };
    let mut other = GpuCommandBatch::new(device.clone());
    other.upload(&[1.0]);
    let foreign = other.upload(&[1.0, 2.0]);
    let mut batch = GpuCommandBatch::new(device.clone());
    let own = batch.upload(&[1.0, 2.0]);
    let good = batch.relu(own);
    let bad = batch.add(own, foreign);
    let after = batch.relu(bad);
    for error in [
        batch.execute().await.unwrap_err(),
        batch.read(after).await.unwrap_err(),
    ] {
        assert!(
            matches!(&error, Error::InvalidArgument { name: "id", .. }),
            "{error}"
        );
    }
    assert_eq!(
        batch.read(foreign).await.unwrap_err().code(),
        "INVALID_ARGUMENT"
    );
    // The remainder of the batch is unaffected.
    assert_eq!(batch.read(good).await.unwrap(), [1.0, 2.0]);
    let more = batch.scale(good, 2.0);
    assert!(batch.execute().await.is_ok());
    assert_eq!(batch.read(more).await.unwrap(), [2.0, 4.0]);
    assert_eq!(
        batch.read(bad).await.unwrap_err().code(),
        "INVALID_ARGUMENT"
    );
    // Each wrong call is reported once, and nothing runs together with it.
    batch.dot(own, foreign);
    let later = batch.relu(more);
    assert_eq!(
        batch.execute().await.unwrap_err().code(),
        "INVALID_ARGUMENT"
    );
    batch.execute().await.unwrap();
    assert_eq!(batch.read(later).await.unwrap(), [2.0, 4.0]);
    // A cancelled call leaves the batch unchanged, too.
    let last = batch.scale(later, 0.5);
    let mut given_up = Box::pin(batch.execute());
    std::future::poll_fn(|context| {
        let _ = given_up.as_mut().poll(context);
        std::task::Poll::Ready(())
    })
    .await;
    drop(given_up);
    assert_eq!(batch.read(last).await.unwrap(), [1.0, 2.0]);
    let mut batch = GpuCommandBatch::new(device.clone());
    let (a, b) = (batch.upload(&[1.0, 2.0]), batch.upload(&[1.0, 2.0, 3.0]));
    batch.mul(a, b);
    assert_eq!(batch.execute().await.unwrap_err().code(), "SHAPE_MISMATCH");
    let mut batch = GpuCommandBatch::new(device);
    let (a, b) = (batch.upload(&[1.0, 2.0]), batch.upload(&[1.0, 2.0, 3.0]));
    batch.matmul(a, b, 1, 2, 2);
    assert_eq!(batch.execute().await.unwrap_err().code(), "LENGTH_MISMATCH");
}

#[cfg(not(target_arch = "wasm32"))]
pub fn backends_say_where_they_ran(subject: &Subject) {
    let mut backend = match subject {
        Subject::Cpu => GpuBackend::new(),
        Subject::Gpu(device) => GpuBackend::with_device(device.clone()),
    };
    assert_eq!(backend.last_backend(), None);
    assert_eq!(
        backend.vec_add(&[1.0, 2.0], &[3.0, 4.0]).unwrap(),
        [4.0, 6.0]
    );
    let is_cpu = matches!(backend.last_backend(), Some(BackendUsed::Cpu { .. }));
    assert_eq!(is_cpu, matches!(subject, Subject::Cpu));
    assert_eq!(backend.relu(&[-1.0, 2.0]).unwrap(), [0.0, 2.0]);
    assert_eq!(
        backend.matmul(&[1.0, 2.0], &[3.0, 4.0], 1, 2, 1).unwrap(),
        [11.0]
    );
    assert_eq!(backend.dot(&[1.0, 2.0], &[3.0, 4.0]).unwrap(), 11.0);
    assert_eq!(backend.reduce(Reduction::Max, &[1.0, 2.0]).unwrap(), 2.0);
    assert_eq!(
        backend
            .convolve2d(&[1.0, 2.0], &[2.0], [1, 2], [1, 1])
            .unwrap(),
        [2.0, 4.0]
    );
    assert_eq!(backend.softmax(&[0.0, 0.0]).unwrap(), [0.5, 0.5]);
    assert_eq!(backend.softmax(&[]).unwrap(), [0.0; 0]);
    assert_eq!(
        backend.vec_add(&[1.0], &[]).unwrap_err().code(),
        "LENGTH_MISMATCH"
    );
    assert_eq!(
        backend.matmul(&[1.0], &[1.0], 1, 2, 1).unwrap_err().code(),
        "LENGTH_MISMATCH"
    );
}

pub async fn backends_work_along_axes(subject: &Subject) {
    let mut backend = match subject {
        Subject::Cpu => GpuBackend::new(),
        Subject::Gpu(device) => GpuBackend::with_device(device.clone()),
    };
    let dims = [3, 5, 4, 6];
    let values = numbers(360, 34, 3.0);
    let (shape, tensor) = (
        Shape::new(&dims).unwrap(),
        Tensor::new(values.clone(), &dims),
    );
    for reduction in [Reduction::Sum, Reduction::Max, Reduction::SumOfSquares] {
        for axes in [
            &[][..],
            &[0],
            &[3],
            &[1, 2],
            &[0, 2],
            &[0, 1, 2, 3],
            &[3, 1],
        ] {
            let found = backend.reduce_axes_async(reduction, &values, &shape, axes);
            let found = found.await.unwrap();
            let (exact, _) = subject.reduce(reduction, &tensor, axes).await.unwrap();
            assert_eq!(found.len(), exact.len(), "{reduction:?} over {axes:?}");
            for (found, exact) in found.iter().zip(exact) {
                let off = (found - exact).abs();
                assert!(off <= 1e-3, "{reduction:?} over {axes:?}: {found}, {exact}");
            }
        }
    }
    let rows = Tensor::new(values.clone(), &[12, 30]);
    let (exact, _) = subject.softmax(false, &rows).await.unwrap();
    let found = backend.softmax_rows_async(&values, 30).await.unwrap();
    assert_same("softmax", &found, &exact);
    let (exact, _) = subject.softmax(true, &rows).await.unwrap();
    let found = backend.log_softmax_rows_async(&values, 30).await.unwrap();
    assert_same("log_softmax", &found, &exact);
    assert_eq!(backend.softmax_rows_async(&[], 0).await, Ok(Vec::new()));
    for cols in [0, 7] {
        let error = backend.softmax_rows_async(&values, cols).await.unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
    for (n, axes, code) in [
        (359, &[0][..], "LENGTH_MISMATCH"),
        (360, &[4], "INVALID_ARGUMENT"),
        (360, &[1, 1], "INVALID_ARGUMENT"),
    ] {
        let wrong = backend.reduce_axes_async(Reduction::Sum, &values[..n], &shape, axes);
        assert_eq!(wrong.await.unwrap_err().code(), code);
    }
}
