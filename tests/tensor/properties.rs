//! Random shapes, views and numbers, compared with a model that copies every element at every change.

use pagepress::gpu::runtime::block_on;
use pagepress::tensor::{Reduction, Shape, Step, TensorView};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::{PRODUCTS, SOFTMAX, assert_near, of_step};

const N_CASES: u32 = 40;

/// A change of a view; numbers are reduced modulo the valid range.
#[derive(Clone, Debug)]
enum Change {
    Slice(usize, usize, usize),
    Transpose(usize, usize),
    Permute(usize),
    /// Merges two axes, or splits one in two.
    Reshape(usize, bool),
    /// Adds an axis in front, or repeats an axis of one element.
    Broadcast(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let number = || 0_usize..1000;
    prop_oneof![
        3 => (number(), number(), number()).prop_map(|(axis, a, b)| Change::Slice(axis, a, b)),
        3 => (number(), number()).prop_map(|(a, b)| Change::Transpose(a, b)),
        1 => number().prop_map(Change::Permute),
        2 => (number(), any::<bool>()).prop_map(|(axis, merge)| Change::Reshape(axis, merge)),
        1 => (2_usize..5).prop_map(Change::Broadcast),
    ]
}

/// Returns shapes of few elements, sometimes of none.
fn dims() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1 => 0_usize..2, 9 => 1_usize..9], 0..5)
}

/// A dense tensor: elements in row-major order and their shape.
#[derive(Clone, Debug)]
struct Model {
    dims: Vec<usize>,
    values: Vec<f32>,
}

impl Model {
    fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.dims.len()];
        for axis in (1..self.dims.len()).rev() {
            strides[axis - 1] = strides[axis] * self.dims[axis];
        }
        strides
    }

    /// Returns a tensor of a new shape whose elements are copied from the indices that `place` returns.
    fn picked(&self, dims: Vec<usize>, place: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let strides = self.strides();
        let n: usize = dims.iter().product();
        let values = (0..n).map(|mut i| {
            let mut index = vec![0; dims.len()];
            for axis in (0..dims.len()).rev() {
                index[axis] = i % dims[axis];
                i /= dims[axis];
            }
            let at = place(&index)
                .into_iter()
                .zip(&strides)
                .map(|(i, stride)| i * stride);
            self.values[at.sum::<usize>()]
        });
        Self {
            values: values.collect(),
            dims,
        }
    }

    fn permuted(&self, axes: &[usize]) -> Self {
        let dims = axes.iter().map(|&axis| self.dims[axis]).collect();
        self.picked(dims, |index| {
            let mut old = vec![0; axes.len()];
            axes.iter().zip(index).for_each(|(&axis, &i)| old[axis] = i);
            old
        })
    }
}

fn shape(dims: &[usize]) -> Shape {
    Shape::new(dims).unwrap()
}

/// Applies a change to both. If the change is impossible, the view must return an error, and both stay unchanged.
fn changed(view: &TensorView, model: &Model, change: &Change) -> (TensorView, Model) {
    let rank = model.dims.len();
    let axis = |n: usize| n % rank.max(1);
    match *change {
        Change::Slice(n, a, b) if rank > 0 => {
            let length = model.dims[axis(n)];
            let (from, to) = (a % (length + 1), b % (length + 1));
            let range = from.min(to)..from.max(to);
            let mut dims = model.dims.clone();
            dims[axis(n)] = range.len();
            let sliced = model.picked(dims, |index| {
                let mut old = index.to_vec();
                old[axis(n)] += range.start;
                old
            });
            assert!(view.slice(axis(n), range.start..length + 1).is_err());
            (view.slice(axis(n), range).unwrap(), sliced)
        }
        Change::Transpose(a, b) if rank > 0 => {
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(axis(a), axis(b));
            (
                view.transpose(axis(a), axis(b)).unwrap(),
                model.permuted(&axes),
            )
        }
        Change::Permute(n) if rank > 0 => {
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.rotate_left(axis(n));
            (view.permute(&axes).unwrap(), model.permuted(&axes))
        }
        Change::Reshape(n, merge) if rank > 0 => {
            let mut dims = model.dims.clone();
            if merge && axis(n) + 1 < rank {
                let inner = dims.remove(axis(n) + 1);
                dims[axis(n)] *= inner;
            } else {
                let length = dims[axis(n)];
                let part = [2, 3, 1]
                    .into_iter()
                    .find(|&part| length.is_multiple_of(part))
                    .unwrap();
                dims[axis(n)] = length / part;
                dims.insert(axis(n) + 1, part);
            }
            let reshaped = view.reshape(shape(&dims));
            assert_eq!(
                reshaped.is_ok(),
                view.is_contiguous(),
                "{view:?} to {dims:?}"
            );
            let values = model.values.clone();
            match reshaped {
                Ok(view) => (view, Model { dims, values }),
                Err(_) => (view.clone(), model.clone()),
            }
        }
        Change::Broadcast(times) if rank < 5 && model.values.len() < 2000 => {
            let mut dims = model.dims.clone();
            match dims.iter().position(|&dim| dim == 1) {
                Some(axis) => dims[axis] = times,
                None => dims.insert(0, times),
            }
            let missing = dims.len() - rank;
            let extended = model.picked(dims.clone(), |index| {
                let old = index[missing..].iter().zip(&model.dims);
                old.map(|(&i, &dim)| if dim == 1 { 0 } else { i }).collect()
            });
            (view.broadcast_to(&shape(&dims)).unwrap(), extended)
        }
        _ => (view.clone(), model.clone()),
    }
}

/// A tensor of small whole numbers, whose sums are exact, and changes of its view.
#[derive(Clone, Debug)]
struct Case {
    dims: Vec<usize>,
    gap: usize,
    changes: Vec<Change>,
    seed: u64,
    choice: usize,
}

fn case() -> impl Strategy<Value = Case> {
    let changes = prop::collection::vec(change(), 0..6);
    (dims(), 0_usize..70, changes, 1_u64..1000, 0_usize..1000).prop_map(
        |(dims, gap, changes, seed, choice)| Case {
            dims,
            gap,
            changes,
            seed,
            choice,
        },
    )
}

impl Case {
    fn tensor(&self) -> (Tensor, Model) {
        let whole = shape(&self.dims);
        let n = whole.n_elements();
        let elements = numbers(self.gap + n, self.seed, 8.0);
        let elements: Vec<f32> = elements.into_iter().map(f32::round).collect();
        let mut model = Model {
            dims: self.dims.clone(),
            values: elements[self.gap..].to_vec(),
        };
        let strides = whole.row_major_strides();
        let mut view = TensorView::with_strides(whole, &strides, self.gap).unwrap();
        for change in &self.changes {
            (view, model) = changed(&view, &model, change);
            assert_eq!(view.shape().dims(), model.dims);
        }
        (Tensor { elements, view }, model)
    }
}

fn run<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> TestCaseResult) {
    let config = Config {
        cases: N_CASES,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config).run(&strategy, test).unwrap();
}

pub fn random_views_show_what_copies_show(subject: &Subject) {
    run(case(), |case| {
        let (tensor, model) = case.tensor();
        prop_assert_eq!(&tensor.values(), &model.values);
        let (found, dims) =
            block_on(subject.elementwise(&[Step::Offset(1.0)], &tensor, None)).unwrap();
        let exact: Vec<f32> = model.values.iter().map(|x| x + 1.0).collect();
        prop_assert_eq!((found, &dims), (exact, &model.dims));
        // With a part of itself that is broadcast to it.
        let mut part = tensor.view.clone();
        for (axis, &dim) in dims.iter().enumerate() {
            if dim > 0 && case.choice >> axis & 1 == 1 {
                part = part.slice(axis, 0..1).unwrap();
            }
        }
        let other = tensor.with_view(part);
        let (found, dims) =
            block_on(subject.elementwise(&[Step::Sub], &tensor, Some(&other))).unwrap();
        let others = other.values_as(&shape(&dims));
        let exact: Vec<f32> = model
            .values
            .iter()
            .zip(others)
            .map(|(x, y)| x - y)
            .collect();
        prop_assert_eq!((found, dims), (exact, model.dims));
        Ok(())
    });
}

pub fn random_views_reduce_as_copies_do(subject: &Subject) {
    run(case(), |case| {
        let (tensor, model) = case.tensor();
        let rank = model.dims.len();
        let axes: Vec<usize> = (0..rank)
            .filter(|axis| case.choice >> axis & 1 == 1)
            .collect();
        let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
        let rows = model.permuted(&[&kept[..], &axes].concat());
        let length: usize = axes.iter().map(|&axis| model.dims[axis]).product();
        let n: usize = kept.iter().map(|&axis| model.dims[axis]).product();
        let row = |i: usize| &rows.values[i * length..(i + 1) * length];
        for reduction in [Reduction::Sum, Reduction::Max] {
            let (found, _) = block_on(subject.reduce(reduction, &tensor, &axes)).unwrap();
            let exact: Vec<f32> = (0..n)
                .map(|i| naive::reduce(reduction, row(i)).0 as f32)
                .collect();
            prop_assert_eq!(found, exact, "{:?} over {:?}", reduction, &axes);
        }
        let cols = model.dims.last().copied().unwrap_or(1).max(1);
        let (found, _) = block_on(subject.softmax(false, &tensor)).unwrap();
        let exact = model
            .values
            .chunks(cols)
            .flat_map(|row| naive::softmax(row, false));
        assert_near("softmax", &found, &exact.collect::<Vec<_>>(), SOFTMAX);
        Ok(())
    });
}

pub fn random_views_multiply_as_copies_do(subject: &Subject) {
    run((case(), 0_usize..20), |(case, n)| {
        let (tensor, model) = case.tensor();
        let rank = model.dims.len();
        if rank < 2 || matches!(subject, Subject::Cpu) && rank > 2 {
            return Ok(());
        }
        let &[m, k] = model.dims.last_chunk().unwrap();
        let other = Tensor::new(numbers(k * n, case.seed + 1, 1.0), &[n, k]);
        let other = other.with_view(other.view.transpose(0, 1).unwrap());
        let (found, dims) = block_on(subject.matmul(&tensor, &other)).unwrap().unwrap();
        prop_assert_eq!(dims, [&model.dims[..rank - 1], &[n]].concat());
        let columns = other.values();
        let matrices = model.values.chunks((m * k).max(1));
        let exact = matrices.flat_map(|matrix| naive::matmul(matrix, &columns, [m, k, n]));
        let exact: Vec<(f64, f64)> = match k {
            0 => vec![(0.0, 0.0); found.len()],
            _ => exact.collect(),
        };
        prop_assert_eq!(found.len(), exact.len());
        for (found, (exact, magnitude)) in found.iter().zip(exact) {
            prop_assert!((f64::from(*found) - exact).abs() <= PRODUCTS * magnitude);
        }
        Ok(())
    });
}

pub fn random_numbers_of_any_size_step_as_they_must(subject: &Subject) {
    let steps = [
        Step::Relu,
        Step::LeakyRelu(0.3),
        Step::Elu(1.2),
        Step::Sigmoid,
        Step::Tanh,
        Step::Swish,
        Step::Gelu,
        Step::GeluTanh,
        Step::Clip(-0.5, 2.5),
        Step::Exp,
        Step::Mul,
        Step::Div,
        Step::Max,
    ];
    let strategy = (0..steps.len(), -4.0_f32..1.9, 1_usize..3000, 1_u64..1000);
    run(strategy, |(step, power, n, seed)| {
        let (step, size) = (steps[step], 10_f32.powf(power));
        let (x, y) = (numbers(n, seed, size), numbers(n, seed + 1, size));
        let (a, b) = (Tensor::new(x.clone(), &[n]), Tensor::new(y.clone(), &[n]));
        let (found, _) =
            block_on(subject.elementwise(&[step], &a, step.takes_two().then_some(&b))).unwrap();
        let exact: Vec<f64> = x
            .iter()
            .zip(&y)
            .map(|(x, y)| naive::step(step, *x, *y))
            .collect();
        assert_near(
            &format!("{step:?} up to {size}"),
            &found,
            &exact,
            of_step(step),
        );
        Ok(())
    });
}
