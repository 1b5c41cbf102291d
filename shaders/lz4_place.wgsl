// Places blocks in the packed output: a two-level exclusive prefix sum of their sizes in words, in tiles of 1024 pages.
//
// lz4_begin: one invocation sets word 0 of places to 0, the page counter of lz4_parse.
// lz4_place_tiles: workgroup t scans tile t, ITEMS pages per invocation.
// lz4_place_sums: one workgroup scans the totals of up to 1024 tiles.
//
// sizes      one word per page: length of its block in bytes | kind << 30
// places     word 0: total in words; word 1 + t: words before tile t; from word PLACES on, one word per page: start of its
//            block, in words, relative to its tile
//
// Twin: src/lz4/batch.rs
//
// import: lib/places

// Invocations of a workgroup, and pages or tiles of each.
override THREADS: u32 = 256;
override ITEMS: u32 = 1024 / THREADS;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    n_tiles: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> sizes: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> sh_sums: array<u32, THREADS>;

// Returns the exclusive prefix sum of `own` over the invocations (Hillis-Steele), and the total.
fn exclusive_scan(i: u32, own: u32) -> vec2<u32> {
    var s = own;
    for (var d = 1u; d < THREADS; d *= 2) {
        sh_sums[i] = s;
        workgroupBarrier();
        if i >= d {
            s += sh_sums[i - d];
        }
        workgroupBarrier();
    }
    sh_sums[i] = s;
    workgroupBarrier();
    return vec2(s - own, sh_sums[THREADS - 1]);
}

fn words_of(page: u32) -> u32 {
    if page >= params.n_pages {
        return 0u;
    }
    return ((sizes[page] & 0x3fffffffu) + 3) / 4;
}

@compute @workgroup_size(THREADS)
fn lz4_place_tiles(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) tile: vec3<u32>) {
    let page = tile.x * 1024 + i * ITEMS;
    var sum = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        sum += words_of(page + k);
    }
    let scanned = exclusive_scan(i, sum);
    var place = scanned.x;
    for (var k = 0u; k < ITEMS; k++) {
        if page + k < params.n_pages {
            places[PLACES + page + k] = place;
            place += words_of(page + k);
        }
    }
    if i == 0 {
        places[1 + tile.x] = scanned.y;
    }
}

fn words_of_tile(tile: u32) -> u32 {
    if tile >= params.n_tiles {
        return 0u;
    }
    return places[1 + tile];
}

@compute @workgroup_size(THREADS)
fn lz4_place_sums(@builtin(local_invocation_index) i: u32) {
    let first = i * ITEMS;
    var sum = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        sum += words_of_tile(first + k);
    }
    let scanned = exclusive_scan(i, sum);
    var place = scanned.x;
    for (var k = 0u; k < ITEMS; k++) {
        if first + k < params.n_tiles {
            let words = places[1 + first + k];
            places[1 + first + k] = place;
            place += words;
        }
    }
    if i == 0 {
        places[0] = scanned.y;
    }
}

@compute @workgroup_size(1)
fn lz4_begin() {
    places[0] = 0u;
}
