//! Graphs, hashes, texts and tables of dynamic programming.

use crate::case::{Case, kernel};
use crate::inputs::{Random, bytes, ints, words};

pub fn cases() -> Vec<Case> {
    vec![
        bfs_level(),
        floyd_step(),
        xxhash_mix(),
        sha256_block(),
        crc32(),
        string_search(),
        binary_tree(),
        queens(),
        needleman(),
        levenshtein(),
    ]
}

fn bfs_level() -> Case {
    let n = 90;
    let mut random = Random::new(220);
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let degree = random.below(5);
        nodes.extend([edges.len() as i32, degree as i32]);
        (0..degree).for_each(|_| edges.push(random.below(n) as i32));
    }
    let frontier: Vec<i32> = (0..n).map(|i| i32::from(i % 7 == 3)).collect();
    let visited: Vec<i32> = (0..n)
        .map(|i| i32::from(i % 7 == 3 || i % 5 == 1))
        .collect();
    let cost: Vec<i32> = visited
        .iter()
        .map(|v| if *v == 1 { 4 } else { -1 })
        .collect();
    let (mut next, mut after) = (vec![0; n as usize], cost.clone());
    for (i, ends) in nodes
        .chunks_exact(2)
        .enumerate()
        .filter(|(i, _)| frontier[*i] == 1)
    {
        for id in &edges[ends[0] as usize..][..ends[1] as usize] {
            let id = *id as usize;
            if visited[id] == 0 {
                next[id] = 1;
                after[id] = cost[i] + 1;
            }
        }
    }
    let zeros = vec![0; n as usize];
    kernel!("bfs_level")
        .over(n as usize, 32)
        .input(&nodes)
        .input(&edges)
        .in_out(&frontier, zeros.clone())
        .in_out(&zeros, next)
        .in_out(&visited, visited.clone())
        .in_out(&cost, after)
        .in_out(&[1], vec![0])
        .i32(n)
}

fn floyd_step() -> Case {
    let (n, k) = (40, 11);
    let distance = ints(221, n * n, 1..200);
    let (mut after, mut via) = (distance.clone(), vec![-1; n * n]);
    for i in 0..n * n {
        let through = distance[i / n * n + k] + distance[k * n + i % n];
        // Distances are positive, so that row and column of k stay as they are.
        if through < distance[i] {
            after[i] = through;
            via[i] = k as i32;
        }
    }
    let case = kernel!("floyd_step").launch([3, 5, 1], [16, 8, 1]);
    let case = case.in_out(&distance, after).in_out(&vec![-1; n * n], via);
    case.i32(n).i32(k)
}

fn xxhash_mix() -> Case {
    let data = words(222, 4 * 80);
    let hash = |four: &[u32]| {
        let bytes: Vec<u8> = four.iter().flat_map(|w| w.to_le_bytes()).collect();
        twox_hash::XxHash32::oneshot(99, &bytes)
    };
    let expected: Vec<u32> = data.chunks_exact(4).map(hash).collect();
    let case = kernel!("xxhash_mix")
        .over(80, 32)
        .input(&data)
        .output(expected);
    case.u32(99).i32(80)
}

/// The first 32 bits after the point of a cube root.
fn cube_root_bits(prime: u128) -> u32 {
    // The greatest r with r^3 <= prime * 2^96, bit by bit.
    let bits = (0..36).rev();
    let root = bits.fold(0u128, |root, bit| {
        let next = root | 1 << bit;
        if next * next * next <= prime << 96 {
            next
        } else {
            root
        }
    });
    root as u32
}

/// SHA-256 of one block, from its definition in FIPS 180-4.
fn sha256(state: &[u32], block: &[u8]) -> Vec<u32> {
    let is_prime = |n: &u128| (2..*n).all(|d| !n.is_multiple_of(d));
    let constants = (2..).filter(is_prime).take(64).map(cube_root_bits);
    let mut schedule: Vec<u32> = block
        .chunks_exact(4)
        .map(|b| u32::from_be_bytes(b.try_into().unwrap()))
        .collect();
    for t in 16..64 {
        let (x, y) = (schedule[t - 15], schedule[t - 2]);
        let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        let sum = s1.wrapping_add(schedule[t - 7]).wrapping_add(s0);
        schedule.push(sum.wrapping_add(schedule[t - 16]));
    }
    let mut v: Vec<u32> = state.to_vec();
    for (k, w) in constants.zip(schedule) {
        let (a, e) = (v[0], v[4]);
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & v[5]) ^ (!e & v[6]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        let t1 = [s1, choice, k, w]
            .iter()
            .fold(v[7], |sum, x| sum.wrapping_add(*x));
        v.rotate_right(1);
        v[4] = v[4].wrapping_add(t1);
        v[0] = t1.wrapping_add(s0).wrapping_add(majority);
    }
    v.iter()
        .zip(state)
        .map(|(v, s)| v.wrapping_add(*s))
        .collect()
}

fn sha256_block() -> Case {
    let n = 20;
    let mut data = bytes(223, 64 * n);
    let mut states = words(224, 8 * n);
    // The first block is "abc" with its padding, in the initial state: its hash is known.
    data[..64].fill(0);
    data[..4].copy_from_slice(b"abc\x80");
    data[63] = 24;
    states[..8].copy_from_slice(&[
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ]);
    let blocks = states.chunks_exact(8).zip(data.chunks_exact(64));
    let expected: Vec<u32> = blocks
        .flat_map(|(state, block)| sha256(state, block))
        .collect();
    assert_eq!(
        expected[0], 0xba78_16bf,
        "the first word of the hash of abc"
    );
    let case = kernel!("sha256_block").over(n, 32).input(&data);
    case.in_out(&states, expected).i32(n)
}

fn crc32() -> Case {
    let size = 37;
    let mut records = bytes(225, 50 * size);
    records[..9].copy_from_slice(b"123456789");
    let crc = |record: &[u8]| {
        !record.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| match crc & 1 {
                1 => crc >> 1 ^ 0xedb8_8320,
                _ => crc >> 1,
            })
        })
    };
    assert_eq!(crc(b"123456789"), 0xcbf4_3926, "the check value of CRC-32");
    let expected: Vec<u32> = records.chunks_exact(size).map(crc).collect();
    let case = kernel!("crc32").over(50, 64).input(&records).i32(size);
    case.output(expected).i32(50)
}

fn string_search() -> Case {
    let text: Vec<u8> = words(226, 400)
        .iter()
        .map(|w| b"abcabca"[(w % 7) as usize])
        .collect();
    let matches: Vec<i32> = (0..400)
        .map(|i| i32::from(text[i..].starts_with(b"abca")))
        .collect();
    let count = vec![matches.iter().sum::<i32>()];
    let case = kernel!("string_search").over(400, 64).input(&text).i32(400);
    case.output(matches).in_out(&[0], count)
}

/// A node is a key, the indices of two children, and the bits of a float.
fn binary_tree() -> Case {
    let keys = ints(227, 60, 0..500);
    let mut nodes: Vec<[i32; 4]> = Vec::new();
    for key in keys {
        let node = [key, -1, -1, (key as f32 * 0.5).to_bits() as i32];
        let (mut at, mut parent) = (0, None);
        while let Some(here) = usize::try_from(at).ok().and_then(|at: usize| nodes.get(at)) {
            let side = if key < here[0] { 1 } else { 2 };
            parent = Some((at, side));
            at = here[side];
        }
        let added = nodes.len() as i32;
        nodes.push(node);
        if let Some((parent, side)) = parent {
            nodes[parent as usize][side] = added;
        }
    }
    let queries = ints(228, 200, 0..500);
    let find = |query: &i32| {
        let (mut at, mut depth) = (0, 0);
        while at >= 0 {
            let [key, left, right, value] = nodes[at as usize];
            if key == *query {
                return (f32::from_bits(value as u32), depth);
            }
            at = if *query < key { left } else { right };
            depth += 1;
        }
        (-1.0, depth)
    };
    let (answers, depths): (Vec<f32>, Vec<i32>) = queries.iter().map(find).unzip();
    let case = kernel!("binary_tree").launch([2, 1, 1], [64, 1, 1]);
    let case = case.input(&nodes.concat()).input(&queries);
    case.output(answers).output(depths).i32(200)
}

fn queens() -> Case {
    kernel!("queens").output(vec![4, 8, 16, 18, 18, 16, 8, 4])
}

fn needleman() -> Case {
    let (cols, penalty, diagonal) = (50, 10, 57);
    let reference = ints(229, cols * cols, -9..9);
    let items = ints(230, cols * cols, -100..100);
    let mut expected = items.clone();
    for row in 1..cols {
        if let Some(col) =
            (diagonal + 1 - row..diagonal + 2 - row).find(|col| (1..cols).contains(col))
        {
            let at = row * cols + col;
            let diagonal = items[at - cols - 1] + reference[at];
            expected[at] = diagonal
                .max(items[at - 1] - penalty)
                .max(items[at - cols] - penalty);
        }
    }
    let case = kernel!("needleman").over(cols, 32).input(&reference);
    let case = case.in_out(&items, expected);
    case.i32(cols).i32(penalty).i32(diagonal)
}

fn levenshtein() -> Case {
    let (n, target) = (60, b"abacabad");
    let text: Vec<u8> = words(231, 16 * n)
        .iter()
        .map(|w| b'a' + (w % 4) as u8)
        .collect();
    let lengths = ints(232, n, 0..17);
    // Recursion over prefixes, as the distance is defined.
    fn distance(a: &[u8], b: &[u8], known: &mut Vec<Vec<Option<i32>>>) -> i32 {
        if let Some(found) = known[a.len()][b.len()] {
            return found;
        }
        let found = match (a.split_last(), b.split_last()) {
            (None, _) => b.len() as i32,
            (_, None) => a.len() as i32,
            (Some((x, a_rest)), Some((y, b_rest))) => {
                let replaced = distance(a_rest, b_rest, known) + i32::from(x != y);
                let removed = distance(a_rest, b, known) + 1;
                replaced.min(removed).min(distance(a, b_rest, known) + 1)
            }
        };
        known[a.len()][b.len()] = Some(found);
        found
    }
    let of = |i: usize| {
        let word = &text[16 * i..][..lengths[i] as usize];
        distance(word, target, &mut vec![vec![None; 9]; 17])
    };
    let expected: Vec<i32> = (0..n).map(of).collect();
    let case = kernel!("levenshtein")
        .over(n, 32)
        .input(&text)
        .input(&lengths);
    case.input(target).i32(target.len()).output(expected).i32(n)
}
