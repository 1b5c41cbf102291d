//! Epilogues of matrix products, compared with sums and functions in double precision.

use pagepress::Error;
use pagepress::gpu::{Backend, GpuDevice};
use pagepress::tensor::{
    Activation, DType, Epilogue, GpuCommandBatch, GpuTensor, Precision, Shape, Step,
};

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::{PRODUCTS, of_step};

const ACTIVATIONS: [Activation; 6] = [
    Activation::Relu,
    Activation::Sigmoid,
    Activation::Tanh,
    Activation::Swish,
    Activation::Gelu,
    Activation::GeluTanh,
];

/// Returns epilogues of all kinds: every activation with both tensors, and each part alone.
fn epilogues<T: Copy>(bias: T, residual: T) -> Vec<Epilogue<T>> {
    let all = |activation| Epilogue {
        bias: Some(bias),
        activation: Some(activation),
        residual: Some(residual),
    };
    let none = Epilogue::default();
    let alone = [
        Epilogue {
            bias: Some(bias),
            ..none
        },
        Epilogue {
            activation: Some(Activation::Swish),
            ..none
        },
        Epilogue {
            residual: Some(residual),
            ..none
        },
    ];
    ACTIVATIONS.into_iter().map(all).chain(alone).collect()
}

fn matrix(rows: usize, cols: usize, seed: u64, is_transposed: bool) -> Tensor {
    let values = numbers(rows * cols, seed, 1.0);
    if !is_transposed {
        return Tensor::new(values, &[rows, cols]);
    }
    let tensor = Tensor::new(values, &[cols, rows]);
    tensor.with_view(tensor.view.transpose(0, 1).unwrap())
}

/// Compares a result with what an epilogue makes of exact sums and the sums of their magnitudes.
fn check(what: &str, found: &[f32], sums: &[(f64, f64)], n: usize, epilogue: Epilogue<&[f32]>) {
    assert_eq!(found.len(), sums.len(), "{what}");
    for (i, (&found, &(sum, magnitude))) in found.iter().zip(sums).enumerate() {
        let bias = epilogue.bias.map_or(0.0, |bias| f64::from(bias[i % n]));
        let sum = sum + bias;
        // No activation is steeper than 1.2.
        let mut room = 1.2 * PRODUCTS * (magnitude + bias.abs()) + 1e-30;
        let mut exact = sum;
        if let Some(activation) = epilogue.activation {
            exact = naive::step(activation.step(), sum as f32, 0.0);
            room += of_step(activation.step()).relative * exact.abs();
        }
        if let Some(residual) = epilogue.residual {
            let residual = f64::from(residual[i]);
            room += 2e-7 * (exact.abs() + residual.abs());
            exact += residual;
        }
        let off = (f64::from(found) - exact).abs();
        assert!(
            off <= room,
            "{what}: element {i} is {found}, exactly {exact}, within {room}"
        );
    }
}

pub async fn epilogues_of_any_size_work(subject: &Subject) {
    let sizes = [
        [1, 1, 1],
        [3, 17, 5],
        [33, 31, 35],
        [64, 64, 64],
        [130, 36, 140],
        [1, 300, 100],
        // Sums in slices.
        [20, 5000, 24],
        [7, 0, 3],
        [0, 4, 3],
        [300, 8, 2600],
    ];
    for size @ [m, k, n] in sizes {
        // Kernels take long to compile on software GPUs: one epilogue for those of large tiles, and in browsers all epilogues for one kernel.
        let is_large = m * n > 1 << 14;
        let is_in_browser = cfg!(target_arch = "wasm32");
        for transposed in [[false, false], [true, true]] {
            if is_large && transposed[0] {
                continue;
            }
            let has_few = is_large || (is_in_browser && (size != [33, 31, 35] || transposed[0]));
            let a = matrix(m, k, 14, transposed[0]);
            let b = matrix(k, n, 15, transposed[1]);
            let bias = Tensor::new(numbers(n, 16, 1.0), &[n]);
            let residual = matrix(m, n, 17, transposed[0]);
            let sums = naive::matmul(&a.values(), &b.values(), size);
            let (of_bias, of_residual) = (bias.values(), residual.values());
            for epilogue in epilogues(&bias, &residual) {
                if has_few && epilogue.activation != Some(Activation::Gelu) {
                    continue;
                }
                let what = format!("{size:?} {transposed:?} {:?}", names(epilogue));
                let (found, dims) = subject.matmul_with(&a, &b, epilogue).await.unwrap();
                assert_eq!(dims, [m, n], "{what}");
                let given = Epilogue {
                    bias: epilogue.bias.map(|_| &of_bias[..]),
                    activation: epilogue.activation,
                    residual: epilogue.residual.map(|_| &of_residual[..]),
                };
                check(&what, &found, &sums, n, given);
            }
        }
    }
}

fn names<T>(epilogue: Epilogue<T>) -> (bool, Option<Activation>, bool) {
    let Epilogue { bias, residual, .. } = &epilogue;
    (bias.is_some(), epilogue.activation, residual.is_some())
}

/// Numbers that are not finite stay in their rows and columns, as documented for each activation.
pub async fn epilogues_of_special_numbers_are_as_documented(subject: &Subject) {
    // In browsers, whose software GPU takes long to compile kernels, as many rows as the kernel of the test above has.
    let (m, n) = if cfg!(target_arch = "wasm32") {
        (35, 40)
    } else {
        (5, 40)
    };
    let specials = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 3e38];
    // Each row of the product is one of the numbers.
    let a = Tensor::new(specials.repeat(m / specials.len()), &[m, 1]);
    let b = Tensor::new(vec![1.0; n], &[1, n]);
    let mut bias = vec![0.0; n];
    bias[7] = f32::NAN;
    let mut residual = vec![0.5; m * n];
    residual[3 * n + 9] = f32::NAN;
    residual[3 * n + 10] = f32::INFINITY;
    let (bias, residual) = (Tensor::new(bias, &[n]), Tensor::new(residual, &[m, n]));
    for epilogue in epilogues(&bias, &residual) {
        let (found, _) = subject.matmul_with(&a, &b, epilogue).await.unwrap();
        for (i, &found) in found.iter().enumerate() {
            let (row, column) = (i / n, i % n);
            let mut x = specials[row % specials.len()];
            if let Some(bias) = epilogue.bias {
                x += bias.elements[column];
            }
            if let Some(activation) = epilogue.activation {
                x = naive::step(activation.step(), x, 0.0) as f32;
            }
            if let Some(residual) = epilogue.residual {
                x += residual.elements[i];
            }
            let what = format!("{:?} {row}, {column}: {found} for {x}", names(epilogue));
            if x.is_finite() {
                assert!((found - x).abs() <= 1e-5 * x.abs().max(1e-30), "{what}");
            } else {
                assert!(found == x || (found.is_nan() && x.is_nan()), "{what}");
            }
        }
    }
}

fn shape(dims: &[usize]) -> Shape {
    Shape::new(dims).unwrap()
}

async fn upload(device: &GpuDevice, values: &[f32], dims: &[usize]) -> GpuTensor {
    let tensor = GpuTensor::from_slice_async(device, values, shape(dims)).await;
    tensor.unwrap()
}

/// An epilogue that changes nothing leaves the bits of the product, also in batches of products, and of vectors.
pub async fn epilogues_of_batches_and_vectors_work(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for [a_dims, b_dims] in [
        [&[3, 1, 20, 30][..], &[2, 30, 25][..]],
        [&[4, 20, 30], &[30, 25]],
        [&[30], &[30, 25]],
        [&[20, 30], &[30]],
        [&[30], &[30]],
        [&[2, 3, 700], &[2, 700, 5]],
    ] {
        let size = |dims: &[usize]| dims.iter().product();
        let a = upload(device, &numbers(size(a_dims), 1, 1.0), a_dims).await;
        let b = upload(device, &numbers(size(b_dims), 2, 1.0), b_dims).await;
        let product = a.matmul_async(&b).await.unwrap();
        let same = a
            .matmul_with_epilogue_async(&b, Precision::F32, Epilogue::default())
            .await;
        let (product_values, same) = (
            product.to_vec_async().await.unwrap(),
            same.unwrap().to_vec_async().await.unwrap(),
        );
        assert_eq!(bits(&product_values), bits(&same), "{a_dims:?} {b_dims:?}");
        let n = if b_dims.len() == 1 {
            1
        } else {
            25.min(b_dims[b_dims.len() - 1])
        };
        let bias = numbers(n, 3, 1.0);
        let residual = numbers(product_values.len(), 4, 1.0);
        let bias_tensor = upload(device, &bias, &[n]).await;
        let residual_tensor = upload(device, &residual, product.shape().dims()).await;
        let epilogue = Epilogue {
            bias: Some(&bias_tensor),
            activation: Some(Activation::Tanh),
            residual: Some(&residual_tensor),
        };
        let found = a.matmul_with_epilogue_async(&b, Precision::F32, epilogue);
        let found = found.await.unwrap();
        assert_eq!(found.shape(), product.shape());
        let sums: Vec<(f64, f64)> = product_values
            .iter()
            .map(|&x| (f64::from(x), 30.0 + f64::from(x.abs())))
            .collect();
        let given = Epilogue {
            bias: Some(&bias[..]),
            activation: Some(Activation::Tanh),
            residual: Some(&residual[..]),
        };
        let what = format!("{a_dims:?} {b_dims:?}");
        let found = found.to_vec_async().await.unwrap();
        check(&what, &found, &sums, n, given);
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Creates a matrix of whole numbers from -4 to 4, whose products are exact in every type.
async fn whole_numbers(device: &GpuDevice, dims: &[usize], seed: u64) -> GpuTensor {
    let values = numbers(dims.iter().product(), seed, 4.0);
    let values: Vec<f32> = values.iter().map(|x| x.round()).collect();
    upload(device, &values, dims).await
}

/// On matrix units, of every form of tiles and in slices of k: exact results of whole numbers.
pub async fn epilogues_on_matrix_units_are_those_of_f32(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let sizes: &[[usize; 3]] = if device.capabilities().warpgroup_matrices {
        &[
            [500, 520, 200],
            [1000, 1008, 136],
            [1400, 1392, 520],
            [2000, 2040, 264],
            [2001, 2043, 264],
            [130, 264, 4096],
        ]
    } else if cfg!(target_arch = "wasm32") {
        &[[65, 67, 40]]
    } else {
        &[[130, 264, 136], [65, 67, 40]]
    };
    for &[m, n, k] in sizes {
        let a = whole_numbers(device, &[m, k], 1).await;
        let b = whole_numbers(device, &[n, k], 2)
            .await
            .transpose(0, 1)
            .unwrap();
        let bias = whole_numbers(device, &[n], 3).await;
        let residual = whole_numbers(device, &[m, n], 4).await;
        let product = a.matmul_async(&b).await.unwrap();
        let steps = [Step::Add, Step::Relu];
        let expected = product.combine_async(&steps, &bias).await.unwrap();
        let expected = expected.combine_async(&[Step::Add], &residual).await;
        let expected = expected.unwrap().to_vec_async().await.unwrap();
        let epilogue = Epilogue {
            bias: Some(&bias),
            activation: Some(Activation::Relu),
            residual: Some(&residual),
        };
        for precision in [Precision::F32, Precision::Tf32] {
            let found = a.matmul_with_epilogue_async(&b, precision, epilogue);
            let found = found.await.unwrap().to_vec_async().await.unwrap();
            let wrong = found.iter().zip(&expected).position(|(x, y)| x != y);
            assert_eq!(wrong, None, "{precision:?} {m} {n} {k}");
        }
        for dtype in [DType::F16, DType::BF16] {
            let [a, b] = [a.cast_async(dtype).await, b.cast_async(dtype).await];
            // Bias and residual of f32 give a result of f32.
            let (a, b) = (a.unwrap(), b.unwrap());
            let found = a.matmul_with_epilogue_async(&b, Precision::F32, epilogue);
            let found = found.await.unwrap();
            assert_eq!(found.dtype(), DType::F32);
            let found = found.to_vec_async().await.unwrap();
            let wrong = found.iter().zip(&expected).position(|(x, y)| x != y);
            assert_eq!(wrong, None, "{dtype:?} {m} {n} {k}");
            // Those of the type of the factors are rounded once.
            let bias = bias.cast_async(dtype).await.unwrap();
            let residual = residual.cast_async(dtype).await.unwrap();
            let epilogue = Epilogue {
                bias: Some(&bias),
                residual: Some(&residual),
                ..epilogue
            };
            let found = a.matmul_with_epilogue_async(&b, Precision::F32, epilogue);
            let found = found.await.unwrap();
            assert_eq!(found.dtype(), dtype);
            let found = found.to_vec_async().await.unwrap();
            let rounded = upload(device, &expected, &[m, n]).await;
            let rounded = rounded.cast_async(dtype).await.unwrap();
            let rounded = rounded.to_vec_async().await.unwrap();
            let wrong = found.iter().zip(&rounded).position(|(x, y)| x != y);
            assert_eq!(wrong, None, "{dtype:?} {m} {n} {k}, rounded");
        }
    }
}

/// A batch gives the results of single operations; vectors are taken as matrices.
pub async fn epilogues_in_batches_give_the_same(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let size @ [m, k, n] = [37, 45, 29];
    let values = [
        numbers(m * k, 5, 1.0),
        numbers(k * n, 6, 1.0),
        numbers(n, 7, 1.0),
        numbers(m * n, 8, 1.0),
    ];
    let a = upload(device, &values[0], &[m, k]).await;
    let b = upload(device, &values[1], &[k, n]).await;
    let bias = upload(device, &values[2], &[n]).await;
    let residual = upload(device, &values[3], &[m, n]).await;
    for epilogue in epilogues(&bias, &residual).into_iter().skip(5) {
        let expected = a.matmul_with_epilogue_async(&b, Precision::F32, epilogue);
        let expected = expected.await.unwrap().to_vec_async().await.unwrap();
        let mut batch = GpuCommandBatch::new(device.clone());
        let ids = values.each_ref().map(|values| batch.upload(values));
        let epilogue = Epilogue {
            bias: epilogue.bias.map(|_| ids[2]),
            activation: epilogue.activation,
            residual: epilogue.residual.map(|_| ids[3]),
        };
        let id = batch.matmul_with_epilogue([ids[0], ids[1]], epilogue, size);
        batch.execute_async().await.unwrap();
        let found = batch.read_async(id).await.unwrap();
        assert_eq!(bits(&found), bits(&expected), "{:?}", names(epilogue));
    }
    let mut batch = GpuCommandBatch::new(device.clone());
    let ids = values.each_ref().map(|values| batch.upload(values));
    let epilogue = Epilogue {
        bias: Some(ids[3]),
        ..Epilogue::default()
    };
    batch.matmul_with_epilogue([ids[0], ids[1]], epilogue, size);
    let wrong = batch.execute_async().await;
    assert!(
        matches!(wrong, Err(Error::LengthMismatch { name: "bias", .. })),
        "{wrong:?}"
    );
}

pub async fn wrong_epilogues_are_typed_errors(subject: &Subject) {
    let a = matrix(3, 4, 1, false);
    let b = matrix(4, 5, 2, false);
    let right = (matrix(1, 5, 3, false), matrix(3, 5, 4, false));
    let row = Tensor::new(right.0.elements.clone(), &[5]);
    for [bias, residual] in [
        [&matrix(1, 4, 3, false), &right.1],
        [&Tensor::new(vec![0.0; 3], &[3]), &right.1],
        [&row, &matrix(5, 3, 4, true)],
        [&row, &matrix(1, 5, 4, false)],
        [&row, &Tensor::new(vec![0.0; 16], &[16])],
    ] {
        let is_right = residual.dims() == [3, 5] && bias.dims() == [5];
        let epilogue = Epilogue {
            bias: Some(bias),
            activation: None,
            residual: Some(residual),
        };
        let found = subject.matmul_with(&a, &b, epilogue).await;
        if is_right {
            found.unwrap();
            continue;
        }
        let is_typed = match subject {
            Subject::Cpu => {
                let n = bias.elements.len();
                let is_length = matches!(found, Err(Error::LengthMismatch { .. }));
                is_length || (n == 5 && residual.elements.len() == 15)
            }
            Subject::Gpu(_) => matches!(
                found,
                Err(Error::ShapeMismatch {
                    operation: "matmul",
                    ..
                })
            ),
        };
        assert!(is_typed, "{bias:?} {residual:?}");
    }
}
