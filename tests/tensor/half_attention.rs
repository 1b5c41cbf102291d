//! Attention of 16-bit tensors: on matrix units where the engine has them, else in f32.

use pagepress::gpu::GpuDevice;
use pagepress::tensor::layer::Attention;
use pagepress::tensor::{DType, GpuTensor, Shape, cpu};

use crate::attention::{Case, case, compare};
use crate::naive::numbers;
use crate::subject::Subject;
use crate::tolerance::attention_of;

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// A tensor of 16 bits and its elements, row-major, as it rounds them.
pub struct Half {
    pub values: Vec<f32>,
    pub tensor: GpuTensor,
}

/// Layout of `[batch, heads, rows, elements]` in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Dense,
    /// Rows contain all heads, as in the output of a matrix product.
    SideBySide,
    /// The same, and rows do not begin at multiples of 16 bytes.
    Unaligned,
}

pub async fn half(
    device: &GpuDevice,
    dtype: DType,
    [batch, heads, rows, dim]: [usize; 4],
    layout: Layout,
    values: &[f32],
) -> Half {
    let mut bits = vec![0; values.len()];
    cpu::to_bits(dtype, values, &mut bits).unwrap();
    let shape = |dims: &[usize]| Shape::new(dims).unwrap();
    let upload = async |bits: &[u16], dims: &[usize]| {
        let tensor = GpuTensor::from_bits_async(device, bits, dtype, shape(dims)).await;
        tensor.unwrap()
    };
    let tensor = match layout {
        Layout::Dense => upload(&bits, &[batch, heads, rows, dim]).await,
        Layout::SideBySide | Layout::Unaligned => {
            let gap = if layout == Layout::SideBySide { 0 } else { 3 };
            let pitch = dim + gap;
            let mut all = vec![0; batch * rows * heads * pitch];
            for (at, &x) in bits.iter().enumerate() {
                let (row, column) = (at / dim, at % dim);
                let (head, batch) = (row / rows % heads, row / rows / heads);
                let to = (batch * rows + row % rows) * heads + head;
                all[to * pitch + gap + column] = x;
            }
            let whole = upload(&all, &[batch, rows, heads, pitch]).await;
            let inner = whole.slice(3, gap..pitch).unwrap();
            inner.permute(&[0, 2, 1, 3]).unwrap()
        }
    };
    Half {
        values: tensor.to_vec_async().await.unwrap(),
        tensor,
    }
}

pub async fn attend(
    device: &GpuDevice,
    dtype: DType,
    case: &Case,
    layout: Layout,
    what: Attention,
) {
    let tensor = async |dims: [usize; 4], seed, size| {
        let values = numbers(dims.iter().product(), seed, size);
        half(device, dtype, dims, layout, &values).await
    };
    let (q, k) = (tensor(case.q, 70, 2.0).await, tensor(case.k, 71, 2.0).await);
    let v = tensor(case.k, 72, 1.0).await;
    let result = q.tensor.attention_async(&k.tensor, &v.tensor, what).await;
    let result = result.unwrap();
    assert_eq!(result.dtype(), dtype);
    assert_eq!(result.shape().dims(), case.q);
    let found = result.to_vec_async().await.unwrap();
    let name = format!("{dtype:?} {:?} {:?} {layout:?} {what:?}", case.q, case.k);
    let wide = [&q, &k, &v].map(|half| {
        let values = half.values.iter().copied();
        values.map(f64::from).collect::<Vec<_>>()
    });
    // The inputs are finite, and so is what is exact.
    assert!(found.iter().all(|x| x.is_finite()), "{name}");
    let inputs = wide.each_ref().map(Vec::as_slice);
    compare(&name, case, what, inputs, &found, attention_of(dtype));
}

pub async fn attention_of_halves_of_any_size(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let cases = [
        case(1, [1, 1], [1, 1], 8),
        case(2, [3, 3], [33, 65], 16),
        case(1, [4, 2], [40, 64], 64),
        case(2, [6, 2], [31, 70], 80),
        case(1, [8, 1], [70, 150], 128),
        case(1, [2, 2], [300, 300], 64),
        case(1, [1, 1], [20, 67], 12),
        case(1, [2, 1], [9, 67], 136),
        case(1, [4, 1], [1, 200], 32),
    ];
    for (dtype, case) in HALVES
        .into_iter()
        .flat_map(|d| cases.iter().map(move |c| (d, c)))
    {
        for causal in [false, true] {
            for scale in [None, Some(-0.2)] {
                let what = Attention {
                    causal,
                    scale,
                    ..Attention::default()
                };
                attend(device, dtype, case, Layout::Dense, what).await;
            }
        }
    }
}

/// Rows and heads for more workgroups than half of a GPU's multiprocessors, so that its warpgroups multiply, where it has them.
pub async fn many_rows_of_halves_are_multiplied_by_warpgroups(subject: &Subject) {
    let Some(device) = subject.with_warpgroups() else {
        return;
    };
    for dtype in HALVES {
        for (case, windows) in [
            (case(2, [34, 17], [140, 270], 64), &[1, 64, 200][..]),
            (case(1, [68, 68], [129, 260], 128), &[100, 129]),
            (case(3, [24, 24], [65, 300], 72), &[63]),
            (case(70, [1, 1], [30, 30], 8), &[5]),
        ] {
            let masks = windows.iter().map(|&n| (true, Some(n)));
            for (causal, window) in masks.chain([(false, None), (true, None)]) {
                let what = Attention {
                    causal,
                    window,
                    scale: None,
                };
                attend(device, dtype, &case, Layout::Dense, what).await;
                attend(device, dtype, &case, Layout::SideBySide, what).await;
            }
        }
    }
}

/// Few rows and many keys, which workgroups share.
pub async fn many_keys_of_halves_are_split(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for (dtype, causal) in HALVES.into_iter().flat_map(|d| [(d, false), (d, true)]) {
        let what = Attention {
            causal,
            ..Attention::default()
        };
        for case in [
            case(1, [8, 2], [1, 3000], 128),
            case(1, [2, 1], [70, 1100], 64),
        ] {
            attend(device, dtype, &case, Layout::Dense, what).await;
        }
    }
}

pub async fn heads_of_halves_in_every_layout(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let causal = Attention {
        causal: true,
        ..Attention::default()
    };
    for (dtype, layout) in HALVES
        .into_iter()
        .flat_map(|d| [(d, Layout::SideBySide), (d, Layout::Unaligned)])
    {
        attend(
            device,
            dtype,
            &case(2, [4, 2], [37, 50], 64),
            layout,
            causal,
        )
        .await;
    }
}

/// Keys and values that a mask hides have no influence, even if they are not finite; those that are seen arrive.
pub async fn hidden_halves_do_not_matter(subject: &Subject) {
    for heads in head_counts(subject) {
        spoil_halves(subject, heads, None).await;
    }
}

/// The same with windows: shorter than a step of keys, as long, and longer.
pub async fn halves_outside_a_window_do_not_matter(subject: &Subject) {
    for window in [1, 20, 64, 90] {
        for heads in head_counts(subject) {
            spoil_halves(subject, heads, Some(window)).await;
        }
    }
}

/// Returns numbers of heads of keys for subgroups and, where the device has them, for warpgroups.
fn head_counts(subject: &Subject) -> Vec<usize> {
    let of_warpgroups = subject.with_warpgroups().map(|_| 24);
    [1].into_iter().chain(of_warpgroups).collect()
}

/// All heads have the same keys and values.
async fn spoil_halves(subject: &Subject, key_heads: usize, window: Option<usize>) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let case = case(1, [2 * key_heads, key_heads], [150, 150], 64);
    let what = Attention {
        causal: true,
        window,
        ..Attention::default()
    };
    for (dtype, special) in HALVES
        .into_iter()
        .flat_map(|d| [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|x| (d, x)))
    {
        for at in [0, 63, 64, 130, 149] {
            for is_value in [false, true] {
                let [q, mut k, mut v] = [80, 81, 82].map(|seed| numbers(150 * 64, seed, 1.0));
                let spoiled = if is_value { &mut v } else { &mut k };
                spoiled[64 * at + 5] = special;
                let tensor = async |dims, values: &[f32]| {
                    half(device, dtype, dims, Layout::Dense, values)
                        .await
                        .tensor
                };
                let q = tensor(case.q, &q.repeat(2 * key_heads)).await;
                let [k, v] = [k, v].map(|values| values.repeat(key_heads));
                let (k, v) = (tensor(case.k, &k).await, tensor(case.k, &v).await);
                let found = q.attention_async(&k, &v, what).await.unwrap();
                let found = found.to_vec_async().await.unwrap();
                let name = format!(
                    "{dtype:?} {special} at {at}, value: {is_value}, window {window:?}, {key_heads}"
                );
                for (row, found) in found.chunks(64).enumerate() {
                    let seen = at..window.map_or(150, |n| at + n);
                    let is_seen = seen.contains(&(row % 150));
                    let column = found.iter().position(|x| !x.is_finite());
                    match (is_seen, is_value) {
                        (false, _) => assert_eq!(column, None, "{name}, row {row}"),
                        (true, true) => assert_eq!(column, Some(5), "{name}, row {row}"),
                        (true, false) if special.is_nan() => {
                            assert_eq!(column, Some(0), "{name}, row {row}");
                        }
                        (true, false) => {}
                    }
                }
            }
        }
    }
}
