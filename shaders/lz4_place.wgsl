// Places blocks in the packed output: a two-level exclusive prefix sum of their sizes in words, in tiles of 1024 pages.
//
// lz4_begin: one invocation sets word 0 of tile_sums to 0, the page counter of lz4_parse.
// lz4_place_tiles: workgroup t scans tile t, four pages per invocation.
// lz4_place_sums: one workgroup scans the totals of up to 1024 tiles.
//
// sizes      one word per page: length of its block in bytes | kind << 30
// places     one word per page: start of its block, in words, relative to its tile
// tile_sums  word 0: total in words; word 1 + t: words before tile t
//
// Twin: src/lz4/batch.rs

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_tiles: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> sizes: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> tile_sums: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sh_sums: array<u32, 256>;

// Returns the exclusive prefix sum of `own` over the invocations (Hillis-Steele), and the total.
fn exclusive_scan(i: u32, own: u32) -> vec2<u32> {
    var s = own;
    for (var d = 1u; d < 256; d *= 2) {
        sh_sums[i] = s;
        workgroupBarrier();
        if i >= d {
            s += sh_sums[i - d];
        }
        workgroupBarrier();
    }
    sh_sums[i] = s;
    workgroupBarrier();
    return vec2(s - own, sh_sums[255]);
}

fn words_of(page: u32) -> u32 {
    if page >= params.n_pages {
        return 0u;
    }
    return ((sizes[page] & 0x3fffffffu) + 3) / 4;
}

@compute @workgroup_size(256)
fn lz4_place_tiles(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) tile: vec3<u32>) {
    let page = tile.x * 1024 + i * 4;
    let words = vec4(words_of(page), words_of(page + 1), words_of(page + 2), words_of(page + 3));
    let scanned = exclusive_scan(i, words.x + words.y + words.z + words.w);
    var place = scanned.x;
    for (var k = 0u; k < 4; k++) {
        if page + k < params.n_pages {
            places[page + k] = place;
        }
        place += words[k];
    }
    if i == 0 {
        tile_sums[1 + tile.x] = scanned.y;
    }
}

@compute @workgroup_size(256)
fn lz4_place_sums(@builtin(local_invocation_index) i: u32) {
    var own: array<u32, 4>;
    var sum = 0u;
    for (var k = 0u; k < 4; k++) {
        if i * 4 + k < params.n_tiles {
            own[k] = tile_sums[1 + i * 4 + k];
        }
        sum += own[k];
    }
    let scanned = exclusive_scan(i, sum);
    var place = scanned.x;
    for (var k = 0u; k < 4; k++) {
        if i * 4 + k < params.n_tiles {
            tile_sums[1 + i * 4 + k] = place;
        }
        place += own[k];
    }
    if i == 0 {
        tile_sums[0] = scanned.y;
    }
}

@compute @workgroup_size(1)
fn lz4_begin() {
    tile_sums[0] = 0u;
}
