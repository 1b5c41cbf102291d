//! Reductions, scans, histograms, sorts and searches.

use crate::case::{Case, kernel};
use crate::inputs::{bytes, floats, ints, whole_floats, words};

pub fn cases() -> Vec<Case> {
    vec![
        reduce_tree(),
        reduce_shuffle(),
        reduce_unrolled(),
        scan_inclusive(),
        scan_exclusive(),
        compaction(),
        histogram_global(),
        histogram_shared(),
        radix_pass(),
        bitonic_sort(),
        bitonic_step(),
        odd_even_sort(),
        merge_ranks(),
        argmax(),
    ]
}

fn reduce_tree() -> Case {
    let input = ints(160, 700, -1000..1000);
    let sums: Vec<i32> = input.chunks(256).map(|b| b.iter().sum()).collect();
    let case = kernel!("reduce_tree")
        .launch([3, 1, 1], [128, 1, 1])
        .shared(512);
    case.input(&input).output(sums).u32(700)
}

fn reduce_shuffle() -> Case {
    let input = ints(161, 1000, -1000..1000);
    // Two blocks of 128 threads take turns of 128 elements.
    let of = |block: usize| {
        input
            .chunks(128)
            .skip(block)
            .step_by(2)
            .flatten()
            .sum::<i32>()
    };
    let case = kernel!("reduce_shuffle").launch([2, 1, 1], [128, 1, 1]);
    case.input(&input).output(vec![of(0), of(1)]).i32(1000)
}

fn reduce_unrolled() -> Case {
    let input = whole_floats(162, 900, -100..100);
    let of = |block: usize| {
        input
            .chunks(128)
            .skip(block)
            .step_by(2)
            .flatten()
            .sum::<f32>()
    };
    let case = kernel!("reduce_unrolled").entry("reduce_unrolled<128>");
    let case = case.launch([2, 1, 1], [128, 1, 1]).input(&input);
    case.output(vec![of(0), of(1)]).u32(900)
}

fn running_sums(values: &[i32]) -> Vec<i32> {
    let add = |sum: &mut i32, v: &i32| {
        *sum += v;
        Some(*sum)
    };
    values.iter().scan(0, add).collect()
}

fn scan_inclusive() -> Case {
    let input = ints(163, 300, -100..100);
    let expected: Vec<i32> = input.chunks(128).flat_map(running_sums).collect();
    kernel!("scan_inclusive")
        .over(300, 128)
        .input(&input)
        .output(expected)
        .i32(300)
}

fn scan_exclusive() -> Case {
    let input = ints(164, 384, -100..100);
    let exclusive = |b: &[i32]| {
        let inclusive = running_sums(b).into_iter();
        inclusive
            .zip(b)
            .map(|(sum, v)| sum - v)
            .collect::<Vec<i32>>()
    };
    let expected: Vec<i32> = input.chunks(128).flat_map(exclusive).collect();
    let sums: Vec<i32> = input.chunks(128).map(|b| b.iter().sum()).collect();
    let case = kernel!("scan_exclusive")
        .launch([3, 1, 1], [64, 1, 1])
        .shared(4 * 132);
    case.input(&input).output(expected).output(sums)
}

fn compaction() -> Case {
    let input = ints(165, 200, -50..50);
    let kept = |b: &[i32]| b.iter().copied().filter(|v| *v > 0).collect::<Vec<i32>>();
    let counts: Vec<i32> = input.chunks(64).map(|b| kept(b).len() as i32).collect();
    let row = |b: &[i32]| {
        let mut row = kept(b);
        row.resize(64, -7);
        row
    };
    let expected: Vec<i32> = input.chunks(64).flat_map(row).collect();
    let case = kernel!("compaction").over(200, 64).input(&input);
    case.in_out(&[-7; 256], expected).output(counts).i32(200)
}

fn histogram_global() -> Case {
    let data = bytes(166, 1500);
    let mut expected = vec![0u32; 256];
    data.iter().for_each(|b| expected[usize::from(*b)] += 1);
    let case = kernel!("histogram_global").launch([4, 1, 1], [64, 1, 1]);
    case.input(&data).in_out(&[0u32; 256], expected).i32(1500)
}

fn histogram_shared() -> Case {
    let data = words(167, 2000);
    let mut expected = vec![0u32; 64];
    data.iter().for_each(|w| expected[(w >> 26) as usize] += 1);
    let case = kernel!("histogram_shared").launch([4, 1, 1], [48, 1, 1]);
    case.input(&data).in_out(&[0u32; 64], expected).i32(2000)
}

fn radix_pass() -> Case {
    let keys = words(168, 256);
    let sorted = |b: &[u32]| {
        let mut sorted = b.to_vec();
        sorted.sort_by_key(|key| key >> 8 & 15);
        sorted
    };
    let expected: Vec<u32> = keys.chunks(128).flat_map(sorted).collect();
    let case = kernel!("radix_pass").launch([2, 1, 1], [128, 1, 1]);
    case.in_out(&keys, expected).i32(8)
}

fn bitonic_sort() -> Case {
    let data = ints(169, 512, -10_000..10_000);
    let sorted = |b: &[i32]| {
        let mut sorted = b.to_vec();
        sorted.sort_unstable();
        sorted
    };
    let expected: Vec<i32> = data.chunks(256).flat_map(sorted).collect();
    kernel!("bitonic_sort")
        .launch([2, 1, 1], [256, 1, 1])
        .in_out(&data, expected)
}

fn bitonic_step() -> Case {
    let values = floats(170, 256, -9.0..9.0);
    let mut expected = values.clone();
    let (j, k) = (16, 64);
    for i in (0..256).filter(|i| i & j == 0) {
        let is_ascending = i & k == 0;
        if (expected[i] > expected[i + j]) == is_ascending {
            expected.swap(i, i + j);
        }
    }
    let case = kernel!("bitonic_step")
        .over(256, 64)
        .in_out(&values, expected);
    case.i32(j).i32(k)
}

fn odd_even_sort() -> Case {
    let keys = floats(171, 110, -9.0..9.0);
    let values: Vec<i32> = (0..110).collect();
    let mut pairs: Vec<(f32, i32)> = keys.iter().copied().zip(values.iter().copied()).collect();
    // A stable sort, as exchanges of neighbours are.
    pairs
        .chunks_mut(64)
        .for_each(|b| b.sort_by(|x, y| x.0.total_cmp(&y.0)));
    let (sorted_keys, sorted_values): (Vec<f32>, Vec<i32>) = pairs.into_iter().unzip();
    let case = kernel!("odd_even_sort").over(110, 64);
    case.in_out(&keys, sorted_keys)
        .in_out(&values, sorted_values)
        .i32(110)
}

fn merge_ranks() -> Case {
    let (mut a, mut b) = (ints(172, 90, 0..60), ints(173, 70, 0..60));
    a.sort_unstable();
    b.sort_unstable();
    let mut expected = [a.clone(), b.clone()].concat();
    expected.sort_unstable();
    let case = kernel!("merge_ranks").over(160, 64).input(&a).i32(90);
    case.input(&b).i32(70).output(expected)
}

fn argmax() -> Case {
    let width = 150;
    let rows = whole_floats(174, 5 * width, -60..60);
    let best = |row: &[f32]| {
        let top = row.iter().fold(f32::MIN, |a, v| a.max(*v));
        row.iter().position(|v| *v == top).unwrap() as i32
    };
    let expected: Vec<i32> = rows.chunks_exact(width).map(best).collect();
    let case = kernel!("argmax").launch([5, 1, 1], [64, 1, 1]);
    case.input(&rows).output(expected).i32(width)
}
