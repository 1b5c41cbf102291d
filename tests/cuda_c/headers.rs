//! Declarations of CUDA's headers, and parts of C++ that kernels of others use.

use crate::case::{Case, kernel};
use crate::inputs::{ints, words};

pub fn cases() -> Vec<Case> {
    vec![
        cooperative_groups(),
        unions(),
        member_values(),
        specialisations(),
    ]
}

fn cooperative_groups() -> Case {
    let input = ints(510, 128, 0..100);
    let blocks: Vec<i32> = input.chunks(64).map(|block| block.iter().sum()).collect();
    let mut tiles = Vec::new();
    let mut votes = Vec::new();
    for (i, &value) in input.iter().enumerate() {
        let (warp, tile) = (&input[i / 32 * 32..][..32], &input[i / 8 * 8..][..8]);
        let next = if i % 8 == 7 { value } else { input[i + 1] };
        tiles.push(tile.iter().sum::<i32>() * 1000 + warp.iter().max().unwrap() + next);
        let odd: u32 = (0..8).map(|k| ((tile[k] % 2) as u32) << k).sum();
        let any = u32::from(warp.contains(&7));
        let all = u32::from(tile.iter().all(|v| *v < 90));
        votes.push(
            odd + 256 * any + 512 * all + 1024 * (i as u32 % 32 / 8) + 8192 * (i as u32 % 64 / 32),
        );
    }
    kernel!("cooperative_groups")
        .entry("groups")
        .over(128, 64)
        .input(&input)
        .output(blocks)
        .output(tiles)
        .output(votes)
}

fn unions() -> Case {
    let before: Vec<u32> = words(511, 70)
        .iter()
        .map(|w| w & 0x3fff_ffff | 0x3000_0000)
        .collect();
    let word = |i: usize| (f32::from_bits(before[i] ^ 0x8000_0000) + 1.0).to_bits();
    let after: Vec<u32> = (0..70)
        .map(|i| {
            if i % 3 == 0 || i % 2 == 0 {
                word(i)
            } else {
                i as u32
            }
        })
        .collect();
    let mut randoms = Vec::new();
    for i in 0..70u32 {
        let mut state = i + 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            f32::from_bits(state & 0x7f_ffff | 0x3f80_0000) - 1.0
        };
        randoms.push(next() + next());
    }
    kernel!("unions")
        .over(70, 32)
        .in_out(&before, after)
        .output(randoms)
        .i32(70)
}

fn member_values() -> Case {
    let expected: Vec<i32> = (0..60)
        .flat_map(|i| {
            [
                3 + [7, 9][i as usize % 2],
                i.min(40) + 9,
                5 + i + 10,
                i / 2 + 40,
            ]
        })
        .collect();
    kernel!("member_values")
        .over(60, 32)
        .output(expected)
        .i32(60)
}

fn specialisations() -> Case {
    let input = ints(512, 70, -1000..1000);
    let rows = input.iter().enumerate();
    let expected: Vec<i32> = rows
        .flat_map(|(i, &v)| {
            let i = i as i32;
            [v + 3 * i + 1 + 2 * i, (v << 2) + (i >> 1) + 20, 32767]
        })
        .collect();
    let reals: Vec<f32> = (0..70).map(|i| i as f32 * 0.25).collect();
    kernel!("specialisations")
        .over(70, 32)
        .input(&input)
        .output(expected)
        .output(reals)
        .i32(70)
}
