//! Warp functions. A warp has 32 lanes on every engine.

use crate::case::{Case, kernel};
use crate::inputs::{ints, naturals};

const WARP: usize = 32;

pub fn cases() -> Vec<Case> {
    vec![
        warp_reduce_down(),
        warp_butterfly(),
        warp_scan_up(),
        warp_broadcast(),
        warp_segments(),
        warp_ballot(),
        warp_votes(),
        warp_aggregate(),
        warp_reduce_functions(),
        warp_shared(),
        warp_plane(),
        warp_loop(),
    ]
}

/// Results of `of` for each warp.
fn by_warp<T, U>(input: &[T], of: impl Fn(&[T]) -> Vec<U>) -> Vec<U> {
    input.chunks(WARP).flat_map(of).collect()
}

fn launch(case: Case, n_blocks: u32, block: u32) -> Case {
    case.launch([n_blocks, 1, 1], [block, 1, 1])
}

fn warp_reduce_down() -> Case {
    let input = ints(110, 192, -1000..1000);
    let sums = by_warp(&input, |w| vec![w.iter().sum::<i32>()]);
    let halves: Vec<f32> = sums.iter().map(|s| *s as f32 / 2.0).collect();
    let case = launch(kernel!("warp_reduce_down"), 2, 96);
    case.input(&input).output(sums).output(halves)
}

fn warp_butterfly() -> Case {
    let input = ints(111, 128, -1000..1000);
    let expected = by_warp(&input, |w| {
        let top = w.iter().max().unwrap();
        w.iter().map(|v| v - top).collect()
    });
    launch(kernel!("warp_butterfly"), 1, 128)
        .input(&input)
        .output(expected)
}

fn warp_scan_up() -> Case {
    let input = ints(112, 128, -50..50);
    let expected = by_warp(&input, |w| {
        let mut sum = 0;
        let add = |v: &i32| {
            sum += v;
            sum
        };
        w.iter().map(add).collect()
    });
    launch(kernel!("warp_scan_up"), 2, 64)
        .input(&input)
        .output(expected)
}

fn warp_broadcast() -> Case {
    let input = ints(113, 128, 0..1000);
    let gathered = by_warp(&input, |w| {
        (0..WARP)
            .map(|l| w[0] * 1000 + w[(l * 7 + 3) % WARP])
            .collect()
    });
    let mixed: Vec<u32> = (0..128).map(|i| (i / 32 * 32 + 31 - i % 32) * 3).collect();
    let case = launch(kernel!("warp_broadcast"), 2, 64);
    case.input(&input).output(gathered).output(mixed)
}

fn warp_segments() -> Case {
    let input = ints(114, 64, -100..100);
    let expected = by_warp(&input, |w| {
        let of = |l: usize| {
            // A source outside the segment leaves a lane its own value.
            let down = if l % 8 + 3 < 8 { w[l + 3] } else { w[l] };
            let up = if l % 16 >= 2 { w[l - 2] } else { w[l] };
            down + 10 * up + 100 * w[l ^ 4] + 1000 * w[l / 8 * 8 + 1]
        };
        (0..WARP).map(of).collect()
    });
    launch(kernel!("warp_segments"), 1, 64)
        .input(&input)
        .output(expected)
}

fn warp_ballot() -> Case {
    let input = naturals(115, 160, 1000)
        .iter()
        .map(|v| *v as i32)
        .collect::<Vec<_>>();
    let mask = |w: &[i32]| (0..WARP).map(|l| (w[l] as u32 & 1) << l).sum::<u32>();
    let masks = by_warp(&input, |w| vec![mask(w)]);
    let ranks = by_warp(&input, |w| {
        let of = |l: usize| match w[l] & 1 {
            1 => w[..l].iter().filter(|v| *v & 1 == 1).count() as i32,
            _ => -(mask(w).count_ones() as i32),
        };
        (0..WARP).map(of).collect()
    });
    let case = launch(kernel!("warp_ballot"), 5, 32);
    case.input(&input).output(masks).output(ranks)
}

fn warp_votes() -> Case {
    let mut input = ints(116, 128, 0..90);
    input[40] = 96;
    input[70] = 99;
    let expected = by_warp(&input, |w| {
        let any = i32::from(w.iter().any(|v| *v > 95));
        let all = i32::from(w.iter().all(|v| *v < 97));
        vec![any + 2 * all; WARP]
    });
    launch(kernel!("warp_votes"), 1, 128)
        .input(&input)
        .output(expected)
}

fn warp_aggregate() -> Case {
    let input = ints(117, 300, -10..10);
    let n_kept = input.iter().filter(|v| **v > 0).count();
    let kept: Vec<i32> = (0..300).map(|i| i32::from(i < n_kept)).collect();
    let case = kernel!("warp_aggregate").over(300, 64).input(&input);
    case.in_out(&[0], vec![n_kept as i32])
        .in_out(&[0; 300], kept)
        .i32(300)
}

fn warp_reduce_functions() -> Case {
    let input = ints(118, 128, -100_000..100_000);
    let values = by_warp(&input, |w| {
        let (least, greatest) = (w.iter().min().unwrap(), w.iter().max().unwrap());
        vec![w.iter().sum::<i32>() + least * 3 + greatest * 7; WARP]
    });
    let bits = by_warp(&input, |w| {
        let all = w.iter().fold(u32::MAX, |a, v| a & (*v as u32 | 1));
        let some = w.iter().fold(0, |a, v| a | *v as u32);
        let odd = w.iter().fold(0, |a, v| a ^ *v as u32);
        vec![all ^ (some << 1) ^ (odd << 2); WARP]
    });
    let case = launch(kernel!("warp_reduce_functions"), 2, 64);
    case.input(&input).output(values).output(bits)
}

fn warp_shared() -> Case {
    let input = ints(119, 128, -100..100);
    let expected = by_warp(&input, |w| {
        (0..WARP).map(|l| w[l] * 2 + w[(l + 1) % WARP]).collect()
    });
    launch(kernel!("warp_shared"), 2, 64)
        .input(&input)
        .output(expected)
}

fn warp_plane() -> Case {
    let input = ints(120, 128, -100..100);
    let expected = by_warp(&input, |w| {
        let of = |l: usize| match l {
            ..8 => w[l] + w[l + 16] + w[l + 8] + w[l + 24],
            _ => -1,
        };
        (0..WARP).map(of).collect()
    });
    let case = kernel!("warp_plane").launch([2, 1, 1], [16, 4, 1]);
    case.input(&input).output(expected)
}

fn warp_loop() -> Case {
    let input = ints(121, 64, 0..500);
    let expected = by_warp(&input, |w| {
        let mut values = w.to_vec();
        for r in 0..6 {
            let of = |l: usize| {
                let (own, other) = (values[l], values[(l + r + 1) % WARP]);
                match own {
                    _ if other > own => other - 1,
                    _ if own & 3 == 2 => own - 3,
                    _ => own,
                }
            };
            values = (0..WARP).map(of).collect();
        }
        values
    });
    launch(kernel!("warp_loop"), 1, 64)
        .input(&input)
        .output(expected)
        .i32(6)
}
