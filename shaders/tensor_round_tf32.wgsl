// Factors for tensor_matmul_tf32_warpgroup: lines along the terms of a product, of elements rounded to TF32.
//
// A workgroup copies 64 lines of 64 terms. Lines that are along the rows or columns of a factor cross workgroup memory.
// Bindings: `a`: the factor, vectors of four; `out`: [batch, n, pitch], vectors of four.
// The factor's lines in memory, of terms if BY_K, have stride `pitch` and batches stride `batch`, in vectors of four.
// Rounding is to nearest, ties away from zero; infinities and NaN stay what they are. Elements after the last term are 0.
// Preconditions: no length is 0; the factor has whole vectors; k is a multiple of 4 if BY_K; out_pitch is a multiple of 16.

override BY_K: bool = false;

const WIDTH: u32 = 256u;
const TILE: u32 = 64u;
// Vectors of a line of a tile, and elements from a line of terms to the next in workgroup memory.
const UNITS: u32 = 16u;
const STRIDE: u32 = 65u;

struct Params {
    // Lines of the result, and their terms.
    n: u32,
    k: u32,
    // Tiles along the terms, along the lines, and of all batches.
    tiles_k: u32,
    tiles_n: u32,
    n_tiles: u32,
    offset: u32,
    pitch: u32,
    batch: u32,
    out_pitch: u32,
    pad_0: u32,
    pad_1: u32,
    pad_2: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> sh_tile: array<f32, 4160>;

// Adds half of a unit in the last place of TF32; matrix units read no bits after it.
fn rounded_to_tf32(x: vec4<f32>) -> vec4<f32> {
    let powers = bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) & vec4(0xff800000u));
    return fma(powers, vec4(1.0 / 2048.0), x);
}

@compute @workgroup_size(WIDTH)
fn tensor_round_tf32(
    @builtin(local_invocation_index) i: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let id = group.y * groups.x + group.x;
    if id >= params.n_tiles {
        return;
    }
    let line = TILE * (id / params.tiles_k % params.tiles_n);
    let term = TILE * (id % params.tiles_k);
    let batch = id / params.tiles_k / params.tiles_n;
    let unit = i % UNITS;
    let start = params.offset + batch * params.batch;
    let to = (batch * params.n + line) * params.out_pitch + term / 4u + unit;
    if BY_K {
        for (var own = i / UNITS; own < TILE; own += WIDTH / UNITS) {
            if line + own < params.n && term / 4u + unit < params.out_pitch {
                var x = vec4<f32>();
                if term + 4u * unit < params.k {
                    x = rounded_to_tf32(a[start + (line + own) * params.pitch + term / 4u + unit]);
                }
                out[to + own * params.out_pitch] = x;
            }
        }
        return;
    }
    for (var own = i / UNITS; own < TILE; own += WIDTH / UNITS) {
        var x = vec4<f32>();
        if term + own < params.k && line + 4u * unit < params.n {
            x = rounded_to_tf32(a[start + (term + own) * params.pitch + line / 4u + unit]);
        }
        let at = own * STRIDE + 4u * unit;
        sh_tile[at] = x.x;
        sh_tile[at + 1u] = x.y;
        sh_tile[at + 2u] = x.z;
        sh_tile[at + 3u] = x.w;
    }
    workgroupBarrier();
    for (var own = i / UNITS; own < TILE; own += WIDTH / UNITS) {
        if line + own < params.n && term / 4u + unit < params.out_pitch {
            let at = 4u * unit * STRIDE + own;
            out[to + own * params.out_pitch] =
                vec4(sh_tile[at], sh_tile[at + STRIDE], sh_tile[at + 2u * STRIDE], sh_tile[at + 3u * STRIDE]);
        }
    }
}
