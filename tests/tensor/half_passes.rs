//! Operations whose kernels read and write 16 bits: long, short and odd rows, strides and chains beside the operations in f32.

use pagepress::gpu::GpuDevice;
use pagepress::tensor::layer::Norm;
use pagepress::tensor::{DType, GpuTensor, Reduction, Shape, Step};

use crate::halves::{HALVES, both, from_bits, halves, to_bits};
use crate::naive::numbers;
use crate::subject::Subject;
use crate::tolerance::NORM;

/// Columns of rows that invocations hold in registers, that they read several times, and that are not whole words.
const COLS: [usize; 8] = [2, 33, 254, 1000, 4098, 8191, 33_000, 70_002];

/// Number of rows of tests, fewer of long ones.
fn n_rows(cols: usize) -> usize {
    if cols > 5000 { 2 } else { 5 }
}

async fn rows_of(device: &GpuDevice, dtype: DType, rows: usize, cols: usize) -> GpuTensor {
    let mut values = numbers(rows * cols, 210 + cols as u64, 3.0);
    if rows > 3 {
        values[cols] = f32::NAN;
        values[2 * cols + cols / 2] = f32::INFINITY;
    }
    halves(device, dtype, &values, &[rows, cols]).await
}

/// Returns the number of a type's value in the order of its values. All NaNs are one, and both zeros.
fn place(bits: u16, dtype: DType) -> i32 {
    let infinity = if dtype == DType::F16 { 0x7c00 } else { 0x7f80 };
    match i32::from(bits & 0x7fff) {
        magnitude if magnitude > infinity => i32::MAX,
        magnitude if bits >> 15 == 1 => -magnitude,
        magnitude => magnitude,
    }
}

/// Checks that a result is the rounded result in f32 or the number beside it, and that numbers near 0 differ by the tolerance of f32 at most, since
/// sums may be added in another order.
async fn check(what: &str, dtype: DType, half: GpuTensor, wide: GpuTensor) {
    assert_eq!((half.dtype(), wide.dtype()), (dtype, DType::F32), "{what}");
    assert_eq!(half.shape(), wide.shape(), "{what}");
    let exact = to_bits(dtype, &wide.to_vec_async().await.unwrap());
    let found = half.to_bits_async().await.unwrap();
    let values = [&found, &exact].map(|bits| from_bits(dtype, bits));
    for (i, (&found, &exact)) in found.iter().zip(&exact).enumerate() {
        let distance = place(found, dtype).abs_diff(place(exact, dtype));
        let difference = f64::from(values[0][i]) - f64::from(values[1][i]);
        assert!(
            distance <= 1 || difference.abs() <= NORM.absolute,
            "{what} {dtype:?} {:?}: element {i} is {found:#06x}, not {exact:#06x}",
            half.shape()
        );
    }
}

pub async fn rows_of_halves_are_normalised(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        for cols in COLS {
            let rows = n_rows(cols);
            let a = rows_of(device, dtype, rows, cols).await;
            let weight = halves(device, dtype, &numbers(cols, 230, 2.0), &[cols]).await;
            let bias = halves(device, dtype, &numbers(cols, 231, 1.0), &[cols]).await;
            both!(dtype, |a| a.softmax_async());
            both!(dtype, |a| a.log_softmax_async());
            let layer = Norm::Layer { epsilon: 1e-5 };
            both!(dtype, |a, weight, bias| a.norm_async(
                layer,
                Some(weight),
                Some(bias)
            ));
            both!(dtype, |a, bias| a.norm_async(layer, None, Some(bias)));
            let rms = Norm::Rms { epsilon: 1e-5 };
            both!(dtype, |a, weight| a.norm_async(rms, Some(weight), None));
            both!(dtype, |a| a.norm_async(rms, None, None));
        }
        // Rows behind others, where bindings may start and where not, and rows with gaps.
        let a = rows_of(device, dtype, 9, 512).await;
        for part in [
            a.slice(0, 1..9).unwrap(),
            a.slice(1, 0..128).unwrap(),
            a.slice(1, 1..129).unwrap(),
            a.transpose(0, 1).unwrap(),
        ] {
            both!(dtype, |part| part.softmax_async());
            both!(dtype, |part| part.norm_async(
                Norm::Layer { epsilon: 1e-3 },
                None,
                None
            ));
        }
    }
}

pub async fn rows_of_halves_are_reduced(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        for cols in COLS {
            let rows = n_rows(cols);
            let a = rows_of(device, dtype, rows, cols).await;
            let b = rows_of(device, dtype, rows, cols).await;
            for reduction in [
                Reduction::Sum,
                Reduction::Max,
                Reduction::Min,
                Reduction::SumOfSquares,
            ] {
                both!(dtype, |a| a.reduce_async(reduction, &[1]));
                both!(dtype, |a| a.reduce_all_async(reduction));
            }
            both!(dtype, |a, b| a.dot_async(b));
            let short = a.slice(0, 1..2).unwrap();
            both!(dtype, |short| short.reduce_async(Reduction::Max, &[0, 1]));
        }
        // Rows of which parts go into bindings of small devices, and an axis that is not the last.
        let a = halves(device, dtype, &numbers(700 * 90, 232, 2.0), &[700, 9, 10]).await;
        both!(dtype, |a| a.reduce_async(Reduction::Sum, &[1, 2]));
        both!(dtype, |a| a.reduce_async(Reduction::Sum, &[2]));
        both!(dtype, |a| a.reduce_async(Reduction::Max, &[1]));
        both!(dtype, |a| a.reduce_async(Reduction::Min, &[]));
    }
}

pub async fn elements_of_halves_in_every_layout(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        let mut values = numbers(37 * 131, 233, 4.0);
        values[..4].copy_from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0]);
        let a = halves(device, dtype, &values, &[37, 131]).await;
        let b = halves(device, dtype, &numbers(131 * 37, 234, 2.0), &[131, 37]).await;
        let turned = b.transpose(0, 1).unwrap();
        let column = b.slice(1, 5..6).unwrap().slice(0, 3..40).unwrap();
        let single = b.slice(0, 1..2).unwrap().slice(1, 2..3).unwrap();
        let odd = a.slice(0, 1..2).unwrap();
        both!(dtype, |a, turned| a
            .combine_async(&[Step::Add, Step::Tanh], turned));
        both!(dtype, |turned, a| turned.combine_async(&[Step::Sub], a));
        both!(dtype, |a, column| a
            .combine_async(&[Step::Mul, Step::Swish], column));
        both!(dtype, |a, single| a.combine_async(&[Step::Max], single));
        both!(dtype, |odd, column| odd.combine_async(&[Step::Div], column));
        both!(dtype, |odd| odd.apply_async(&[Step::Scale(1e6)]));
        both!(dtype, |single| single.apply_async(&[Step::Reciprocal]));
        // More steps, and more steps of two tensors, than a launch has.
        let steps = [
            Step::Abs,
            Step::Sqrt,
            Step::Exp,
            Step::Scale(0.1),
            Step::Relu,
        ];
        both!(dtype, |a| a.apply_async(&steps));
        both!(dtype, |a, turned| a
            .combine_async(&[Step::Mul, Step::Add], turned));
        // Elements behind the last one of a result are zeros.
        let shape = Shape::vector(5);
        let five = GpuTensor::from_bits_async(device, &[0x3c00; 5], dtype, shape).await;
        let five = five.unwrap().apply_async(&[Step::Offset(1.0)]).await;
        let bytes = five.unwrap().buffer().clone();
        let padded = pagepress::tensor::TensorView::new(Shape::vector(8));
        let all = GpuTensor::from_buffer_of(device, bytes, dtype, padded).unwrap();
        let all = all.to_bits_async().await.unwrap();
        assert_eq!(all[5..], [0; 3], "{dtype:?}");
    }
}
