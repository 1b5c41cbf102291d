//! Kernels of whole programs, whose host code is skipped.

use crate::case::{Case, near};
use crate::inputs::{floats, ints, whole_floats};

pub fn cases() -> Vec<Case> {
    vec![
        weighted_sum(),
        median_filter(),
        forward_layer(),
        adjust_layer(),
        factors(),
        subtract(),
        nearest_record(),
        wave_equation(),
        lattice_boltzmann(),
        init_plate(),
        heat_step(),
        table_lookup(),
        scan_blocks(),
        add_sums(),
    ]
}

/// Creates the case of `programs/NAME.cu` for one of its kernels.
macro_rules! program {
    ($name:literal, $entry:literal) => {
        Case::new($name, include_str!(concat!("programs/", $name, ".cu"))).entry($entry)
    };
}

fn weighted_sum() -> Case {
    let (left, right) = (floats(240, 300, -9.0..9.0), floats(241, 300, -9.0..9.0));
    let expected: Vec<f32> = left
        .iter()
        .zip(&right)
        .map(|(l, r)| 2.0 * l - 0.5 * r)
        .collect();
    let case = program!("weighted_sum", "weightedSum").over(300, 256);
    let case = case
        .input(&left)
        .input(&right)
        .output_within(expected, near(1e-5));
    case.f32(2.0).f32(-0.5).i32(300)
}

fn median_filter() -> Case {
    let (w, h) = (21, 18);
    let image = floats(242, w * h, 0.0..255.0);
    let mirrored = |v: i32, n: usize| {
        let n = n as i32;
        if v.abs() >= n {
            (2 * n - 2 - v.abs()) as usize
        } else {
            v.unsigned_abs() as usize
        }
    };
    let of = |i: usize| {
        let (x, y) = ((i % w) as i32, (i / w) as i32);
        let around = (-2..=2).flat_map(|dy| (-2..=2).map(move |dx| (x + dx, y + dy)));
        let values = around.map(|(x, y)| image[mirrored(y, h) * w + mirrored(x, w)]);
        let mut values: Vec<f32> = values.collect();
        values.sort_by(f32::total_cmp);
        values[12]
    };
    let expected: Vec<f32> = (0..w * h).map(of).collect();
    let case = program!("median_filter", "median<2>").launch([2, 2, 1], [16, 16, 1]);
    case.input(&image).output(expected).i32(w).i32(h)
}

const UNITS: usize = 16;

fn forward_layer() -> Case {
    let inputs = whole_floats(243, 48, -9..9);
    let weights = whole_floats(244, 48 * UNITS, -9..9);
    let of = |i: usize| {
        let (block, unit) = (i / UNITS, i % UNITS);
        let rows = block * 16..block * 16 + 16;
        rows.map(|row| inputs[row] * weights[row * UNITS + unit])
            .sum()
    };
    let expected: Vec<f32> = (0..3 * UNITS).map(of).collect();
    let case = program!("perceptron", "forward_layer").launch([1, 3, 1], [16, 16, 1]);
    case.input(&inputs)
        .input(&weights)
        .output(expected)
        .i32(UNITS)
}

fn adjust_layer() -> Case {
    let (errors, inputs) = (floats(245, UNITS, -1.0..1.0), floats(246, 32, -1.0..1.0));
    let weights = floats(247, 32 * UNITS, -1.0..1.0);
    let previous = floats(248, 32 * UNITS, -1.0..1.0);
    let change = |i: usize| 0.25 * errors[i % UNITS] * inputs[i / UNITS] + 0.5 * previous[i];
    let changes: Vec<f32> = (0..32 * UNITS).map(change).collect();
    let after: Vec<f32> = weights.iter().zip(&changes).map(|(w, c)| w + c).collect();
    let case = program!("perceptron", "adjust_layer").launch([1, 2, 1], [16, 16, 1]);
    let case = case.input(&errors).input(&inputs);
    let case = case.in_out_within(&weights, after, near(1e-5));
    case.in_out_within(&previous, changes, near(1e-5))
        .i32(UNITS)
}

const SIZE: usize = 30;

fn factors() -> Case {
    let column = 4;
    let mut matrix = floats(249, SIZE * SIZE, -1.0..1.0);
    matrix[column * SIZE + column] = 3.0;
    let of = |row: usize| match row {
        _ if row > column => matrix[row * SIZE + column] / 3.0,
        _ => -1.0,
    };
    let expected: Vec<f32> = (0..SIZE).map(of).collect();
    let case = program!("elimination", "factors").over(SIZE, 128);
    let case = case.in_out_within(&[-1.0f32; SIZE], expected, near(1e-5));
    case.input(&matrix).i32(SIZE).i32(column)
}

fn subtract() -> Case {
    let column = 5;
    let matrix = floats(250, SIZE * SIZE, -1.0..1.0);
    let rhs = floats(251, SIZE, -1.0..1.0);
    let multipliers = floats(252, SIZE, -1.0..1.0);
    let (mut after, mut rhs_after) = (matrix.clone(), rhs.clone());
    for row in column + 1..SIZE {
        for at in column..SIZE {
            after[row * SIZE + at] -= multipliers[row] * matrix[column * SIZE + at];
        }
        rhs_after[row] -= multipliers[row] * rhs[column];
    }
    let case = program!("elimination", "subtract").launch([4, 4, 1], [8, 8, 1]);
    let case = case.in_out_within(&matrix, after, near(1e-5));
    let case = case.in_out_within(&rhs, rhs_after, near(1e-5));
    case.input(&multipliers).i32(SIZE).i32(column)
}

fn nearest_record() -> Case {
    let places = floats(253, 2 * 200, 0.0..90.0);
    let distance = |p: &[f32]| (48.0 - p[0]).hypot(11.5 - p[1]);
    let expected: Vec<f32> = places.chunks_exact(2).map(distance).collect();
    let case = program!("nearest_record", "distances").launch([2, 2, 1], [64, 1, 1]);
    let case = case.input(&places).output_within(expected, near(1e-5));
    case.i32(200).f32(48.0).f32(11.5)
}

fn wave_equation() -> Case {
    let (rows, cols) = (11, 17);
    let cells = rows * cols;
    let above: Vec<i32> = (0..rows as i32).map(|r| (r - 1).max(0)).collect();
    let below: Vec<i32> = (0..rows as i32)
        .map(|r| (r + 1).min(rows as i32 - 1))
        .collect();
    let stiffness = floats(254, cells, 0.1..0.9);
    let (now, before) = (
        floats(255, cells, -90.0..90.0),
        floats(256, cells, -90.0..90.0),
    );
    let next = |cell: usize| {
        let (row, col) = (cell / cols, cell % cols);
        let at = |row: i32, col: usize| f64::from(now[row as usize * cols + col]);
        let center = f64::from(now[cell]);
        let sides = at(row as i32, col.saturating_sub(1)) + at(row as i32, (col + 1).min(cols - 1));
        let around = at(above[row], col) + at(below[row], col) + sides - 4.0 * center;
        let pull = 0.25 * f64::from(stiffness[cell]) * around;
        let damping = 1.0 / (1.0 + 0.001 * center.abs());
        let next = (2.0 * center - f64::from(before[cell]) + pull) * damping;
        next.clamp(-100.0, 100.0)
    };
    let after: Vec<f64> = (0..cells).map(next).collect();
    let energy = after
        .iter()
        .zip(&before)
        .map(|(a, b)| 0.5 * (a - f64::from(*b)).powi(2));
    let energy: Vec<f32> = energy.map(|e| e as f32).collect();
    let after: Vec<f32> = after.iter().map(|a| *a as f32).collect();
    let case = program!("wave_equation", "wave")
        .narrow_f64()
        .over(cells, 64);
    let case = case
        .i32(rows)
        .i32(cols)
        .i32(cells)
        .input(&above)
        .input(&below);
    let case = case.input(&stiffness).input(&now);
    let case = case.in_out_within(&before, after, near(1e-4));
    case.output_within(energy, near(1e-2))
}

fn lattice_boltzmann() -> Case {
    let (nx, ny) = (32, 24);
    let f = floats(257, nx * ny * 9, 0.05..0.2);
    let directions = [
        (0, 0),
        (1, 0),
        (0, 1),
        (-1, 0),
        (0, -1),
        (1, 1),
        (-1, 1),
        (-1, -1),
        (1, -1),
    ];
    let (mut next, mut density) = (vec![0.0f32; f.len()], Vec::new());
    for y in 0..ny {
        for x in 0..nx {
            let local: Vec<f64> = (0..9)
                .map(|d| f64::from(f[nx * (ny * d + y) + x]))
                .collect();
            let rho: f64 = local.iter().sum();
            let flow = |of: fn((i32, i32)) -> i32| {
                let terms = local
                    .iter()
                    .zip(directions)
                    .map(|(l, d)| l * f64::from(of(d)));
                terms.sum::<f64>() / rho
            };
            let (ux, uy) = (flow(|d| d.0), flow(|d| d.1));
            for (d, (ex, ey)) in directions.into_iter().enumerate() {
                let weight = [4.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0][(ex * ex + ey * ey) as usize];
                let eu = f64::from(ex) * ux + f64::from(ey) * uy;
                let series = 1.0 + 3.0 * eu + 4.5 * eu * eu - 1.5 * (ux * ux + uy * uy);
                let xt = (x as i32 + ex).rem_euclid(nx as i32) as usize;
                let yt = (y as i32 + ey).rem_euclid(ny as i32) as usize;
                let value = -0.2 * local[d] + 1.2 * weight * rho * series;
                next[nx * (ny * d + yt) + xt] = value as f32;
            }
            density.push(rho as f32);
        }
    }
    let case = program!("lattice_boltzmann", "collide_and_stream");
    let case = case.launch([1, 24, 1], [32, 1, 1]).input(&f);
    let case = case.output_within(next, near(1e-5));
    case.output_within(density, near(1e-5)).f32(1.2)
}

fn init_plate() -> Case {
    let (w, h) = (37, 13);
    let of = |i: usize| match (i % w, i / w) {
        (0, _) | (_, 0) => 100.0,
        (x, _) if x == w - 1 => 50.0,
        _ => 0.0,
    };
    let expected: Vec<f32> = (0..w * h).map(of).collect();
    let case = program!("heat_2d", "init_plate").launch([3, 2, 1], [16, 8, 1]);
    case.output(expected).i32(w).i32(h)
}

fn heat_step() -> Case {
    let (w, h) = (37, 13);
    let u = whole_floats(258, w * h, 0..100);
    let is_edge = |x: usize, y: usize| x == 0 || y == 0 || x == w - 1 || y == h - 1;
    let (mut next, mut changes) = (vec![-1.0; w * h], vec![0.0f32; 6]);
    for i in 0..w * h {
        let (x, y) = (i % w, i / w);
        if !is_edge(x, y) {
            // Whole numbers and a quarter: all results are exact.
            let delta = 0.25 * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - 4.0 * u[i]);
            next[i] = u[i] + delta;
            let change = &mut changes[y / 8 * 3 + x / 16];
            *change = change.max(delta.abs());
        }
    }
    let case = program!("heat_2d", "heat_step<float>").launch([3, 2, 1], [16, 8, 1]);
    let case = case.input(&u).in_out(&vec![-1.0f32; w * h], next);
    case.output(changes).i32(w).i32(h).f32(0.25)
}

fn table_lookup() -> Case {
    let (lookups, n_samples) = (150, 40);
    let channels = floats(259, n_samples * 3, 0.0..9.0);
    let of = |(i, three): (usize, &[f32])| {
        let key = (i * i) as f32 / (n_samples - 1).pow(2) as f32;
        [key, three[0], three[1], three[2]]
    };
    let samples: Vec<[f32; 4]> = channels.chunks_exact(3).enumerate().map(of).collect();
    let find = |i: u32| {
        let next = |seed: u32| seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let share = |seed: u32| f64::from(seed >> 8) / f64::from(1 << 24);
        let first = next(42 + i * 7919);
        let (key, roll) = (share(first), share(next(first)));
        let material = [0.125, 0.375, 0.875, 1.0]
            .iter()
            .position(|end| roll < *end);
        let inner = 1..n_samples - 1;
        let low = inner
            .rev()
            .find(|s| f64::from(samples[*s][0]) <= key)
            .unwrap_or(0);
        let [a, b] = [samples[low], samples[low + 1]].map(|s| s.map(f64::from));
        let f = (key - a[0]) / (b[0] - a[0]);
        let greatest = (1..4)
            .map(|c| a[c] + f * (b[c] - a[c]))
            .fold(-1.0, f64::max);
        (greatest as f32, material.unwrap() as i32)
    };
    let (results, materials): (Vec<f32>, Vec<i32>) = (0..lookups).map(find).unzip();
    let case = program!("table_lookup", "lookup").over(lookups as usize, 64);
    let case = case.i32(lookups).i32(n_samples).input(&samples.concat());
    case.output_within(results, near(1e-4)).output(materials)
}

fn scan_blocks() -> Case {
    let data = ints(260, 384, -50..50);
    let running = |b: &[i32]| {
        let add = |sum: &mut i32, v: &i32| {
            *sum += v;
            Some(*sum)
        };
        b.iter().scan(0, add).collect::<Vec<i32>>()
    };
    let expected: Vec<i32> = data.chunks(128).flat_map(running).collect();
    let sums: Vec<i32> = data.chunks(128).map(|b| b.iter().sum()).collect();
    let case = program!("block_scan", "scan_blocks").launch([3, 1, 1], [128, 1, 1]);
    case.shared(16).in_out(&data, expected).output(sums)
}

fn add_sums() -> Case {
    let data = ints(261, 300, -50..50);
    let sums = ints(262, 3, -500..500);
    let of = |(i, v): (usize, &i32)| v + sums[..i / 128].iter().sum::<i32>();
    let expected: Vec<i32> = data.iter().enumerate().map(of).collect();
    let case = program!("block_scan", "add_sums").over(300, 128);
    case.in_out(&data, expected).input(&sums).i32(300)
}
