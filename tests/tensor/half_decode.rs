//! Attention of few queries to keys and values of 16 bits, which are read as they are.

use pagepress::gpu::GpuDevice;
use pagepress::tensor::layer::Attention;
use pagepress::tensor::{DType, GpuTensor, Shape};

use crate::attention::{Case, case, compare};
use crate::half_attention::{Half, Layout, attend, half};
use crate::naive::numbers;
use crate::subject::Subject;
use crate::tolerance::ATTENTION;

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

fn masked(causal: bool, window: Option<usize>) -> Attention {
    Attention {
        causal,
        window,
        ..Attention::default()
    }
}

/// Returns a tensor in f32, and its elements.
async fn wide(device: &GpuDevice, dims: [usize; 4], seed: u64) -> Half {
    let values = numbers(dims.iter().product(), seed, 2.0);
    let shape = Shape::new(&dims).unwrap();
    let tensor = GpuTensor::from_slice_async(device, &values, shape).await;
    Half {
        tensor: tensor.unwrap(),
        values,
    }
}

/// Checks queries in f32, whose result is in f32, so that nothing but the kernel's arithmetic is off.
async fn attend_in_f32(
    device: &GpuDevice,
    dtype: DType,
    case: &Case,
    layout: Layout,
    what: Attention,
) {
    let narrow = async |seed| {
        let values = numbers(case.k.iter().product(), seed, 2.0);
        half(device, dtype, case.k, layout, &values).await
    };
    let q = wide(device, case.q, 73).await;
    let (k, v) = (narrow(74).await, narrow(75).await);
    let result = q.tensor.attention_async(&k.tensor, &v.tensor, what).await;
    let result = result.unwrap();
    assert_eq!(result.dtype(), DType::F32);
    let found = result.to_vec_async().await.unwrap();
    let name = format!("{dtype:?} {:?} {:?} {layout:?} {what:?}", case.q, case.k);
    assert!(found.iter().all(|x| x.is_finite()), "{name}");
    let wide = [&q, &k, &v].map(|half| {
        let values = half.values.iter().copied();
        values.map(f64::from).collect::<Vec<_>>()
    });
    let inputs = wide.each_ref().map(Vec::as_slice);
    compare(&name, case, what, inputs, &found, ATTENTION);
}

pub async fn few_queries_read_halves_as_they_are(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let all = masked(false, None);
    let causal = masked(true, None);
    let window = |n| masked(true, Some(n));
    let cases = [
        (case(1, [1, 1], [1, 1], 8), &[all][..]),
        (case(1, [4, 1], [1, 200], 64), &[all, causal, window(40)]),
        (case(1, [8, 1], [1, 3000], 128), &[causal, window(1000)]),
        (case(2, [8, 2], [1, 700], 80), &[all, causal]),
        (case(1, [6, 2], [3, 260], 80), &[all, causal, window(129)]),
        (
            case(2, [2, 2], [4, 1100], 128),
            &[causal, window(1), window(3), window(900)],
        ),
        (case(1, [3, 1], [4, 600], 100), &[causal, window(500)]),
        (case(1, [5, 1], [1, 129], 20), &[causal]),
        (case(1, [2, 1], [2, 127], 63), &[all, causal]),
        (case(1, [3, 1], [2, 300], 7), &[all, window(100)]),
        // Not those of the kernel.
        (case(1, [2, 1], [5, 150], 64), &[causal]),
        (case(1, [2, 1], [1, 150], 160), &[causal]),
    ];
    for (at, (case, masks)) in cases.into_iter().enumerate() {
        // Both types; in browsers, whose software GPU takes long to compile kernels, the two in turn, and half of the cases.
        let dtypes = match cfg!(target_arch = "wasm32") {
            true if ![1, 2, 5, 7, 8, 10].contains(&at) => &[],
            true => &HALVES[at % 2..][..1],
            false => &HALVES[..],
        };
        for (&dtype, &what) in dtypes
            .iter()
            .flat_map(|d| masks.iter().map(move |m| (d, m)))
        {
            attend_in_f32(device, dtype, &case, Layout::Dense, what).await;
            attend(device, dtype, &case, Layout::Dense, what).await;
        }
    }
}

/// Rows that begin at multiples of 16 bytes, and those that do not.
pub async fn few_queries_of_halves_in_every_layout(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for dtype in HALVES {
        for (case, what) in [
            (case(1, [4, 2], [1, 300], 64), masked(true, None)),
            (case(2, [4, 2], [3, 300], 64), masked(true, Some(200))),
            (case(2, [8, 2], [1, 150], 64), masked(false, None)),
        ] {
            for layout in [Layout::SideBySide, Layout::Unaligned] {
                attend_in_f32(device, dtype, &case, layout, what).await;
                attend(device, dtype, &case, layout, what).await;
            }
        }
    }
}

/// Attention to one key gives its value: every number of 16 bits, NaN as NaN.
pub async fn all_halves_are_read_as_they_convert(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    let shape = Shape::new(&[512, 1, 128]).unwrap();
    for dtype in HALVES {
        let v = GpuTensor::from_bits_async(device, &bits, dtype, shape.clone()).await;
        let v = v.unwrap();
        let zeros = vec![0; bits.len()];
        let k = GpuTensor::from_bits_async(device, &zeros, dtype, shape.clone()).await;
        let q = GpuTensor::from_slice_async(device, &vec![1.0; bits.len()], shape.clone()).await;
        let (q, k) = (q.unwrap(), k.unwrap());
        let found = q.attention_async(&k, &v, masked(false, None)).await;
        let found = found.unwrap().to_vec_async().await.unwrap();
        let exact = v.to_vec_async().await.unwrap();
        for (bits, (found, exact)) in found.iter().zip(&exact).enumerate() {
            let is_same = found == exact || found.is_nan() && exact.is_nan();
            // A GPU may take a subnormal number of f32, as bf16 has them, for 0.
            let is_same = is_same || exact.is_subnormal() && *found == 0.0;
            assert!(is_same, "{dtype:?} {bits:#06x}: {found}, exactly {exact}");
        }
    }
}

/// Keys and values outside a mask have no influence, even if they are not finite; those that are seen arrive.
pub async fn halves_that_few_queries_do_not_see_do_not_matter(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let cases = [
        (1, None),
        (4, Some(150)),
        (1, Some(40)),
        (3, None),
        (4, Some(1)),
    ];
    let n_cases = if cfg!(target_arch = "wasm32") { 2 } else { 5 };
    for (n_q, window) in cases.into_iter().take(n_cases) {
        for dtype in HALVES {
            for at in [0, 99, 149, 150, 298, 299] {
                for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    spoil(device, dtype, (n_q, window), (at, special)).await;
                }
            }
        }
    }
}

/// Checks an element of key `at` of 300, and of its value.
async fn spoil(
    device: &GpuDevice,
    dtype: DType,
    (n_q, window): (usize, Option<usize>),
    (at, special): (usize, f32),
) {
    let case = case(1, [2, 1], [n_q, 300], 64);
    let q = wide(device, case.q, 76).await.tensor;
    for is_value in [false, true] {
        let [mut k, mut v] = [77, 78].map(|seed| numbers(300 * 64, seed, 1.0));
        let spoiled = if is_value { &mut v } else { &mut k };
        spoiled[64 * at + 5] = special;
        let k = half(device, dtype, case.k, Layout::Dense, &k).await.tensor;
        let v = half(device, dtype, case.k, Layout::Dense, &v).await.tensor;
        let found = q.attention_async(&k, &v, masked(true, window)).await;
        let found = found.unwrap().to_vec_async().await.unwrap();
        for (row, found) in found.chunks(64).enumerate() {
            let query = 300 - n_q + row % n_q;
            let is_seen = (at..window.map_or(300, |n| at + n)).contains(&query);
            let column = found.iter().position(|x| !x.is_finite());
            let expected = match (is_seen, is_value) {
                (false, _) => None,
                (true, true) => Some(5),
                (true, false) if special.is_nan() => Some(0),
                // An infinite score hides the other keys, or is hidden.
                (true, false) => continue,
            };
            assert_eq!(
                column, expected,
                "{dtype:?} {special} at {at}, value: {is_value}, window {window:?}, query {query}"
            );
        }
    }
}
