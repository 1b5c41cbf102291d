//! Attention.

use pagepress::Error;
use pagepress::tensor::TensorView;
use pagepress::tensor::layer::Attention;

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::ATTENTION;

/// Shapes of the queries, and of the keys and the values: `[batch, heads, rows, elements]`.
pub struct Case {
    pub q: [usize; 4],
    pub k: [usize; 4],
}

pub const fn case(batch: usize, heads: [usize; 2], rows: [usize; 2], dim: usize) -> Case {
    Case {
        q: [batch, heads[0], rows[0], dim],
        k: [batch, heads[1], rows[1], dim],
    }
}

pub fn tensors(case: &Case, size: f32) -> [Tensor; 3] {
    let tensor =
        |dims: &[usize; 4], seed| Tensor::new(numbers(dims.iter().product(), seed, size), dims);
    [
        tensor(&case.q, 80),
        tensor(&case.k, 81),
        tensor(&case.k, 82),
    ]
}

pub async fn check(subject: &Subject, case: &Case, what: Attention, all: [&Tensor; 3]) {
    let (found, dims) = subject.attention(what, all).await.unwrap();
    let name = format!("{:?} {:?} {what:?}", case.q, case.k);
    assert_eq!(dims, case.q, "{name}");
    let wide = all.map(|tensor| {
        let values = tensor.values().into_iter();
        values.map(f64::from).collect::<Vec<_>>()
    });
    compare(
        &name,
        case,
        what,
        wide.each_ref().map(Vec::as_slice),
        &found,
        ATTENTION,
    );
}

/// Compares a result with that of the elements of queries, keys and values in double precision, within `most` of the weighted mean of
/// magnitudes.
pub fn compare(
    name: &str,
    case: &Case,
    what: Attention,
    [q, k, v]: [&[f64]; 3],
    found: &[f32],
    most: f64,
) {
    let [_, heads, n_q, dim] = case.q;
    let [_, key_heads, n_k, _] = case.k;
    let scale = what.scale.map_or(1.0 / (dim as f64).sqrt(), f64::from);
    for (row, (found, query)) in found.chunks(dim).zip(q.chunks(dim)).enumerate() {
        let (product, query_at) = (row / n_q, row % n_q);
        let (batch, head) = (product / heads, product % heads);
        let of_keys = (batch * key_heads + head / (heads / key_heads)) * n_k * dim;
        let end = match what.causal {
            true => query_at + n_k - n_q + 1,
            false => n_k,
        };
        let begin = end.saturating_sub(what.window.unwrap_or(end));
        let rows = |all: &'_ [f64]| -> Vec<Vec<f64>> {
            let seen = all[of_keys..][begin * dim..end * dim].chunks(dim);
            seen.map(<[f64]>::to_vec).collect()
        };
        let (keys, values) = (rows(k), rows(v));
        let keys: Vec<&[f64]> = keys.iter().map(Vec::as_slice).collect();
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        let exact = naive::attention(query, &keys, &values, scale);
        for (found, (exact, magnitude)) in found.iter().zip(exact) {
            let off = (f64::from(*found) - exact).abs();
            assert!(
                off <= most * magnitude || exact.is_nan() && found.is_nan(),
                "{name} row {row}: {found}, exactly {exact}"
            );
        }
    }
}

pub async fn heads_of_any_size_work(subject: &Subject) {
    let cases = [
        case(1, [1, 1], [1, 1], 1),
        case(1, [2, 2], [3, 5], 4),
        case(2, [3, 3], [33, 65], 7),
        case(1, [4, 2], [40, 64], 64),
        case(2, [6, 2], [31, 70], 80),
        case(1, [2, 1], [70, 130], 128),
        case(1, [1, 1], [5, 67], 200),
        case(1, [2, 2], [34, 36], 256),
        case(1, [3, 1], [1, 200], 32),
        case(1, [8, 1], [1, 300], 64),
        case(1, [6, 2], [1, 260], 40),
        case(1, [5, 1], [1, 129], 100),
        case(2, [4, 2], [4, 300], 128),
        case(1, [2, 1], [2, 127], 63),
        case(1, [2, 2], [64, 64], 64),
        case(1, [2, 1], [130, 300], 63),
        case(1, [1, 1], [129, 200], 100),
        case(0, [2, 1], [3, 3], 8),
        case(1, [2, 1], [0, 3], 8),
    ];
    for case in &cases {
        for causal in [false, true] {
            for (size, scale) in [(1.0, None), (2.0, Some(0.2))] {
                let [q, k, v] = &tensors(case, size);
                check(
                    subject,
                    case,
                    Attention {
                        causal,
                        scale,
                        ..Attention::default()
                    },
                    [q, k, v],
                )
                .await;
            }
        }
    }
}

/// So many heads that their queries are kept in workgroup memory where there is enough.
pub async fn many_heads_work(subject: &Subject) {
    for (case, causal) in [
        (case(4, [64, 2], [65, 100], 12), false),
        (case(8, [64, 1], [64, 66], 7), true),
    ] {
        let [q, k, v] = &tensors(&case, 1.0);
        let what = Attention {
            causal,
            ..Attention::default()
        };
        check(subject, &case, what, [q, k, v]).await;
    }
}

pub async fn many_keys_are_split(subject: &Subject) {
    for (case, causal) in [
        (case(1, [2, 1], [1, 3000], 64), true),
        (case(1, [8, 1], [1, 3000], 128), true),
        (case(2, [2, 2], [4, 2000], 100), true),
        (case(1, [1, 1], [70, 1000], 20), true),
        (case(1, [2, 1], [100, 1500], 96), false),
        (case(1, [2, 2], [3, 9000], 16), false),
    ] {
        let [q, k, v] = &tensors(&case, 1.0);
        let what = Attention {
            causal,
            ..Attention::default()
        };
        check(subject, &case, what, [q, k, v]).await;
    }
}

pub async fn keys_that_are_not_seen_do_not_matter(subject: &Subject) {
    let all = &[0, 33, 63, 64, 79][..];
    for (case, places) in [
        (case(1, [2, 1], [4, 4], 64), &[0, 1, 3][..]),
        (case(1, [1, 1], [40, 40], 24), &[0, 33][..]),
        (case(1, [1, 1], [80, 80], 24), all),
        (case(1, [1, 1], [80, 80], 100), all),
        (case(8, [64, 1], [80, 80], 8), &[63]),
    ] {
        for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for &at in places {
                spoil_key(subject, &case, special, at).await;
            }
        }
    }
}

/// Checks that an element of key `at`, or of its value, has no influence on queries of the first head that do not see it.
async fn spoil_key(subject: &Subject, case: &Case, special: f32, at: usize) {
    let dim = case.q[3];
    let causal = Attention {
        causal: true,
        ..Attention::default()
    };
    let [q, k, v] = tensors(case, 1.0);
    let spoiled = |tensor: &Tensor| {
        let mut tensor = tensor.clone();
        tensor.elements[dim * at + 5] = special;
        tensor
    };
    for all in [[&q, &spoiled(&k), &v], [&q, &k, &spoiled(&v)]] {
        let (found, _) = subject.attention(causal, all).await.unwrap();
        let mut rows = found.chunks(dim).take(case.q[2]);
        for row in rows.by_ref().take(at) {
            assert!(row.iter().all(|x| x.is_finite()), "{special} at {at}");
        }
        if special.is_nan() {
            assert!(rows.all(|row| row[5].is_nan()), "NaN at {at}");
        }
    }
}

/// Returns interleaved heads, as in the output of a matrix product, with a gap between rows.
pub fn side_by_side([_, heads, rows, dim]: [usize; 4], seed: u64, gap: usize) -> Tensor {
    let pitch = heads * dim + gap;
    let whole = Tensor::new(numbers(rows * pitch, seed, 1.0), &[rows, pitch]);
    let view: &TensorView = &whole.view;
    let inner = view.slice(1, gap..pitch).unwrap();
    let shape = pagepress::tensor::Shape::new(&[1, heads, rows, dim]).unwrap();
    let strides = [0, dim, pitch, 1];
    whole.with_view(TensorView::with_strides(shape, &strides, inner.offset()).unwrap())
}

/// Interleaved heads, at offsets that are not aligned.
pub async fn views_are_taken_as_they_are(subject: &Subject) {
    let case = case(1, [4, 2], [37, 50], 20);
    let causal = Attention {
        causal: true,
        ..Attention::default()
    };
    for gap in [0, 1, 4] {
        let q = side_by_side(case.q, 83, gap);
        let (k, v) = (side_by_side(case.k, 84, gap), side_by_side(case.k, 85, gap));
        check(subject, &case, causal, [&q, &k, &v]).await;
    }
    // Elements that are not adjacent are copied first.
    let [q, k, v] = &tensors(&case, 1.0);
    let turned = Tensor::new(q.elements.clone(), &[1, 4, 20, 37]);
    let turned = turned.with_view(turned.view.transpose(2, 3).unwrap());
    check(subject, &case, causal, [&turned, k, v]).await;
}

pub async fn wrong_heads_are_typed_errors(subject: &Subject) {
    let tensor = |dims: &[usize]| Tensor::new(vec![1.0; dims.iter().product()], dims);
    let causal = Attention {
        causal: true,
        ..Attention::default()
    };
    let cases: [(&[usize], &[usize]); 6] = [
        (&[2, 3], &[2, 3]),
        (&[2, 3, 4], &[2, 3, 5]),
        (&[3, 3, 4], &[2, 3, 4]),
        (&[2, 3, 4], &[2, 2, 4]),
        (&[2, 2, 3, 4], &[3, 2, 3, 4]),
        (&[2, 3, 4], &[0, 3, 4]),
    ];
    for (q_dims, k_dims) in cases {
        let (q, k) = (tensor(q_dims), tensor(k_dims));
        let error = subject.attention(causal, [&q, &k, &k]).await.unwrap_err();
        assert!(
            matches!(&error, Error::ShapeMismatch { left, right, .. } if left.dims() == q_dims && right.dims() == k_dims),
            "{error}"
        );
    }
    let long = tensor(&[1, 2, 257]);
    let error = subject
        .attention(causal, [&long, &long, &long])
        .await
        .unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}
