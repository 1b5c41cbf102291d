//! Tensors of 16 bits: conversions give the CPU's bits, and operations the rounded results of the operations in f32.

use pagepress::gpu::GpuDevice;
use pagepress::tensor::layer::{Attention, Norm};
use pagepress::tensor::{
    DType, GpuCommandBatch, GpuTensor, Quantization, QuantizedWeights, Reduction, Shape, Step,
    TensorView, cpu,
};

use crate::naive::numbers;
use crate::subject::{Subject, Tensor};

pub const HALVES: [DType; 2] = [DType::F16, DType::BF16];

pub fn to_bits(dtype: DType, values: &[f32]) -> Vec<u16> {
    let mut bits = vec![0; values.len()];
    cpu::to_bits(dtype, values, &mut bits).unwrap();
    bits
}

pub fn from_bits(dtype: DType, bits: &[u16]) -> Vec<f32> {
    let mut values = vec![0.0; bits.len()];
    cpu::from_bits(dtype, bits, &mut values).unwrap();
    values
}

fn words(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

pub async fn halves(device: &GpuDevice, dtype: DType, values: &[f32], dims: &[usize]) -> GpuTensor {
    let shape = Shape::new(dims).unwrap();
    let tensor = GpuTensor::from_bits_async(device, &to_bits(dtype, values), dtype, shape).await;
    tensor.unwrap()
}

/// Returns f32 numbers around every number of the type, the midpoints between them, and special numbers.
fn hard_numbers(dtype: DType) -> Vec<f32> {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let mut values = from_bits(dtype, &all);
    for pair in from_bits(dtype, &all).windows(2) {
        let middle = f64::midpoint(pair[0].into(), pair[1].into()) as f32;
        values.extend([middle, middle.next_up(), middle.next_down()]);
    }
    values.extend([
        f32::MAX,
        -f32::MAX,
        65_519.996,
        65_520.0,
        -65_520.0,
        0.0,
        -0.0,
    ]);
    values.extend([
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        -f32::from_bits(0x7f_ffff),
    ]);
    values.extend([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN]);
    values.extend([0x7f80_0001, 0xffff_ffff, 0x7fbf_0000].map(f32::from_bits));
    values
}

pub async fn all_bits_convert_as_on_the_cpu(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        let bits: Vec<u16> = (0..=u16::MAX).collect();
        let shape = Shape::vector(bits.len());
        let tensor = GpuTensor::from_bits_async(device, &bits, dtype, shape)
            .await
            .unwrap();
        assert_eq!(tensor.dtype(), dtype);
        assert_eq!(tensor.to_bits_async().await.unwrap(), bits);
        let values = from_bits(dtype, &bits);
        let read = tensor.to_vec_async().await.unwrap();
        assert_eq!(words(&read), words(&values), "{dtype:?}");
        let wide = tensor.cast_async(DType::F32).await.unwrap();
        assert_eq!(wide.dtype(), DType::F32);
        for to in HALVES {
            let cast = tensor
                .cast_async(to)
                .await
                .unwrap()
                .to_bits_async()
                .await
                .unwrap();
            let exact = if to == dtype {
                bits.clone()
            } else {
                to_bits(to, &values)
            };
            assert_eq!(cast, exact, "{dtype:?} to {to:?}");
        }
    }
}

pub async fn numbers_are_rounded_as_on_the_cpu(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        let values = hard_numbers(dtype);
        let shape = Shape::vector(values.len());
        let tensor = GpuTensor::from_slice_async(device, &values, shape)
            .await
            .unwrap();
        let bits = tensor
            .cast_async(dtype)
            .await
            .unwrap()
            .to_bits_async()
            .await
            .unwrap();
        for (i, exact) in to_bits(dtype, &values).into_iter().enumerate() {
            assert_eq!(bits[i], exact, "{dtype:?} {:08x}", values[i].to_bits());
        }
    }
}

/// Returns views with odd offsets, odd lengths, permuted and repeated axes.
fn views(of: &GpuTensor) -> Vec<GpuTensor> {
    let rank = of.shape().rank();
    let mut views = vec![of.clone()];
    for axis in 0..rank {
        let dim = of.shape().dims()[axis];
        views.push(of.slice(axis, dim / 3..dim).unwrap());
        views.push(of.slice(axis, 1..dim.div_ceil(2)).unwrap());
        views.push(of.slice(axis, dim / 2..dim / 2).unwrap());
        views.push(of.slice(axis, dim - 1..dim).unwrap());
    }
    let turned: Vec<GpuTensor> = views
        .iter()
        .flat_map(|view| (1..rank).map(|axis| view.transpose(0, axis).unwrap()))
        .collect();
    views.extend(turned);
    let repeated: Vec<GpuTensor> = views
        .iter()
        .map(|view| {
            let dims = [&[3], view.shape().dims()].concat();
            view.broadcast_to(&Shape::new(&dims).unwrap()).unwrap()
        })
        .collect();
    views.extend(repeated);
    views
}

pub async fn views_convert_as_they_are(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for (dims, from) in [
        (&[5, 7][..], DType::F32),
        (&[5, 7], DType::F16),
        (&[3, 4, 5], DType::BF16),
        (&[2, 3, 1, 7], DType::F16),
        (&[129, 67], DType::BF16),
        (&[129, 67], DType::F32),
        // Larger than the smallest bindings.
        (&[211, 331], DType::F16),
        (&[211, 331], DType::F32),
    ] {
        let whole = Tensor::new(numbers(dims.iter().product(), 90, 70_000.0), dims);
        let shape = whole.view.shape().clone();
        let given = GpuTensor::from_slice_async(device, &whole.elements, shape)
            .await
            .unwrap();
        let given = given.cast_async(from).await.unwrap();
        let elements = given.to_vec_async().await.unwrap();
        for view in views(&given) {
            let values = Tensor {
                elements: elements.clone(),
                view: view.view().clone(),
            }
            .values();
            let what = format!("{from:?} {:?}", view.view());
            assert_eq!(view.to_vec_async().await.unwrap(), values, "{what}");
            for to in [DType::F32, DType::F16, DType::BF16] {
                let cast = view.cast_async(to).await.unwrap();
                assert_eq!((cast.dtype(), cast.shape()), (to, view.shape()));
                if to == DType::F32 {
                    assert_eq!(cast.to_vec_async().await.unwrap(), values, "{what}");
                } else {
                    let bits = cast.to_bits_async().await.unwrap();
                    assert_eq!(bits, to_bits(to, &values), "{what} to {to:?}");
                }
            }
            let copy = view.contiguous_async().await.unwrap();
            assert_eq!(copy.dtype(), from);
            assert_eq!(copy.to_vec_async().await.unwrap(), values, "{what}");
        }
    }
}

/// Checks that a result in the type is the rounded result in f32.
async fn check(what: &str, dtype: DType, half: GpuTensor, wide: GpuTensor) {
    assert_eq!((half.dtype(), wide.dtype()), (dtype, DType::F32), "{what}");
    assert_eq!(half.shape(), wide.shape(), "{what}");
    let exact = to_bits(dtype, &wide.to_vec_async().await.unwrap());
    assert_eq!(
        half.to_bits_async().await.unwrap(),
        exact,
        "{what} {dtype:?}"
    );
    // Views of results show what they show of f32.
    let values = half.to_vec_async().await.unwrap();
    assert_eq!(words(&values), words(&from_bits(dtype, &exact)), "{what}");
}

/// Calls a method on tensors of 16 bits and on the same tensors in f32, and compares the results by the `check` of the file.
macro_rules! both {
    ($dtype:expr, |$($name:ident),+| $body:expr) => {{
        let half = { $(let $name = &$name;)+ $body.await.unwrap() };
        let wide = {
            $(let $name = &$name.cast_async(DType::F32).await.unwrap();)+
            $body.await.unwrap()
        };
        check(stringify!($body), $dtype, half, wide).await;
    }};
}
pub(crate) use both;

pub async fn operations_round_the_results_of_f32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        let make = async |dims: &[usize], seed| {
            let values = numbers(dims.iter().product(), seed, 2.0);
            halves(device, dtype, &values, dims).await
        };
        let (a, b) = (make(&[33, 47], 91).await, make(&[33, 47], 92).await);
        let (row, turned) = (make(&[47], 93).await, a.transpose(0, 1).unwrap());
        let odd = a.slice(1, 3..40).unwrap();
        both!(dtype, |a| a.apply_async(&[Step::Gelu, Step::Scale(3.0)]));
        both!(dtype, |turned| turned.apply_async(&[Step::Exp]));
        both!(dtype, |a, b| a.combine_async(&[Step::Mul, Step::Tanh], b));
        both!(dtype, |a, row| a.combine_async(&[Step::Add], row));
        both!(dtype, |a| a.reduce_async(Reduction::Sum, &[0]));
        both!(dtype, |odd| odd.reduce_async(Reduction::Max, &[1]));
        both!(dtype, |turned| turned
            .reduce_all_async(Reduction::SumOfSquares));
        both!(dtype, |a, b| a.dot_async(b));
        both!(dtype, |odd| odd.softmax_async());
        both!(dtype, |a| a.log_softmax_async());
        both!(dtype, |a, turned| a.matmul_async(turned));
        both!(dtype, |a, row| a.matmul_async(row));
        let kernel = make(&[3, 5], 94).await;
        both!(dtype, |odd, kernel| odd.convolve2d_async(kernel));
        let norm = Norm::Layer { epsilon: 1e-5 };
        both!(dtype, |a, row| a.norm_async(norm, Some(row), Some(row)));
        let (heads, turns) = (make(&[5, 3, 8], 95).await, make(&[9, 8], 96).await);
        both!(dtype, |heads, turns| heads.rotary_async(turns, 2));
        // Heads of whole units of 8 elements are not computed in f32 where there are matrix units.
        let (q, k, v) = (
            make(&[2, 7, 12], 97).await,
            make(&[2, 9, 12], 98).await,
            make(&[2, 9, 12], 99).await,
        );
        let what = Attention::default();
        both!(dtype, |q, k, v| q.attention_async(k, v, what));
        let packed = cpu::to_f16(&numbers(6 * 48, 100, 1.0)).unwrap();
        let weights = QuantizedWeights::upload_async(device, Quantization::F16, &packed, [6, 48]);
        let weights = weights.await.unwrap();
        let rows = make(&[5, 48], 101).await;
        both!(dtype, |rows| weights.matmul_async(rows));
        let empty = a.slice(0, 4..4).unwrap();
        both!(dtype, |empty| empty.apply_async(&[Step::Relu]));
        both!(dtype, |empty, turned| empty.matmul_async(turned));
    }
}

pub async fn mixed_types_give_f32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let values = numbers(6 * 6, 102, 2.0);
    let wide = GpuTensor::from_slice_async(device, &values, Shape::new(&[6, 6]).unwrap());
    let wide = wide.await.unwrap();
    let (f16, bf16) = (
        wide.cast_async(DType::F16).await.unwrap(),
        wide.cast_async(DType::BF16).await.unwrap(),
    );
    for (a, b) in [(&f16, &wide), (&wide, &bf16), (&f16, &bf16)] {
        let product = a.matmul_async(b).await.unwrap();
        assert_eq!(product.dtype(), DType::F32);
        let wide = [
            a.cast_async(DType::F32).await,
            b.cast_async(DType::F32).await,
        ];
        let [a_wide, b_wide] = wide.map(Result::unwrap);
        let exact = a_wide.matmul_async(&b_wide).await.unwrap();
        let exact = exact.to_vec_async().await.unwrap();
        assert_eq!(product.to_vec_async().await.unwrap(), exact);
        let sum = a.combine_async(&[Step::Add], b).await.unwrap();
        assert_eq!(sum.dtype(), DType::F32);
    }
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let product = f16.matmul_to_async(&f16, dtype).await.unwrap();
        assert_eq!(product.dtype(), dtype);
        let again = f16.matmul_to_async(&f16, DType::F32).await.unwrap();
        let again = again.cast_async(dtype).await.unwrap();
        let found = product.to_vec_async().await.unwrap();
        assert_eq!(found, again.to_vec_async().await.unwrap(), "{dtype:?}");
    }
}

pub async fn batches_take_halves(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        let a = halves(device, dtype, &numbers(15 * 9, 103, 2.0), &[15, 9]).await;
        let mut batch = GpuCommandBatch::new(device.clone());
        let id = batch.tensor(&a);
        let scaled = batch.scale(id, 0.3);
        let sum = batch.add(scaled, id);
        let sums = batch.softmax(sum);
        batch.execute_async().await.unwrap();
        let step = |tensor: GpuTensor| async move { tensor.apply_async(&[Step::Scale(0.3)]).await };
        let exact = step(a.clone()).await.unwrap();
        let exact = exact.combine_async(&[Step::Add], &a).await.unwrap();
        let exact = exact.softmax_async().await.unwrap();
        let found = batch.result_async(sums).await.unwrap();
        assert_eq!(found.dtype(), dtype);
        let bits = found.to_bits_async().await.unwrap();
        assert_eq!(bits, exact.to_bits_async().await.unwrap());
        assert_eq!(
            batch.read_async(id).await.unwrap(),
            a.to_vec_async().await.unwrap()
        );
    }
}

pub async fn wrong_halves_are_typed_errors(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let shape = Shape::vector(5);
    let from_bits = async |bits: &[u16], dtype| {
        let made = GpuTensor::from_bits_async(device, bits, dtype, shape.clone()).await;
        made.map(|tensor| tensor.dtype())
            .map_err(|error| error.code())
    };
    assert_eq!(from_bits(&[0; 5], DType::F16).await, Ok(DType::F16));
    assert_eq!(from_bits(&[0; 4], DType::F16).await, Err("LENGTH_MISMATCH"));
    assert_eq!(
        from_bits(&[0; 6], DType::BF16).await,
        Err("LENGTH_MISMATCH")
    );
    assert_eq!(
        from_bits(&[0; 5], DType::F32).await,
        Err("INVALID_ARGUMENT")
    );
    let wide = GpuTensor::from_slice_async(device, &[1.0; 5], shape.clone())
        .await
        .unwrap();
    let wrong = wide.to_bits_async().await.map_err(|error| error.code());
    assert_eq!(wrong, Err("INVALID_ARGUMENT"));
    // 32 bytes are 8 elements of f32, and 16 of 16 bits.
    let of = |dtype, n| {
        let view = TensorView::new(Shape::vector(n));
        let made = GpuTensor::from_buffer_of(device, wide.buffer().clone(), dtype, view);
        made.map(|tensor| tensor.dtype())
            .map_err(|error| error.code())
    };
    assert_eq!(of(DType::F16, 16), Ok(DType::F16));
    assert_eq!(of(DType::F16, 17), Err("LENGTH_MISMATCH"));
    assert_eq!(of(DType::F32, 8), Ok(DType::F32));
    assert_eq!(of(DType::F32, 9), Err("LENGTH_MISMATCH"));
    let other = device.reopen_async().await.unwrap();
    let there = halves(&other, DType::F16, &[1.0; 5], &[5]).await;
    let here = halves(device, DType::F16, &[1.0; 5], &[5]).await;
    let wrong = here.combine_async(&[Step::Add], &there).await;
    assert_eq!(
        wrong.map_err(|error| error.code()).err(),
        Some("INVALID_ARGUMENT")
    );
    let wrong = here.matmul_async(&there).await;
    assert!(wrong.is_err());
    let view = TensorView::new(Shape::vector(5));
    let wrong = GpuTensor::from_buffer_of(device, there.buffer().clone(), DType::F16, view);
    assert_eq!(
        wrong.map_err(|error| error.code()).err(),
        Some("INVALID_ARGUMENT")
    );
    assert_eq!(here.to_vec_async().await.unwrap(), [1.0; 5]);
}
