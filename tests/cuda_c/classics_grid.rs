//! Stencils, images, fractals and automata.

use crate::case::{Case, Tolerance, kernel, near};
use crate::inputs::{bytes, floats, ints};

pub fn cases() -> Vec<Case> {
    vec![
        stencil_1d(),
        stencil_2d(),
        stencil_3d(),
        convolution_constant(),
        sobel(),
        box_blur(),
        rgb_to_grey(),
        mandelbrot(),
        mandelbrot_fixed(),
        life(),
        hotspot(),
        pathfinder(),
    ]
}

/// Launches blocks of 16 by 8 threads over a plane.
fn plane(case: Case, width: usize, height: usize) -> Case {
    let grid = [width.div_ceil(16) as u32, height.div_ceil(8) as u32, 1];
    case.launch(grid, [16, 8, 1])
}

/// Results of `of` for each point of a plane, row by row.
fn points<T>(width: usize, height: usize, of: impl Fn(i32, i32) -> T) -> Vec<T> {
    let all = (0..height as i32).flat_map(|y| (0..width as i32).map(move |x| (x, y)));
    all.map(|(x, y)| of(x, y)).collect()
}

fn stencil_1d() -> Case {
    let input = ints(180, 200, -100..100);
    let of = |i: usize| input[i.saturating_sub(3)..(i + 4).min(200)].iter().sum();
    let expected: Vec<i32> = (0..200).map(of).collect();
    kernel!("stencil_1d")
        .over(200, 64)
        .input(&input)
        .output(expected)
        .i32(200)
}

fn stencil_2d() -> Case {
    let (w, h) = (45, 21);
    let input = floats(181, w * h, -9.0..9.0);
    let at = |x: i32, y: i32| input[y as usize * w + x as usize];
    let is_edge = |x: i32, y: i32| x == 0 || y == 0 || x == w as i32 - 1 || y == h as i32 - 1;
    let expected = points(w, h, |x, y| match is_edge(x, y) {
        true => 7.0,
        false => {
            let around = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
            at(x, y) + 0.2 * (around - 4.0 * at(x, y))
        }
    });
    let case = plane(kernel!("stencil_2d"), w, h).input(&input);
    let case = case.in_out_within(&vec![7.0f32; w * h], expected, near(1e-5));
    case.i32(w).i32(h).f32(0.2)
}

fn stencil_3d() -> Case {
    let [nx, ny, nz] = [18, 11, 7];
    let input = floats(182, nx * ny * nz, -9.0..9.0);
    let of = |i: usize| {
        let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
        let is_inner = |v: usize, n: usize| v > 0 && v < n - 1;
        if !(is_inner(x, nx) && is_inner(y, ny) && is_inner(z, nz)) {
            return -1.0;
        }
        let plane = input[i - 1] + input[i + 1] + input[i - nx] + input[i + nx];
        let ends = input[i - nx * ny] + input[i + nx * ny];
        0.5 * input[i] + 0.125 * plane + 0.0625 * ends
    };
    let expected: Vec<f32> = (0..nx * ny * nz).map(of).collect();
    let before = vec![-1.0f32; nx * ny * nz];
    let case = plane(kernel!("stencil_3d"), nx, ny).input(&input);
    let case = case.in_out_within(&before, expected, near(1e-5));
    case.i32(nx).i32(ny).i32(nz)
}

fn convolution_constant() -> Case {
    let (w, h) = (33, 18);
    let image = floats(183, w * h, 0.0..255.0);
    let at = |x: i32, y: i32| match (0..w as i32).contains(&x) && (0..h as i32).contains(&y) {
        true => image[y as usize * w + x as usize],
        false => 0.0,
    };
    // The filter is the product of two rows of binomials.
    let binomials = [1.0, 4.0, 6.0, 4.0, 1.0];
    let expected = points(w, h, |x, y| {
        let row = |dy: usize| {
            let terms = (0..5).map(|dx| binomials[dx] * at(x + dx as i32 - 2, y + dy as i32 - 2));
            binomials[dy] * terms.sum::<f32>()
        };
        (0..5).map(row).sum::<f32>() / 256.0
    });
    let case = plane(kernel!("convolution_constant"), w, h).input(&image);
    case.output_within(expected, near(1e-5)).i32(w).i32(h)
}

fn sobel() -> Case {
    let (w, h) = (37, 19);
    let image = bytes(184, w * h);
    let at = |x: i32, y: i32| {
        let (x, y) = (x.clamp(0, w as i32 - 1), y.clamp(0, h as i32 - 1));
        i32::from(image[y as usize * w + x as usize])
    };
    let expected = points(w, h, |x, y| {
        let side = |dx: i32| at(x + dx, y - 1) + 2 * at(x + dx, y) + at(x + dx, y + 1);
        let end = |dy: i32| at(x - 1, y + dy) + 2 * at(x, y + dy) + at(x + 1, y + dy);
        let magnitude = (side(1) - side(-1)).abs() + (end(1) - end(-1)).abs();
        magnitude.min(255) as u8
    });
    let case = plane(kernel!("sobel"), w, h).input(&image).output(expected);
    case.i32(w).i32(h)
}

fn box_blur() -> Case {
    let (w, h, radius) = (21, 13, 2);
    let image = bytes(185, w * h * 3);
    let expected = points(w, h, |x, y| {
        [0, 1, 2].map(|channel| {
            let near = |v: i32, n: usize| {
                (v - radius).max(0) as usize..=(v + radius).min(n as i32 - 1) as usize
            };
            let rows = near(y, h).flat_map(|yy| near(x, w).map(move |xx| yy * w + xx));
            let values: Vec<u32> = rows.map(|i| u32::from(image[i * 3 + channel])).collect();
            (values.iter().sum::<u32>() / values.len() as u32) as u8
        })
    });
    let case = plane(kernel!("box_blur"), w, h)
        .input(&image)
        .output(expected.concat());
    case.i32(w).i32(h).i32(radius)
}

fn rgb_to_grey() -> Case {
    let pixels = bytes(186, 4 * 150);
    let (colors, _) = pixels.as_chunks::<4>();
    let grey = |&[r, g, b, _]: &[u8; 4]| {
        let weighed = u32::from(r) * 77 + u32::from(g) * 150 + u32::from(b) * 29;
        (weighed >> 8) as u8
    };
    let exact = |&[r, g, b, _]: &[u8; 4]| {
        0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b)
    };
    let greys: Vec<u8> = colors.iter().map(grey).collect();
    let exacts: Vec<f32> = colors.iter().map(exact).collect();
    let case = kernel!("rgb_to_grey")
        .over(150, 64)
        .input(&pixels)
        .output(greys);
    case.output_within(exacts, near(1e-5)).i32(150)
}

/// Rounding differs between engines, which changes the count of points at the edge of the set.
fn mandelbrot() -> Case {
    let (w, h, limit) = (60, 40, 60);
    let expected = points(w, h, |px, py| {
        let (cr, ci) = (-2.0 + px as f32 * 0.05, -1.0 + py as f32 * 0.05);
        let (mut zr, mut zi, mut k) = (0.0f32, 0.0f32, 0);
        while k < limit && zr * zr + zi * zi < 4.0 {
            (zr, zi) = (zr * zr - zi * zi + cr, 2.0 * zr * zi + ci);
            k += 1;
        }
        k
    });
    let case = plane(kernel!("mandelbrot"), w, h);
    let case = case
        .output_within(expected, Tolerance::Except(0.02))
        .i32(w)
        .i32(h);
    case.f32(-2.0).f32(-1.0).f32(0.05).i32(limit)
}

fn mandelbrot_fixed() -> Case {
    let (w, h) = (48, 32);
    let expected = points(w, h, |px, py| {
        let cr = -8192 + px * (12288 / w as i32);
        let ci = -4096 + py * (8192 / h as i32);
        let (mut zr, mut zi, mut k) = (0i32, 0i32, 0u8);
        while k < 200 {
            let (rr, ii) = ((zr * zr) >> 12, (zi * zi) >> 12);
            if rr + ii > 4 * 4096 {
                break;
            }
            (zr, zi) = (rr - ii + cr, 2 * ((zr * zi) >> 12) + ci);
            k += 1;
        }
        255 - k
    });
    let case = plane(kernel!("mandelbrot_fixed"), w, h).output(expected);
    case.i32(w).i32(h)
}

fn life() -> Case {
    let (w, h) = (35, 22);
    let cells: Vec<u8> = bytes(187, w * h).iter().map(|b| b & 1).collect();
    let at = |x: i32, y: i32| {
        let (x, y) = (x.rem_euclid(w as i32), y.rem_euclid(h as i32));
        cells[y as usize * w + x as usize]
    };
    let expected = points(w, h, |x, y| {
        let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        let alive: u8 = around.map(|(dx, dy)| at(x + dx, y + dy)).sum::<u8>() - at(x, y);
        u8::from(alive == 3 || alive == 2 && at(x, y) == 1)
    });
    let case = plane(kernel!("life"), w, h).input(&cells).output(expected);
    case.i32(w).i32(h)
}

fn hotspot() -> Case {
    let (w, h) = (30, 20);
    let power = floats(188, w * h, 0.0..2.0);
    let heat = floats(189, w * h, 300.0..360.0);
    let at = |x: i32, y: i32| {
        heat[y.clamp(0, h as i32 - 1) as usize * w + x.clamp(0, w as i32 - 1) as usize]
    };
    let [cap, rx, ry, rz, step] = [0.5, 2.0, 4.0, 8.0, 0.01f32];
    let expected = points(w, h, |x, y| {
        let center = at(x, y);
        let vertical = (at(x, y - 1) + at(x, y + 1) - 2.0 * center) / ry;
        let horizontal = (at(x - 1, y) + at(x + 1, y) - 2.0 * center) / rx;
        let source = power[y as usize * w + x as usize];
        center + step / cap * (source + vertical + horizontal + (80.0 - center) / rz)
    });
    let case = plane(kernel!("hotspot"), w, h).input(&power).input(&heat);
    let case = case.output_within(expected, near(1e-5)).i32(w).i32(h);
    case.f32(cap).f32(rx).f32(ry).f32(rz).f32(step)
}

fn pathfinder() -> Case {
    let (cols, iterations) = (150, 5);
    let wall = ints(190, cols * 8, 0..10);
    let start = ints(191, cols, 0..20);
    let mut costs = start.clone();
    for row in 2..2 + iterations {
        let best = |c: usize| costs[c.saturating_sub(1)..(c + 2).min(cols)].iter().min();
        costs = (0..cols)
            .map(|c| best(c).unwrap() + wall[row * cols + c])
            .collect();
    }
    let n_blocks = cols.div_ceil(64 - 2 * iterations) as u32;
    let case = kernel!("pathfinder").launch([n_blocks, 1, 1], [64, 1, 1]);
    let case = case
        .i32(iterations)
        .input(&wall)
        .input(&start)
        .output(costs);
    case.i32(cols).i32(2)
}
