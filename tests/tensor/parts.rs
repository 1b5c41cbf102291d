//! Tensors that are larger than a binding of 64 KiB: operations cut them, or return an error if they cannot.

use pagepress::tensor::layer::{Attention, LayerConfig, Norm};
use pagepress::tensor::{
    GpuMatmulCache, GpuTensor, Quantization, Reduction, Shape, Step, WeightLayout, cpu,
};

use crate::attention::{case, check, side_by_side, tensors};
use crate::layer::forward;
use crate::layer_model::Model;
use crate::naive::{self, numbers};
use crate::quantized::blocks;
use crate::rotary;
use crate::subject::{Subject, Tensor};
use crate::tolerance::{LAYER, NORM, PRODUCTS, assert_near, of_reduction};

fn tensor(dims: &[usize], seed: u64) -> Tensor {
    Tensor::new(numbers(dims.iter().product(), seed, 2.0), dims)
}

fn permuted(dims: &[usize], axes: &[usize], seed: u64) -> Tensor {
    let tensor = tensor(dims, seed);
    tensor.with_view(tensor.view.permute(axes).unwrap())
}

pub async fn views_beyond_a_binding_are_what_they_show(subject: &Subject) {
    let inner = |dims: &[usize], axis: usize, from: usize, to: usize| {
        let whole = tensor(dims, 41);
        whole.with_view(whole.view.slice(axis, from..to).unwrap())
    };
    for a in [
        permuted(&[300, 401], &[1, 0], 40),
        permuted(&[20, 20_000], &[1, 0], 40),
        permuted(&[20_000, 20], &[1, 0], 40),
        permuted(&[40, 31, 50], &[2, 0, 1], 40),
        permuted(&[40, 31, 50], &[1, 2, 0], 40),
        permuted(&[6, 5, 4, 3, 50], &[4, 0, 3, 1, 2], 40),
        inner(&[700, 301], 1, 3, 210),
        inner(&[3, 40_001], 1, 1, 40_000),
        inner(&[301, 700], 0, 2, 300),
    ] {
        let (found, dims) = subject
            .elementwise(&[Step::Offset(1.0)], &a, None)
            .await
            .unwrap();
        assert_eq!(dims, a.dims());
        let exact: Vec<f32> = a.values().iter().map(|x| x + 1.0).collect();
        assert!(found == exact, "{:?}", a.view);
        // With a row, a column and one element that are broadcast to it, and with another view.
        let rank = dims.len();
        let row = tensor(&dims[rank - 1..], 42);
        let column = tensor(&[&dims[..rank - 1], &[1]].concat(), 43);
        let turned = {
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(0, rank - 1);
            let mut from = dims.clone();
            from.swap(0, rank - 1);
            permuted(&from, &axes, 44)
        };
        for b in [row, column, tensor(&[1], 45), turned] {
            for pair in [[&a, &b], [&b, &a]] {
                let steps = [Step::Scale(2.0), Step::Sub];
                let found = subject.elementwise(&steps, pair[0], Some(pair[1])).await;
                let values = pair.map(|tensor| tensor.values_as(a.view.shape()));
                let exact = values[0].iter().zip(&values[1]).map(|(x, y)| 2.0 * x - y);
                let exact: Vec<f32> = exact.collect();
                assert!(found.unwrap().0 == exact, "{:?} {:?}", a.view, b.view);
            }
        }
    }
}

/// Views of a few elements at various offsets of a buffer that is larger than a binding.
pub async fn small_parts_of_large_buffers_work(subject: &Subject) {
    let whole = tensor(&[100_000], 46);
    for range in [0..100, 64..164, 70..170, 99_900..100_000, 5..6] {
        let part = whole.with_view(whole.view.slice(0, range.clone()).unwrap());
        let n = range.len();
        let (found, _) = subject
            .elementwise(&[Step::Add], &part, Some(&part))
            .await
            .unwrap();
        let values = part.values();
        assert_eq!(found, values.iter().map(|x| x + x).collect::<Vec<_>>());
        let other = tensor(&[30_000, 1], 47);
        let one = part.with_view(part.view.slice(0, 0..1).unwrap());
        let (found, _) = subject
            .elementwise(&[Step::Mul], &other, Some(&one))
            .await
            .unwrap();
        let exact: Vec<f32> = other.values().iter().map(|x| x * values[0]).collect();
        assert_eq!(found, exact);
        let (found, _) = subject.reduce(Reduction::Max, &part, &[0]).await.unwrap();
        assert_eq!(
            f64::from(found[0]),
            naive::reduce(Reduction::Max, &values).0
        );
        let (found, _) = subject.softmax(false, &part).await.unwrap();
        assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        let rows = part.with_view(part.view.reshape(Shape::new(&[1, n]).unwrap()).unwrap());
        let columns = rows.with_view(rows.view.transpose(0, 1).unwrap());
        let (found, _) = subject.matmul(&rows, &columns).await.unwrap().unwrap();
        let (exact, magnitude) = naive::reduce(Reduction::SumOfSquares, &values);
        assert!((f64::from(found[0]) - exact).abs() <= PRODUCTS * magnitude);
        let norm = Norm::Rms { epsilon: 1e-5 };
        let (found, _) = subject
            .norm(norm, &rows, [Some(&part), None])
            .await
            .unwrap();
        assert_eq!(found.len(), n);
        let (found, _) = subject.convolve2d(&rows, &rows).await.unwrap();
        assert!((f64::from(found[0]) - exact).abs() <= PRODUCTS * magnitude);
    }
}

pub async fn axes_beyond_a_binding_reduce(subject: &Subject) {
    let cases: [(&[usize], &[usize]); 10] = [
        (&[3, 1000, 40], &[1]),
        (&[70, 600, 33], &[1]),
        (&[70, 600, 33], &[0]),
        (&[70, 600, 33], &[0, 1]),
        (&[50, 20_000], &[0]),
        (&[5, 20_000], &[1]),
        (&[1000, 300], &[1]),
        (&[3000, 100], &[1]),
        (&[60, 50, 40], &[0, 2]),
        (&[2, 1, 40_000], &[1]),
    ];
    for (dims, axes) in cases {
        let whole = tensor(dims, 48);
        let kept: Vec<usize> = (0..dims.len())
            .filter(|axis| !axes.contains(axis))
            .collect();
        let order = [&kept[..], axes].concat();
        let values = whole
            .with_view(whole.view.permute(&order).unwrap())
            .values();
        let length: usize = axes.iter().map(|&axis| dims[axis]).product();
        for reduction in [Reduction::Sum, Reduction::Min, Reduction::SumOfSquares] {
            let (found, _) = subject.reduce(reduction, &whole, axes).await.unwrap();
            assert_eq!(found.len(), values.len() / length);
            for (found, row) in found.iter().zip(values.chunks(length)) {
                let (exact, magnitude) = naive::reduce(reduction, row);
                let off = (f64::from(*found) - exact).abs();
                let most = of_reduction(reduction) * magnitude;
                assert!(
                    off <= most,
                    "{dims:?} {axes:?} {reduction:?}: {found}, {exact}"
                );
            }
        }
    }
}

pub async fn rows_beyond_a_binding_are_normalised(subject: &Subject) {
    for [rows, cols] in [[300, 200], [301, 77], [7, 16_300], [3, 20_000], [2, 40_001]] {
        let (a, weight, bias) = (
            tensor(&[rows, cols], 49),
            tensor(&[cols], 50),
            tensor(&[cols], 51),
        );
        for norm in [Norm::Rms { epsilon: 1e-5 }, Norm::Layer { epsilon: 1e-3 }] {
            for columns in [
                [None, None],
                [Some(&weight), None],
                [Some(&weight), Some(&bias)],
            ] {
                let (found, _) = subject.norm(norm, &a, columns).await.unwrap();
                let exact = a.elements.chunks(cols).flat_map(|row| {
                    let row: Vec<f64> = row.iter().map(|&x| x.into()).collect();
                    let normal = naive::norm(norm, &row).into_iter().enumerate();
                    let of = |i: usize, columns: Option<&Tensor>, none: f64| {
                        columns.map_or(none, |columns| columns.elements[i].into())
                    };
                    let scaled =
                        normal.map(|(i, x)| x * of(i, columns[0], 1.0) + of(i, columns[1], 0.0));
                    scaled.collect::<Vec<f64>>()
                });
                let what = format!("{rows} x {cols} {norm:?}");
                assert_near(&what, &found, &exact.collect::<Vec<_>>(), NORM);
            }
        }
    }
}

pub async fn pictures_beyond_a_binding_work(subject: &Subject) {
    for (size, kernel_size) in [
        ([300, 301], [3, 3]),
        ([10, 20_000], [3, 3]),
        ([20_000, 10], [3, 3]),
        ([170, 170], [150, 150]),
        ([2, 18_000], [1, 17_000]),
        ([18_000, 2], [17_000, 1]),
    ] {
        let (input, kernel) = (tensor(&size, 52), tensor(&kernel_size, 53));
        let (found, _) = subject.convolve2d(&input, &kernel).await.unwrap();
        let exact = naive::convolve2d(&input.elements, &kernel.elements, size, kernel_size);
        assert_eq!(found.len(), exact.len());
        for (found, (exact, magnitude)) in found.iter().zip(exact) {
            let off = (f64::from(*found) - exact).abs();
            assert!(
                off <= 2.0 * PRODUCTS * magnitude,
                "{size:?} {kernel_size:?}: {found}, {exact}"
            );
        }
    }
}

pub async fn packed_weights_beyond_a_binding_work(subject: &Subject) {
    for (quantization, [m, k, n]) in [
        (Quantization::Q4K, [100, 1024, 300]),
        (Quantization::Q5K, [100, 1024, 300]),
        (Quantization::Q6K, [100, 1024, 300]),
        (Quantization::F16, [70, 1028, 303]),
        (Quantization::Q4K, [3, 20_480, 70]),
        (Quantization::Q6K, [3, 81_920, 3]),
        (Quantization::Q8_0, [70, 1056, 301]),
        (Quantization::Q8_0, [3, 40_000, 5]),
        (Quantization::F16, [2, 40_000, 5]),
        (Quantization::Q5K, [400, 256, 70]),
    ] {
        let packed = blocks(quantization, n * k / quantization.block_len(), 54);
        let mut unpacked = vec![f32::NAN; n * k];
        cpu::dequantize(quantization, &packed, &mut unpacked).unwrap();
        let rows = tensor(&[m, k], 55);
        let (found, dims) = subject
            .matmul_quantized(quantization, &rows, &packed, [n, k])
            .await
            .unwrap();
        assert_eq!(dims, [m, n]);
        let turned: Vec<f32> = (0..n * k).map(|i| unpacked[i % n * k + i / n]).collect();
        let exact = naive::matmul(&rows.elements, &turned, [m, k, n]);
        for (found, (exact, magnitude)) in found.iter().zip(exact) {
            let off = (f64::from(*found) - exact).abs();
            assert!(
                off <= PRODUCTS * magnitude,
                "{quantization:?} {m} {k} {n}: {found}, {exact}"
            );
        }
    }
}

pub async fn heads_beyond_a_binding_work(subject: &Subject) {
    for (causal, window) in [
        (false, None),
        (true, None),
        (true, Some(1)),
        (true, Some(100)),
    ] {
        let what = Attention {
            causal,
            window,
            ..Attention::default()
        };
        for case in [
            case(1, [4, 2], [300, 500], 64),
            case(20, [2, 1], [40, 50], 32),
            case(2, [6, 2], [90, 100], 63),
            case(1, [1, 1], [3, 9000], 64),
            case(1, [1, 1], [70, 1000], 256),
            case(3, [40, 8], [5, 130], 60),
        ] {
            let [q, k, v] = &tensors(&case, 1.0);
            check(subject, &case, what, [q, k, v]).await;
        }
        let case = case(1, [16, 4], [150, 330], 40);
        for gap in [0, 3] {
            let (q, k) = (side_by_side(case.q, 83, gap), side_by_side(case.k, 84, gap));
            let v = side_by_side(case.k, 85, 2 * gap);
            check(subject, &case, what, [&q, &k, &v]).await;
        }
    }
}

pub async fn positions_beyond_a_binding_work(subject: &Subject) {
    // Rows, one row, and the table of turns exceed a binding.
    for ([rows, heads, elements], first) in
        [([300, 9, 34], 11), ([3, 200, 128], 0), ([5, 2, 64], 9000)]
    {
        let a = tensor(&[rows, heads, elements], 92);
        rotary::check(subject, &a, &rotary::turns(first + rows, elements), first).await;
    }
}

pub fn layers_beyond_a_binding_work(subject: &Subject) {
    let wide = LayerConfig {
        n_kv_heads: 40,
        head_dim: 256,
        max_positions: 64,
        ..LayerConfig::decoder(8, 80, 16)
    };
    let long = LayerConfig {
        n_kv_heads: 2,
        ..LayerConfig::decoder(64, 4, 200)
    };
    let encoder = LayerConfig::encoder(60, 3, 100);
    for (config, n) in [(wide, 5), (long, 300), (encoder, 350)] {
        let model = Model::new(config, true);
        let input = numbers(n * model.config.hidden, 91, 1.0);
        let found = forward(subject, &model, None, &input);
        let exact = model.exact(None, &input);
        assert_near(
            &format!("{n} rows of {:?}", model.config),
            &found,
            &exact,
            LAYER,
        );
    }
}

pub async fn what_cannot_be_cut_is_a_typed_error(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    // The partial results of one query for so many keys do not fit in a binding.
    let n = 900_000;
    let one = |n: usize| Shape::new(&[1, n, 1]).unwrap();
    let keys = GpuTensor::from_slice_async(device, &vec![0.5; n], one(n))
        .await
        .unwrap();
    let keys = keys.broadcast_to(&Shape::new(&[1, n, 1]).unwrap()).unwrap();
    let wide = Shape::new(&[1, n, 16]).unwrap();
    let wide = keys
        .broadcast_to(&wide)
        .unwrap()
        .contiguous_async()
        .await
        .unwrap();
    let query = Shape::new(&[1, 1, 16]).unwrap();
    let query = GpuTensor::from_slice_async(device, &[1.0; 16], query)
        .await
        .unwrap();
    let error = query
        .attention_async(&wide, &wide, Attention::default())
        .await
        .unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    let text = error.to_string();
    assert!(
        text.contains("57600000 bytes") && text.contains("65536"),
        "{text}"
    );
    // A weight matrix with one row, which cannot be cut.
    let mut cache = GpuMatmulCache::new(device.clone());
    let weights = vec![1.0; 20_000];
    let uploaded = cache.upload_weight_async("wide", &weights, 1, 20_000, WeightLayout::InputRows);
    assert_eq!(uploaded.await.unwrap_err().code(), "INVALID_ARGUMENT");
}
