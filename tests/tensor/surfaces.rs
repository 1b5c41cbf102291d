//! Norms, rotary positions, attention and blocking calls return the same numbers on every surface.

use pagepress::gpu::runtime::block_on;
use pagepress::tensor::layer::{Attention, Norm, rotary_turns};
use pagepress::tensor::{GpuBackend, GpuCommandBatch, GpuTensor, Reduction, Shape, Step, cpu};

use crate::naive::numbers;
use crate::subject::Subject;

const NORM: Norm = Norm::Layer { epsilon: 1e-5 };

fn assert_near(what: &str, found: &[f32], exact: &[f32]) {
    assert_eq!(found.len(), exact.len(), "{what}");
    for (i, (found, exact)) in found.iter().zip(exact).enumerate() {
        let off = (found - exact).abs();
        assert!(off <= 1e-4, "{what}: element {i}: {found}, {exact}");
    }
}

fn backend(subject: &Subject) -> GpuBackend {
    match subject {
        Subject::Cpu => GpuBackend::new(),
        Subject::Gpu(device) => GpuBackend::with_device(device.clone()),
    }
}

pub fn norms_are_the_same_on_every_surface(subject: &Subject) {
    let (rows, weight) = (numbers(12 * 30, 40, 3.0), numbers(30, 41, 2.0));
    let bias = numbers(30, 42, 1.0);
    let mut backend = backend(subject);
    for columns in [
        [None, None],
        [Some(&weight[..]), None],
        [None, Some(&bias[..])],
        [Some(&weight[..]), Some(&bias[..])],
    ] {
        let mut exact = vec![0.0; rows.len()];
        cpu::norm(NORM, &rows, 30, columns, &mut exact).unwrap();
        let found = backend.norm(NORM, &rows, columns, 30).unwrap();
        assert_near("backend", &found, &exact);
        let Subject::Gpu(device) = subject else {
            continue;
        };
        let mut found = vec![f32::NAN; rows.len()];
        device.norm(NORM, &rows, columns, &mut found, 30).unwrap();
        assert_near("device", &found, &exact);
        let tensor = |values: &[f32], dims: &[usize]| {
            GpuTensor::from_slice(device, values, Shape::new(dims).unwrap()).unwrap()
        };
        let a = tensor(&rows, &[12, 30]);
        let [weight, bias] = columns.map(|values| values.map(|values| tensor(values, &[30])));
        let made = a.norm(NORM, weight.as_ref(), bias.as_ref()).unwrap();
        assert_near("tensor", &made.to_vec().unwrap(), &exact);
        let mut batch = GpuCommandBatch::new(device.clone());
        let a = batch.tensor(&a);
        let [weight, bias] =
            [weight, bias].map(|tensor| tensor.map(|tensor| batch.tensor(&tensor)));
        let id = batch.norm(NORM, a, weight, bias);
        let found = block_on(batch.read_async(id)).unwrap();
        assert_near("batch", &found, &exact);
    }
    let wrong = backend.norm(NORM, &rows, [Some(&bias[1..]), None], 30);
    assert_eq!(wrong.unwrap_err().code(), "LENGTH_MISMATCH");
    let cut_off = backend.norm(NORM, &rows, [None, None], 31);
    assert_eq!(cut_off.unwrap_err().code(), "INVALID_ARGUMENT");
}

pub fn rotary_is_the_same_on_every_surface(subject: &Subject) {
    let (rows, table) = (
        numbers(12 * 3 * 20, 47, 3.0),
        rotary_turns(500.0, 20, 17).unwrap(),
    );
    let heads = [3, 20];
    let mut exact = vec![0.0; rows.len()];
    cpu::rotary(&rows, heads, &table, 5, &mut exact).unwrap();
    let mut backend = backend(subject);
    let found = backend.rotary(&rows, &table, heads, 5).unwrap();
    assert_near("backend", &found, &exact);
    for (heads, first, code) in [
        ([3, 20], 6, "INVALID_ARGUMENT"),
        ([7, 20], 0, "INVALID_ARGUMENT"),
        ([usize::MAX, 20], 0, "INVALID_ARGUMENT"),
        ([0, 0], 0, "INVALID_ARGUMENT"),
        ([12, 5], 0, "SHAPE_MISMATCH"),
    ] {
        let wrong = backend.rotary(&rows, &table, heads, first);
        assert_eq!(wrong.unwrap_err().code(), code, "{heads:?}");
    }
    let Subject::Gpu(device) = subject else {
        return;
    };
    let mut found = vec![f32::NAN; rows.len()];
    device.rotary(&rows, &table, &mut found, heads, 5).unwrap();
    assert_near("device", &found, &exact);
    let tensor = |values: &[f32], dims: &[usize]| {
        GpuTensor::from_slice(device, values, Shape::new(dims).unwrap()).unwrap()
    };
    let (a, turns) = (tensor(&rows, &[12, 3, 20]), tensor(&table, &[17, 20]));
    let made = a.rotary(&turns, 5).unwrap();
    assert_near("tensor", &made.to_vec().unwrap(), &exact);
    let mut batch = GpuCommandBatch::new(device.clone());
    let (a, turns) = (batch.tensor(&a), batch.tensor(&turns));
    let id = batch.rotary(a, turns, 5);
    let found = block_on(batch.read_async(id)).unwrap();
    assert_near("batch", &found, &exact);
}

pub fn attention_is_the_same_on_every_surface(subject: &Subject) {
    let shape = |dims: &[usize]| Shape::new(dims).unwrap();
    let (q_shape, k_shape) = (shape(&[4, 7, 16]), shape(&[2, 9, 16]));
    let (q, k, v) = (
        numbers(448, 43, 2.0),
        numbers(288, 44, 2.0),
        numbers(288, 45, 2.0),
    );
    let what = Attention {
        causal: true,
        window: Some(4),
        scale: None,
    };
    let mut exact = vec![0.0; q.len()];
    cpu::attention(what, (&q, &q_shape), (&k, &v, &k_shape), &mut exact).unwrap();
    let mut backend = backend(subject);
    let found = backend.attention(what, (&q, &q_shape), (&k, &v, &k_shape));
    assert_near("backend", &found.unwrap(), &exact);
    let wrong = backend.attention(what, (&q, &q_shape), (&k, &v, &shape(&[9, 2, 16])));
    assert_eq!(wrong.unwrap_err().code(), "SHAPE_MISMATCH");
    let Subject::Gpu(device) = subject else {
        return;
    };
    let mut found = vec![f32::NAN; q.len()];
    let done = device.attention(what, (&q, &q_shape), (&k, &v, &k_shape), &mut found);
    done.unwrap();
    assert_near("device", &found, &exact);
    let tensors = [(&q, &q_shape), (&k, &k_shape), (&v, &k_shape)]
        .map(|(values, shape)| GpuTensor::from_slice(device, values, shape.clone()).unwrap());
    let [queries, keys, values] = &tensors;
    let made = queries.attention(keys, values, what).unwrap();
    assert_near("tensor", &made.to_vec().unwrap(), &exact);
    let mut batch = GpuCommandBatch::new(device.clone());
    let [queries, keys, values] = tensors.map(|tensor| batch.tensor(&tensor));
    let id = batch.attention(what, queries, keys, values);
    // A later operation sees the elements in the order of the queries.
    let doubled = batch.scale(id, 2.0);
    let doubled = block_on(batch.read_async(doubled)).unwrap();
    let halves: Vec<f32> = doubled.iter().map(|x| x / 2.0).collect();
    assert_near("batch", &halves, &exact);
    let found = block_on(batch.read_async(id)).unwrap();
    assert_near("batch", &found, &exact);
}

pub fn blocking_forms_give_what_the_others_give(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let values = numbers(6 * 20, 46, 2.0);
    let a = GpuTensor::from_slice(device, &values, Shape::new(&[6, 20]).unwrap()).unwrap();
    let turned = a.transpose(0, 1).unwrap();
    let same = |found: GpuTensor, exact: pagepress::Result<GpuTensor>| {
        let exact = exact.unwrap();
        assert_eq!(found.shape(), exact.shape());
        assert_eq!(
            found.to_vec().unwrap(),
            block_on(exact.to_vec_async()).unwrap()
        );
    };
    let steps = [Step::Relu, Step::Scale(2.0)];
    same(a.apply(&steps).unwrap(), block_on(a.apply_async(&steps)));
    let add = [Step::Add];
    same(
        a.combine(&add, &a).unwrap(),
        block_on(a.combine_async(&add, &a)),
    );
    same(
        turned.contiguous().unwrap(),
        block_on(turned.contiguous_async()),
    );
    let sum = Reduction::Sum;
    same(
        a.reduce(sum, &[1]).unwrap(),
        block_on(a.reduce_async(sum, &[1])),
    );
    same(
        a.reduce_all(sum).unwrap(),
        block_on(a.reduce_all_async(sum)),
    );
    same(a.dot(&a).unwrap(), block_on(a.dot_async(&a)));
    same(a.softmax().unwrap(), block_on(a.softmax_async()));
    same(a.log_softmax().unwrap(), block_on(a.log_softmax_async()));
    same(
        a.matmul(&turned).unwrap(),
        block_on(a.matmul_async(&turned)),
    );
    let kernel = a.slice(0, 0..2).unwrap().slice(1, 0..3).unwrap();
    same(
        a.convolve2d(&kernel).unwrap(),
        block_on(a.convolve2d_async(&kernel)),
    );
    let mut out = vec![0.0; 120];
    a.read(&mut out).unwrap();
    assert_eq!(out, values);
}
