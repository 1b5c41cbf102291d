//! Attention with a window: each query sees a number of keys at most.

use pagepress::tensor::DType;
use pagepress::tensor::layer::Attention;

use crate::attention::{case, check, side_by_side, tensors};
use crate::half_attention::{Layout, attend};
use crate::subject::{Subject, Tensor};

const fn window(n: usize) -> Attention {
    Attention {
        causal: true,
        window: Some(n),
        scale: None,
    }
}

/// Windows of one key, of a tile of keys or of queries, of one key more or less, and of nearly all keys.
pub async fn windows_of_any_length_work(subject: &Subject) {
    let cases = [
        case(1, [1, 1], [1, 1], 1),
        case(1, [2, 2], [3, 5], 4),
        case(2, [3, 3], [33, 165], 7),
        case(1, [4, 2], [40, 64], 64),
        case(1, [1, 1], [5, 67], 200),
        case(1, [3, 1], [1, 200], 32),
        case(1, [2, 1], [130, 300], 63),
        case(1, [1, 1], [129, 200], 100),
        case(1, [2, 1], [0, 3], 8),
    ];
    for case in &cases {
        let [q, k, v] = &tensors(case, 2.0);
        let n_k = case.k[2];
        for n in [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, n_k - n_k / 3] {
            if n <= n_k {
                check(subject, case, window(n), [q, k, v]).await;
            }
        }
    }
    let case = case(1, [4, 2], [37, 90], 20);
    for gap in [0, 1, 4] {
        let q = side_by_side(case.q, 83, gap);
        let (k, v) = (side_by_side(case.k, 84, gap), side_by_side(case.k, 85, gap));
        check(subject, &case, window(11), [&q, &k, &v]).await;
    }
    // Elements of keys that are not adjacent are copied first.
    let [q, k, v] = &tensors(&case, 1.0);
    let turned = Tensor::new(k.elements.clone(), &[1, 2, 20, 90]);
    let turned = turned.with_view(turned.view.transpose(2, 3).unwrap());
    check(subject, &case, window(11), [q, &turned, v]).await;
}

/// So many heads that their queries are kept in workgroup memory where there is enough.
pub async fn windows_over_many_heads_work(subject: &Subject) {
    for (case, n) in [
        (case(4, [64, 2], [65, 100], 12), 64),
        (case(4, [32, 1], [150, 166], 7), 30),
        (case(1, [4, 1], [200, 270], 96), 70),
    ] {
        let [q, k, v] = &tensors(&case, 1.0);
        check(subject, &case, window(n), [q, k, v]).await;
    }
}

pub async fn windows_over_many_keys_are_split(subject: &Subject) {
    for (case, n) in [
        (case(1, [2, 1], [1, 3000], 64), 1000),
        (case(1, [1, 1], [70, 3000], 20), 1500),
        (case(1, [1, 1], [70, 900], 20), 850),
        (case(1, [2, 1], [100, 2500], 96), 1200),
        (case(1, [2, 2], [3, 20_000], 16), 9000),
    ] {
        let [q, k, v] = &tensors(&case, 1.0);
        check(subject, &case, window(n), [q, k, v]).await;
    }
}

/// A window that hides nothing gives the bits of a causal mask.
pub async fn windows_over_all_keys_change_nothing(subject: &Subject) {
    for case in [
        case(2, [4, 2], [70, 90], 20),
        case(1, [2, 2], [7, 9], 4),
        case(1, [4, 1], [1, 700], 64),
    ] {
        let [q, k, v] = &tensors(&case, 1.0);
        let n_k = case.k[2];
        let causal = Attention {
            causal: true,
            ..Attention::default()
        };
        let (exact, _) = subject.attention(causal, [q, k, v]).await.unwrap();
        for n in [n_k, n_k + 1, usize::MAX] {
            let (found, _) = subject.attention(window(n), [q, k, v]).await.unwrap();
            let same = found.iter().zip(&exact);
            let same = same.filter(|(x, y)| x.to_bits() == y.to_bits());
            assert_eq!(same.count(), exact.len(), "a window of {n} of {n_k} keys");
        }
    }
}

/// Keys and values that are not finite reach those queries that see them and no other, at both ends of a window.
pub async fn keys_outside_a_window_do_not_matter(subject: &Subject) {
    for (case, windows) in [
        (case(1, [1, 1], [40, 50], 24), &[1, 7][..]),
        (case(1, [1, 1], [150, 160], 24), &[1, 20, 64, 90]),
        (case(1, [1, 1], [80, 170], 100), &[30, 64]),
    ] {
        for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for &n in windows {
                for at in [0, 11, 33, case.k[2] / 2, case.k[2] - 1] {
                    for is_value in [false, true] {
                        let mut all = tensors(&case, 1.0);
                        all[1 + usize::from(is_value)].elements[case.k[3] * at + 5] = special;
                        let (found, _) =
                            subject.attention(window(n), all.each_ref()).await.unwrap();
                        let name = format!("{special} at {at}, window {n}, value: {is_value}");
                        let first = case.k[2] - case.q[2];
                        for (query, row) in found.chunks(case.q[3]).enumerate() {
                            let is_seen = (at..at + n).contains(&(first + query));
                            let is_finite = row.iter().all(|x| x.is_finite());
                            assert!(is_seen || is_finite, "{name}, query {query}");
                            if is_seen && (special.is_nan() || is_value) {
                                assert!(!row[5].is_finite(), "{name}, query {query}");
                            }
                        }
                    }
                }
            }
        }
    }
}

pub async fn wrong_windows_are_typed_errors(subject: &Subject) {
    let case = case(1, [1, 1], [3, 4], 4);
    let [q, k, v] = &tensors(&case, 1.0);
    let without_mask = Attention {
        causal: false,
        ..window(2)
    };
    for what in [window(0), without_mask] {
        let error = subject.attention(what, [q, k, v]).await.unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert!(error.to_string().contains("window"), "{error}");
    }
}

/// Windows over 16-bit tensors, on matrix units where there are any: rows of several heads, few rows, and splits of the keys.
pub async fn windows_of_halves_work(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in [DType::F16, DType::BF16] {
        for (case, windows) in [
            (case(2, [3, 3], [33, 165], 16), &[1, 63, 64, 65][..]),
            (case(1, [8, 1], [70, 250], 128), &[1, 50, 129]),
            (case(1, [2, 2], [300, 300], 64), &[17, 64, 128, 200]),
            (case(1, [6, 2], [31, 170], 80), &[40]),
            (case(1, [8, 2], [1, 3000], 128), &[1000]),
            (case(1, [2, 1], [70, 2100], 64), &[900]),
            (case(1, [2, 1], [9, 67], 136), &[5]),
        ] {
            for &n in windows {
                attend(device, dtype, &case, Layout::Dense, window(n)).await;
            }
        }
        let case = case(2, [4, 2], [37, 90], 64);
        for layout in [Layout::SideBySide, Layout::Unaligned] {
            attend(device, dtype, &case, layout, window(20)).await;
        }
    }
}
