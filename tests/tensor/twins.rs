//! The CPU's operations alone: lengths of any size, and the precision of long sums.

use pagepress::Result;
use pagepress::gpu::runtime::block_on;
use pagepress::tensor::layer::{Attention, LayerConfig, LayerWeights, Norm};
use pagepress::tensor::{
    GpuBackend, Quantization, Reduction, Shape, TensorView, cpu, tiled_reduce_partial,
};
use pagepress::tensor::{SumOp, tiled_max_2d, tiled_sum_2d};
use pagepress_test_harness::test;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::naive::{self, numbers};

/// Returns lengths: small ones, and some whose products overflow 64 bits.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        6 => 0_usize..4,
        4 => prop::sample::select(vec![5, 7, 16, 17, 33, 64, 256]),
        3 => prop::sample::select(vec![
            1 << 31,
            1 << 32,
            1 << 40,
            (1 << 62) + 1,
            (1 << 62) + 4,
            (1 << 63) + 1,
            usize::MAX,
        ]),
    ]
}

/// Returns as many elements as the product of the lengths, which may wrap, or one more; 3 instead of more than 65,536.
fn elements(dims: &[usize], one_more: bool) -> Vec<f32> {
    let n = dims.iter().fold(1_usize, |n, &dim| n.wrapping_mul(dim));
    let n = if n <= 1 << 16 { n } else { 3 };
    numbers(n + usize::from(one_more), 5 + n as u64, 2.0)
}

/// Returns the product of lengths, or `None` if it overflows.
fn exact(dims: &[usize]) -> Option<usize> {
    if dims.contains(&0) {
        return Some(0);
    }
    dims.iter().try_fold(1_usize, |n, &dim| n.checked_mul(dim))
}

/// Returns true if the number of elements of every slice is the product of its lengths.
fn fit(slices: &[(usize, &[usize])]) -> bool {
    slices.iter().all(|(n, dims)| exact(dims) == Some(*n))
}

fn run<S: Strategy>(strategy: S, test: impl Fn(S::Value)) {
    let config = Config {
        cases: 2000,
        failure_persistence: None,
        ..Config::default()
    };
    let all = TestRunner::new(config).run(&strategy, |value| {
        test(value);
        Ok(())
    });
    all.unwrap();
}

fn assert_sums(found: &[f32], exact: impl IntoIterator<Item = (f64, f64)>, relative: f64) {
    for (found, (exact, magnitude)) in found.iter().zip(exact) {
        let off = (f64::from(*found) - exact).abs();
        assert!(off <= relative * magnitude, "{found}, exactly {exact}");
    }
}

/// Asserts that an error has one of the codes for wrong lengths.
fn assert_typed<T>(result: Result<T>) {
    if let Err(error) = result {
        let code = error.code();
        assert!(
            ["LENGTH_MISMATCH", "INVALID_ARGUMENT", "SHAPE_MISMATCH"].contains(&code),
            "{error}"
        );
    }
}

#[test]
fn a_product_that_wraps_is_an_error() {
    let [a, b] = [[1.0; 4]; 2];
    let error = cpu::matmul(&a, &b, &mut [0.0; 16], 4, (1 << 62) + 1, 4).unwrap_err();
    assert_eq!(error.code(), "LENGTH_MISMATCH");
    let error = tiled_sum_2d(&[], 1 << 40, 1 << 40).unwrap_err();
    assert_eq!(error.code(), "LENGTH_MISMATCH");
    let size = [1 << 32, 1 << 32];
    let error = cpu::convolve2d(&[], &[], &mut [0.0], size, size).unwrap_err();
    assert_eq!(error.code(), "LENGTH_MISMATCH");
    let packed = [1, 1 << 8, (1 << 60) + 1];
    let error = cpu::matmul_quantized(Quantization::Q4K, &[], &[], &mut [], packed).unwrap_err();
    assert_eq!(error.code(), "LENGTH_MISMATCH");
}

#[test]
fn results_that_memory_has_no_room_for_are_errors() {
    let mut backend = GpuBackend::new();
    let code = |result: Result<Vec<f32>>| result.map_err(|error| error.code());
    let n = 1 << 30;
    assert_eq!(
        code(backend.matmul(&[], &[], n, 0, n)),
        Err("OUT_OF_MEMORY")
    );
    let n = 1 << 31;
    assert_eq!(
        code(backend.matmul(&[], &[], n, 0, n)),
        Err("INVALID_ARGUMENT")
    );
    let shape = Shape::new(&[1 << 60, 0]).unwrap();
    let reduced = backend.reduce_axes_async(Reduction::Sum, &[], &shape, &[1]);
    assert_eq!(code(block_on(reduced)), Err("OUT_OF_MEMORY"));
    let size = [1 << 32, 1 << 32];
    let wrong = backend.convolve2d(&[], &[], size, [1, 1]);
    assert_eq!(code(wrong), Err("LENGTH_MISMATCH"));
}

#[test]
fn rows_of_no_columns_are_an_error() {
    let mut out = [0.0; 3];
    let norm = Norm::Layer { epsilon: 1e-5 };
    for result in [
        cpu::softmax(&[1.0; 3], 0, &mut out),
        cpu::log_softmax(&[1.0; 3], 0, &mut out),
        cpu::norm(norm, &[1.0; 3], 0, [None, None], &mut out),
    ] {
        assert_eq!(result.unwrap_err().code(), "INVALID_ARGUMENT");
    }
    cpu::softmax(&[], 0, &mut []).unwrap();
    cpu::norm(norm, &[], 0, [None, None], &mut []).unwrap();
}

#[test]
fn products_of_any_lengths_are_right_or_errors() {
    let sizes = (length(), length(), length(), 0_usize..8);
    run(sizes, |(m, k, n, wrong)| {
        let (a, b) = (elements(&[m, k], wrong == 1), elements(&[k, n], wrong == 2));
        let mut c = elements(&[m, n], wrong == 3);
        let is_right = fit(&[(a.len(), &[m, k]), (b.len(), &[k, n]), (c.len(), &[m, n])]);
        let result = cpu::matmul(&a, &b, &mut c, m, k, n);
        assert_eq!(result.is_ok(), is_right, "{m} {k} {n}: {result:?}");
        assert_typed(result);
        if is_right && k > 0 && !c.is_empty() {
            assert_sums(&c, naive::matmul(&a, &b, [m, k, n]), 1e-6);
        }
        for quantization in [Quantization::Q6K, Quantization::F16] {
            let bytes = vec![0; b.len() * 2];
            assert_typed(cpu::matmul_quantized(
                quantization,
                &a,
                &bytes,
                &mut c,
                [m, k, n],
            ));
            assert_typed(cpu::dequantize(quantization, &bytes, &mut c));
        }
    });
}

#[test]
fn rows_of_any_lengths_are_right_or_errors() {
    run((length(), length(), 0_usize..6), |(rows, cols, wrong)| {
        let a = elements(&[rows, cols], wrong == 1);
        let mut out = vec![0.0; a.len() + usize::from(wrong == 2)];
        let whole = a.is_empty() || cols > 0 && a.len().is_multiple_of(cols);
        let is_right = whole && wrong != 2;
        let check = |result: Result<()>, out: &[f32], row: &dyn Fn(&[f32]) -> Vec<f64>| {
            assert_eq!(result.is_ok(), is_right, "{rows} {cols}: {result:?}");
            assert_typed(result);
            if is_right && !a.is_empty() {
                let exact = a.chunks(cols).flat_map(row);
                assert_sums(out, exact.map(|x| (x, 1.0)), 1e-5);
            }
        };
        let result = cpu::softmax(&a, cols, &mut out);
        check(result, &out, &|row| naive::softmax(row, false));
        let result = cpu::log_softmax(&a, cols, &mut out);
        check(result, &out, &|row| naive::softmax(row, true));
        let norm = Norm::Layer { epsilon: 1e-3 };
        let result = cpu::norm(norm, &a, cols, [None, None], &mut out);
        check(result, &out, &|row| {
            naive::norm(norm, &row.iter().map(|&x| x.into()).collect::<Vec<_>>())
        });
        assert_typed(cpu::norm(norm, &a, cols, [Some(&a), None], &mut out));
        assert_typed(tiled_max_2d(&a, cols, rows));
        let tiles = tiled_reduce_partial::<SumOp>(&a, cols, rows);
        if let Ok(tiles) = &tiles {
            assert_eq!(exact(&[rows, cols]), Some(a.len()));
            let (sum, magnitude) = naive::reduce(Reduction::Sum, &a);
            assert_sums(
                &[cpu::reduce(Reduction::Sum, tiles)],
                [(sum, magnitude)],
                1e-6,
            );
        }
        assert_typed(tiles);
    });
}

#[test]
fn axes_of_any_lengths_are_right_or_errors() {
    let sizes = (length(), length(), length(), 0_usize..6);
    run(sizes, |(outer, rows, inner, wrong)| {
        let a = elements(&[outer, rows, inner], wrong == 1);
        let mut out = elements(&[outer, inner], wrong == 2);
        let is_right = fit(&[
            (a.len(), &[outer, rows, inner]),
            (out.len(), &[outer, inner]),
        ]);
        for reduction in [Reduction::Sum, Reduction::Max, Reduction::SumOfSquares] {
            let result = cpu::reduce_axis(reduction, &a, [outer, rows, inner], &mut out);
            assert_eq!(
                result.is_ok(),
                is_right,
                "{outer} {rows} {inner}: {result:?}"
            );
            assert_typed(result);
            if !is_right {
                continue;
            }
            for (i, found) in out.iter().enumerate() {
                let first = i / inner * rows * inner + i % inner;
                let column: Vec<f32> = (0..rows).map(|row| a[first + row * inner]).collect();
                let (exact, magnitude) = naive::reduce(reduction, &column);
                let off = (f64::from(*found) - exact).abs();
                assert!(off <= 1e-6 * magnitude || f64::from(*found) == exact);
            }
        }
        assert_typed(cpu::dot(&a, &out));
    });
}

#[test]
fn pictures_and_heads_of_any_lengths_are_right_or_errors() {
    let sizes = (
        prop::array::uniform4(length()),
        prop::array::uniform3(length()),
        0_usize..6,
    );
    run(
        sizes,
        |([rows, cols, kernel_rows, kernel_cols], k_dims, wrong)| {
            let (size, kernel_size) = ([rows, cols], [kernel_rows, kernel_cols]);
            let (input, kernel) = (
                elements(&size, wrong == 1),
                elements(&kernel_size, wrong == 2),
            );
            let out_size = [
                rows.wrapping_sub(kernel_rows).wrapping_add(1),
                cols.wrapping_sub(kernel_cols).wrapping_add(1),
            ];
            let mut out = elements(&out_size, wrong == 3);
            let result = cpu::convolve2d(&input, &kernel, &mut out, size, kernel_size);
            if result.is_ok() {
                assert!(fit(&[
                    (input.len(), &size),
                    (kernel.len(), &kernel_size),
                    (out.len(), &out_size)
                ]));
                assert_sums(
                    &out,
                    naive::convolve2d(&input, &kernel, size, kernel_size),
                    1e-6,
                );
            }
            assert_typed(result);
            let (Ok(q), Ok(k)) = (Shape::new(&[rows, cols, k_dims[2]]), Shape::new(&k_dims)) else {
                return;
            };
            let (queries, keys) = (
                elements(q.dims(), wrong == 4),
                elements(k.dims(), wrong == 5),
            );
            for (causal, window) in [(false, None), (true, None), (true, Some(cols))] {
                let what = Attention {
                    causal,
                    window,
                    ..Attention::default()
                };
                let mut out = vec![0.0; queries.len()];
                assert_typed(cpu::attention(
                    what,
                    (&queries, &q),
                    (&keys, &keys, &k),
                    &mut out,
                ));
            }
        },
    );
}

#[test]
fn layers_of_any_lengths_are_right_or_errors() {
    let sizes = (prop::array::uniform5(length()), 0_usize..40);
    run(sizes, |([hidden, heads, kv_heads, dim, width], n)| {
        let config = LayerConfig {
            n_kv_heads: kv_heads,
            head_dim: dim,
            ..LayerConfig::encoder(hidden, heads, width)
        };
        let (column, q) = (
            elements(&[hidden], false),
            elements(&[heads, dim, hidden], false),
        );
        let (kv, up) = (
            elements(&[kv_heads, dim, hidden], false),
            elements(&[hidden, width], false),
        );
        let weights = LayerWeights {
            attention_norm: (&column).into(),
            q: (&q).into(),
            k: (&kv).into(),
            v: (&kv).into(),
            o: (&q).into(),
            mlp_norm: (&column).into(),
            gate: None,
            up: (&up).into(),
            down: (&up).into(),
        };
        let input = numbers(n, 3, 1.0);
        let mut output = vec![0.0; n];
        assert_typed(cpu::layer_forward(
            &config,
            &weights,
            None,
            &input,
            &mut output,
        ));
    });
}

#[test]
fn views_of_places_beyond_memory_are_errors() {
    let empty = Shape::new(&[0, 5]).unwrap();
    let most = isize::MAX as usize / 4;
    assert!(TensorView::with_strides(empty.clone(), &[1, 1], usize::MAX).is_err());
    let view = TensorView::with_strides(empty, &[usize::MAX; 2], most).unwrap();
    assert!(view.slice(1, 2..5).unwrap().shape().is_empty());
    let line = Shape::new(&[3]).unwrap();
    assert!(TensorView::with_strides(line.clone(), &[most / 2], 1).is_err());
    let view = TensorView::with_strides(line, &[most / 2 - 1], 0).unwrap();
    assert!(view.slice(0, 3..3).unwrap().shape().is_empty());
    let vector = TensorView::new(Shape::vector(usize::MAX));
    assert_eq!(
        vector
            .slice(0, usize::MAX - 1..usize::MAX)
            .unwrap()
            .shape()
            .dims(),
        [1]
    );
}

/// Returns the largest absolute error.
fn off(found: &[f32], exact: &[f64]) -> f64 {
    let each = found
        .iter()
        .zip(exact)
        .map(|(x, y)| (f64::from(*x) - y).abs());
    each.fold(0.0, f64::max)
}

#[test]
fn long_rows_keep_their_digits() {
    // With sequential addition of 1,000,003 elements, the relative error was 5.5e-5.
    let row = numbers(1_000_003, 11, 4.0);
    let mut found = vec![0.0; row.len()];
    cpu::softmax(&row, row.len(), &mut found).unwrap();
    let exact = naive::softmax(&row, false);
    let largest = exact.iter().copied().fold(0.0, f64::max);
    let relative = off(&found, &exact) / largest;
    assert!(relative < 1e-6, "softmax: {relative:e}");
    cpu::log_softmax(&row, row.len(), &mut found).unwrap();
    let absolute = off(&found, &naive::softmax(&row, true));
    assert!(absolute < 3e-6, "log_softmax: {absolute:e}");
    // Numbers around 1000, where a unit in the last place of the mean is 6e-5.
    let row: Vec<f32> = numbers(65_537, 12, 2.0)
        .iter()
        .map(|x| x + 1000.0)
        .collect();
    let wide: Vec<f64> = row.iter().map(|&x| x.into()).collect();
    let mut found = vec![0.0; row.len()];
    let norm = Norm::Layer { epsilon: 1e-5 };
    cpu::norm(norm, &row, row.len(), [None, None], &mut found).unwrap();
    let absolute = off(&found, &naive::norm(norm, &wide));
    assert!(absolute < 2e-6, "norm: {absolute:e}");
    let norm = Norm::Rms { epsilon: 1e-5 };
    cpu::norm(norm, &row, row.len(), [None, None], &mut found).unwrap();
    let absolute = off(&found, &naive::norm(norm, &wide));
    assert!(absolute < 1e-6, "root of squares: {absolute:e}");
}

#[test]
fn long_sums_keep_their_digits() {
    // Numbers of one sign, whose rounding errors accumulate: sequential addition of a million tenths loses 1 in 100.
    let n = 1 << 20;
    let tenths = vec![0.1_f32; n];
    let tenth = f64::from(0.1_f32);
    let within = |most: f64, what: &str, found: f32, exact: f64| {
        let relative = (f64::from(found) / exact - 1.0).abs();
        assert!(
            relative < most,
            "{what}: {found}, exactly {exact}: {relative:e}"
        );
    };
    let near = |what, found, exact| within(1e-6, what, found, exact);
    near(
        "sum",
        cpu::reduce(Reduction::Sum, &tenths),
        tenth * n as f64,
    );
    near(
        "dot",
        cpu::dot(&tenths, &tenths).unwrap(),
        tenth * tenth * n as f64,
    );
    let mut out = [0.0; 2];
    cpu::reduce_axis(Reduction::Sum, &tenths, [1, n / 2, 2], &mut out).unwrap();
    near("columns", out[1], tenth * n as f64 / 2.0);
    cpu::convolve2d(&tenths, &tenths, &mut out[..1], [1024; 2], [1024; 2]).unwrap();
    near("picture", out[0], tenth * tenth * n as f64);
    // Keys with equal scores: the result is the mean of the values.
    let keys = Shape::new(&[1, n, 1]).unwrap();
    let query = (&[1.0][..], &Shape::new(&[1, 1, 1]).unwrap());
    let what = Attention::default();
    cpu::attention(what, query, (&tenths, &tenths, &keys), &mut out[..1]).unwrap();
    within(5e-6, "attention", out[0], tenth);
    let k = 1 << 17;
    let packed = cpu::to_f16(&vec![0.25; k]).unwrap();
    let size = [1, k, 1];
    cpu::matmul_quantized(
        Quantization::F16,
        &tenths[..k],
        &packed,
        &mut out[..1],
        size,
    )
    .unwrap();
    within(1e-5, "quantized", out[0], 0.25 * tenth * k as f64);
    cpu::matmul(&tenths[..k], &tenths[..k], &mut out[..1], 1, k, 1).unwrap();
    within(1e-5, "product", out[0], tenth * tenth * k as f64);
}
