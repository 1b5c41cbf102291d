//! ONNX's operations, implemented by ours.

use pagepress::gpu::runtime::block_on;
use pagepress::tensor::{Reduction, Shape, Step, TensorView};

use crate::model::{Node, Value};
use crate::subject::{Made, Subject, Tensor};

/// Operations that are covered; cases of other operations are not read.
pub const OPERATIONS: &[&str] = &[
    "Abs",
    "Add",
    "Celu",
    "Clip",
    "Conv",
    "Div",
    "Elu",
    "Exp",
    "Gelu",
    "Gemm",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "MatMul",
    "Max",
    "Mean",
    "Min",
    "Mul",
    "Neg",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Sub",
    "Sum",
    "Swish",
    "Tanh",
    "Transpose",
];

/// A result whose error is the reason to skip the case.
pub type Result<T> = std::result::Result<T, String>;

/// Inputs of a node; `None` for an omitted one.
pub struct Inputs<'a>(pub Vec<Option<&'a Value>>);

impl<'a> Inputs<'a> {
    fn tensor(&self, i: usize) -> Result<Option<&'a Tensor>> {
        match self.0.get(i).copied().flatten() {
            None => Ok(None),
            Some(Value::Floats(tensor)) => Ok(Some(tensor)),
            Some(Value::Ints(_)) => Err("elements of 64-bit integers".into()),
            Some(Value::Other(kind)) => Err(format!("elements of type {kind}")),
        }
    }

    fn needed(&self, i: usize) -> Result<&'a Tensor> {
        self.tensor(i)?.ok_or_else(|| format!("no input {i}"))
    }

    fn ints(&self, i: usize) -> Option<&'a [i64]> {
        match self.0.get(i).copied().flatten() {
            Some(Value::Ints(ints)) => Some(ints),
            _ => None,
        }
    }
}

/// Computes one node.
pub fn run(on: &Subject, node: &Node, inputs: &Inputs<'_>) -> Result<Tensor> {
    let a = inputs.needed(0)?;
    let steps = |steps: &[Step]| Ok(made(block_on(on.elementwise(steps, a, None))));
    match node.operation.as_str() {
        "Abs" => steps(&[Step::Abs]),
        "Celu" => {
            let alpha = node.float("alpha", 1.0);
            steps(&[Step::Scale(1.0 / alpha), Step::Elu(1.0), Step::Scale(alpha)])
        }
        "Clip" => {
            let bound = |i, none| -> Result<f32> {
                Ok(inputs.tensor(i)?.map_or(none, |tensor| tensor.elements[0]))
            };
            steps(&[Step::Clip(
                bound(1, f32::NEG_INFINITY)?,
                bound(2, f32::INFINITY)?,
            )])
        }
        "Elu" => steps(&[Step::Elu(node.float("alpha", 1.0))]),
        "Exp" => steps(&[Step::Exp]),
        "Gelu" if node.text("approximate") == "tanh" => steps(&[Step::GeluTanh]),
        "Gelu" => steps(&[Step::Gelu]),
        "HardSigmoid" => {
            let (alpha, beta) = (node.float("alpha", 0.2), node.float("beta", 0.5));
            steps(&[Step::Scale(alpha), Step::Offset(beta), Step::Clip(0.0, 1.0)])
        }
        "HardSwish" => {
            let inner = [
                Step::Scale(1.0 / 6.0),
                Step::Offset(0.5),
                Step::Clip(0.0, 1.0),
                Step::Mul,
            ];
            Ok(made(block_on(on.elementwise(&inner, a, Some(a)))))
        }
        "Identity" => steps(&[]),
        "LeakyRelu" => steps(&[Step::LeakyRelu(node.float("alpha", 0.01))]),
        "Log" => steps(&[Step::Log]),
        "Neg" => steps(&[Step::Scale(-1.0)]),
        "Reciprocal" => steps(&[Step::Reciprocal]),
        "Relu" => steps(&[Step::Relu]),
        "Selu" => {
            let alpha = node.float("alpha", 1.673_263_2);
            let gamma = node.float("gamma", 1.050_701);
            steps(&[Step::Elu(alpha), Step::Scale(gamma)])
        }
        "Sigmoid" => steps(&[Step::Sigmoid]),
        "Softplus" => steps(&[Step::Exp, Step::Offset(1.0), Step::Log]),
        "Softsign" => {
            let divisor = made(block_on(on.elementwise(
                &[Step::Abs, Step::Offset(1.0)],
                a,
                None,
            )));
            Ok(made(block_on(on.elementwise(
                &[Step::Div],
                a,
                Some(&divisor),
            ))))
        }
        "Sqrt" => steps(&[Step::Sqrt]),
        "Swish" if node.float("alpha", 1.0) == 1.0 => steps(&[Step::Swish]),
        "Swish" => {
            let inner = [
                Step::Scale(node.float("alpha", 1.0)),
                Step::Sigmoid,
                Step::Mul,
            ];
            Ok(made(block_on(on.elementwise(&inner, a, Some(a)))))
        }
        "Tanh" => steps(&[Step::Tanh]),
        "Add" | "Sum" => folded(on, inputs, Step::Add),
        "Sub" => folded(on, inputs, Step::Sub),
        "Mul" => folded(on, inputs, Step::Mul),
        "Div" => folded(on, inputs, Step::Div),
        "Max" => folded(on, inputs, Step::Max),
        "Min" => folded(on, inputs, Step::Min),
        "Mean" => {
            let sum = folded(on, inputs, Step::Add)?;
            let share = Step::Scale(1.0 / inputs.0.len() as f32);
            Ok(made(block_on(on.elementwise(&[share], &sum, None))))
        }
        "Transpose" => transpose(on, node, a),
        "Softmax" => softmax(on, node, a, false),
        "LogSoftmax" => softmax(on, node, a, true),
        "MatMul" => Ok(matmul(on, a, inputs.needed(1)?)),
        "Gemm" => gemm(on, node, inputs),
        "Conv" => convolve(on, node, inputs),
        reduction if reduction.starts_with("Reduce") => reduce(on, node, inputs),
        other => Err(format!("operation {other}")),
    }
}

fn made(result: pagepress::Result<Made>) -> Tensor {
    let (elements, dims) = result.unwrap();
    Tensor::new(elements, &dims)
}

fn folded(on: &Subject, inputs: &Inputs<'_>, step: Step) -> Result<Tensor> {
    let mut result = inputs.needed(0)?.clone();
    for i in 1..inputs.0.len() {
        result = made(block_on(on.elementwise(
            &[step],
            &result,
            Some(inputs.needed(i)?),
        )));
    }
    Ok(result)
}

/// Returns an axis as an index; a negative one counts from the end.
fn axis(of: &Tensor, axis: i64) -> usize {
    let rank = of.dims().len() as i64;
    usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap()
}

fn transpose(on: &Subject, node: &Node, a: &Tensor) -> Result<Tensor> {
    let order: Vec<usize> = match node.ints("perm") {
        Some(axes) => axes.iter().map(|&i| axis(a, i)).collect(),
        None => (0..a.dims().len()).rev().collect(),
    };
    let view = a.view.permute(&order).unwrap();
    Ok(made(block_on(on.elementwise(
        &[],
        &a.with_view(view),
        None,
    ))))
}

fn softmax(on: &Subject, node: &Node, a: &Tensor, log: bool) -> Result<Tensor> {
    let (axis, last) = (axis(a, node.int("axis", -1)), a.dims().len() - 1);
    let turned = a.with_view(a.view.transpose(axis, last).unwrap());
    let result = made(block_on(on.softmax(log, &turned)));
    let back = result.view.transpose(axis, last).unwrap();
    Ok(made(block_on(on.elementwise(
        &[],
        &result.with_view(back),
        None,
    ))))
}

/// Multiplies matrices or batches of matrices. The CPU's product has two axes, so it is called once for each batch.
fn matmul(on: &Subject, a: &Tensor, b: &Tensor) -> Tensor {
    if let Some(result) = block_on(on.matmul(a, b)) {
        return made(result);
    }
    let (axes, b_axes) = (a.dims().len(), b.dims().len());
    assert!(axes == b_axes && a.dims()[..axes - 2] == b.dims()[..axes - 2]);
    let (&[m, k], &[_, n]) = (&a.dims()[axes - 2..], &b.dims()[axes - 2..]) else {
        panic!("a matrix has two axes");
    };
    let pairs = a.elements.chunks(m * k).zip(b.elements.chunks(k * n));
    let products = pairs.flat_map(|(a, b)| {
        let (a, b) = (
            Tensor::new(a.to_vec(), &[m, k]),
            Tensor::new(b.to_vec(), &[k, n]),
        );
        made(block_on(on.matmul(&a, &b)).unwrap()).elements
    });
    let dims = [&a.dims()[..axes - 2], &[m, n]].concat();
    Tensor::new(products.collect(), &dims)
}

fn gemm(on: &Subject, node: &Node, inputs: &Inputs<'_>) -> Result<Tensor> {
    let factor = |i: usize, transposed: &str| -> Result<Tensor> {
        let tensor = inputs.needed(i)?;
        Ok(match node.int(transposed, 0) {
            0 => tensor.clone(),
            _ => tensor.with_view(tensor.view.transpose(0, 1).unwrap()),
        })
    };
    let product = matmul(on, &factor(0, "transA")?, &factor(1, "transB")?);
    let scale = Step::Scale(node.float("alpha", 1.0));
    let Some(c) = inputs.tensor(2)? else {
        return Ok(made(block_on(on.elementwise(&[scale], &product, None))));
    };
    let c = made(block_on(on.elementwise(
        &[Step::Scale(node.float("beta", 1.0))],
        c,
        None,
    )));
    Ok(made(block_on(on.elementwise(
        &[scale, Step::Add],
        &product,
        Some(&c),
    ))))
}

/// Convolves a single image of one channel without padding. With strides, all elements are computed and then
/// subsampled.
fn convolve(on: &Subject, node: &Node, inputs: &Inputs<'_>) -> Result<Tensor> {
    let (x, w) = (inputs.needed(0)?, inputs.needed(1)?);
    for (name, usual) in [("dilations", 1), ("pads", 0)] {
        if let Some(other) = node
            .ints(name)
            .filter(|ints| ints.iter().any(|&i| i != usual))
        {
            return Err(format!("Conv with {name} {other:?}"));
        }
    }
    match node.text("auto_pad") {
        "" | "NOTSET" | "VALID" => {}
        other => return Err(format!("Conv with auto_pad {other}")),
    }
    let (&[1, 1, rows, cols], &[1, 1, kernel_rows, kernel_cols]) = (x.dims(), w.dims()) else {
        return Err(format!("Conv of {:?} with {:?}", x.dims(), w.dims()));
    };
    let x = Tensor::new(x.elements.clone(), &[rows, cols]);
    let w = Tensor::new(w.elements.clone(), &[kernel_rows, kernel_cols]);
    let mut result = made(block_on(on.convolve2d(&x, &w)));
    if let Some(&[down, right]) = node.ints("strides") {
        result = every(on, &result, [down as usize, right as usize]);
    }
    if let Some(bias) = inputs.tensor(2)? {
        result = made(block_on(on.elementwise(&[Step::Add], &result, Some(bias))));
    }
    let dims = [&[1, 1], result.dims()].concat();
    Ok(Tensor::new(result.elements.clone(), &dims))
}

/// Returns every `down`-th row and of it every `right`-th element.
fn every(on: &Subject, a: &Tensor, [down, right]: [usize; 2]) -> Tensor {
    let (rows, cols) = (a.dims()[0], a.dims()[1]);
    let shape = Shape::new(&[rows.div_ceil(down), cols.div_ceil(right)]).unwrap();
    let view = TensorView::with_strides(shape, &[down * cols, right], 0).unwrap();
    made(block_on(on.elementwise(&[], &a.with_view(view), None)))
}

fn reduce(on: &Subject, node: &Node, inputs: &Inputs<'_>) -> Result<Tensor> {
    let a = inputs.needed(0)?;
    let given = node.ints("axes").or(inputs.ints(1)).unwrap_or(&[]);
    let mut axes: Vec<usize> = given.iter().map(|&i| axis(a, i)).collect();
    if axes.is_empty() && node.int("noop_with_empty_axes", 0) == 0 {
        axes = (0..a.dims().len()).collect();
    }
    let n: usize = axes.iter().map(|&axis| a.dims()[axis]).product();
    let apply = |steps: &[Step], a: &Tensor| made(block_on(on.elementwise(steps, a, None)));
    let over = |reduction, a: &Tensor| made(block_on(on.reduce(reduction, a, &axes)));
    let result = match node.operation.as_str() {
        "ReduceSum" => over(Reduction::Sum, a),
        "ReduceMax" => over(Reduction::Max, a),
        "ReduceMin" => over(Reduction::Min, a),
        "ReduceSumSquare" => over(Reduction::SumOfSquares, a),
        "ReduceL1" => over(Reduction::Sum, &apply(&[Step::Abs], a)),
        "ReduceL2" => apply(&[Step::Sqrt], &over(Reduction::SumOfSquares, a)),
        "ReduceMean" => apply(&[Step::Scale(1.0 / n as f32)], &over(Reduction::Sum, a)),
        "ReduceLogSum" => apply(&[Step::Log], &over(Reduction::Sum, a)),
        "ReduceLogSumExp" => {
            // Relative to the maximum, so that nothing overflows.
            let largest = over(Reduction::Max, a);
            let relative = made(block_on(on.elementwise(
                &[Step::Sub, Step::Exp],
                a,
                Some(&largest),
            )));
            let sum = over(Reduction::Sum, &relative);
            made(block_on(on.elementwise(
                &[Step::Log, Step::Add],
                &sum,
                Some(&largest),
            )))
        }
        other => return Err(format!("operation {other}")),
    };
    if node.int("keepdims", 1) != 0 {
        return Ok(result);
    }
    let kept = result
        .dims()
        .iter()
        .enumerate()
        .filter(|(i, _)| !axes.contains(i));
    let dims: Vec<usize> = kept.map(|(_, dim)| *dim).collect();
    let view = result.view.reshape(Shape::new(&dims).unwrap()).unwrap();
    Ok(result.with_view(view))
}
