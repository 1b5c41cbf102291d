// Sorts the searchable positions of each page by the hash of their words, for level High of src/lz4/mod.rs.
//
// A workgroup is 32 lanes and takes shares `workgroup_id.x`, `+ num_workgroups.x`, ...: a share is a page and TABLE of its
// buckets. It counts the positions of each bucket, then places them in order, one per lane and round. With several shares it lists
// its own positions first.
//
// pages  PAGE_SIZE bytes each, back to back; the last may be shorter
// order  PAGE_SIZE words per page, of which each searchable position has one, its slot: the position
// sizes  one word per page: 8 | KIND_FILL for a page that repeats its first eight bytes, else 0
//
// The slots of a bucket follow each other, in the order of their positions, so the candidates of a slot are the slots before it.
//
// Preconditions: n_bytes > 0, n_pages = ceil(n_bytes / PAGE_SIZE).
// Twin: src/lz4/sorted.rs
//
// import: lib/lz4_bucket, lib/page_word

override PAGE_SIZE: u32 = 4096;
override BUCKET_BITS: u32 = 11;

const TABLE: u32 = 2048;
// Words of buckets of one lane: each has two buckets.
const ROW: u32 = TABLE / 64;
override SHARES: u32 = (1u << BUCKET_BITS) / TABLE;
const KIND_FILL: u32 = 2u << 30;
// Positions that are listed at once.
const LISTED: u32 = 512;
// True if shares have so few of the positions that listing them first is less work.
override LISTS: bool = SHARES > 2;
override LIST: u32 = select(1u, LISTED, LISTS);

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pad: vec2<u32>,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;
@group(0) @binding(2) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

// For each bucket of the share, in 16 bits of its `cell`, the number of its positions; then the slot of the next one.
var<workgroup> sh_buckets: array<atomic<u32>, TABLE / 2 + 32>;
// For each bucket of the share the lanes whose positions fall in it, one bit each.
var<workgroup> sh_lanes: array<atomic<u32>, TABLE>;
var<workgroup> sh_sums: array<u32, 32>;
// The words of 128 positions, and the one after them.
var<workgroup> sh_text: array<u32, 33>;
// With LISTS, the positions of the share among LISTED ones, and their number.
var<workgroup> sh_list: array<u32, LIST>;
var<workgroup> sh_n_listed: u32;
// 1 if the page is no fill.
var<workgroup> sh_differs: u32;
// Positions in the buckets of earlier shares.
var<workgroup> sh_earlier: atomic<u32>;

// Returns true if the page repeats its first eight bytes.
fn is_fill(lane: u32, first_word: u32, n: u32) -> bool {
    if (n & 7) != 0 {
        return false;
    }
    if lane == 0 {
        sh_differs = 0u;
    }
    workgroupBarrier();
    for (var i = lane; i < n / 4; i += 32) {
        if pages[first_word + i] != pages[first_word + (i & 1)] {
            sh_differs = 1u;
            break;
        }
    }
    return workgroupUniformLoad(&sh_differs) == 0;
}

// Returns the index of the word of a bucket of the share: rows of words, one per lane, begin in different banks.
fn cell(bucket: u32) -> u32 {
    let i = (bucket % TABLE) / 2;
    return i + i / ROW;
}

// Counts the position p, whose word is `word`, if it is searchable and its bucket is in the share; returns 1 if its bucket is in
// an earlier share.
fn count_position(p: u32, word: u32, n_searchable: u32, share: u32) -> u32 {
    let bucket = bucket_of(word);
    if p >= n_searchable {
        return 0u;
    }
    if bucket / TABLE == share {
        atomicAdd(&sh_buckets[cell(bucket)], 1u << (16 * (bucket & 1)));
    }
    return select(0u, 1u, bucket / TABLE < share);
}

// Counts the positions of each bucket of the share, and those in the buckets of earlier shares.
fn count_positions(lane: u32, first_word: u32, n_searchable: u32, share: u32) {
    var earlier = 0u;
    for (var p = 4 * lane; p < n_searchable; p += 128) {
        // A word follows that of a searchable position.
        let word = pages[first_word + p / 4];
        let after = pages[first_word + p / 4 + 1];
        earlier += count_position(p, word, n_searchable, share);
        earlier += count_position(p + 1, funnel(word, after, 8), n_searchable, share);
        earlier += count_position(p + 2, funnel(word, after, 16), n_searchable, share);
        earlier += count_position(p + 3, funnel(word, after, 24), n_searchable, share);
    }
    if earlier != 0 {
        atomicAdd(&sh_earlier, earlier);
    }
}

// Replaces the number of positions of each bucket by its first slot.
fn place_buckets(lane: u32) {
    // A lane takes a row.
    let row = lane * (ROW + 1);
    var own = 0u;
    for (var i = row; i < row + ROW; i++) {
        let counts = atomicLoad(&sh_buckets[i]);
        own += (counts & 0xffff) + (counts >> 16);
    }
    sh_sums[lane] = own;
    workgroupBarrier();
    var slot = atomicLoad(&sh_earlier);
    for (var i = 0u; i < lane; i++) {
        slot += sh_sums[i];
    }
    for (var i = row; i < row + ROW; i++) {
        let counts = atomicLoad(&sh_buckets[i]);
        let second = slot + (counts & 0xffff);
        atomicStore(&sh_buckets[i], slot | (second << 16));
        slot = second + (counts >> 16);
    }
    workgroupBarrier();
}

// Places the position p, whose word is `word`, if it is searchable and falls in the buckets of the share.
fn place_position(lane: u32, first: u32, p: u32, word: u32, n_searchable: u32, share: u32) {
    let bucket = bucket_of(word);
    let is_mine = p < n_searchable && bucket / TABLE == share;
    let own = bucket % TABLE;
    if is_mine {
        atomicOr(&sh_lanes[own], 1u << lane);
    }
    workgroupBarrier();
    var lanes = 0u;
    var slot = 0u;
    if is_mine {
        lanes = atomicLoad(&sh_lanes[own]);
        slot = (atomicLoad(&sh_buckets[cell(bucket)]) >> (16 * (bucket & 1))) & 0xffff;
    }
    workgroupBarrier();
    if is_mine {
        order[first + slot + countOneBits(lanes & ((1u << lane) - 1))] = p;
        if (lanes >> lane) == 1 {
            atomicAdd(&sh_buckets[cell(bucket)], countOneBits(lanes) << (16 * (bucket & 1)));
            atomicStore(&sh_lanes[own], 0u);
        }
    }
}

// Lists those of LISTED positions from `start` on that are searchable and fall in the buckets of the share, and returns their number. A
// lane takes 16 positions that follow each other.
fn list_positions(lane: u32, first_word: u32, start: u32, n_searchable: u32, share: u32) -> u32 {
    let begin = start + lane * (LISTED / 32);
    var bits = 0u;
    if begin < n_searchable {
        var i = first_word + begin / 4;
        var word = pages[i];
        for (var k = 0u; k < LISTED / 32; k += 4) {
            i++;
            let after = pages[i];
            for (var j = 0u; j < 4; j++) {
                let is_mine = begin + k + j < n_searchable && bucket_of(funnel(word, after, 8 * j)) / TABLE == share;
                bits |= select(0u, 1u << (k + j), is_mine);
            }
            word = after;
        }
    }
    sh_sums[lane] = countOneBits(bits);
    workgroupBarrier();
    var to = 0u;
    for (var i = 0u; i < lane; i++) {
        to += sh_sums[i];
    }
    while bits != 0 {
        sh_list[to] = begin + countTrailingZeros(bits);
        to++;
        bits &= bits - 1;
    }
    if lane == 31 {
        sh_n_listed = to;
    }
    return workgroupUniformLoad(&sh_n_listed);
}

// Places the positions that fall in the buckets of the share, of several of the page: listed first, since most are not among them.
fn place_listed(lane: u32, first_word: u32, n_searchable: u32, share: u32) {
    for (var start = 0u; start < n_searchable; start += LISTED) {
        let n_listed = list_positions(lane, first_word, start, n_searchable, share);
        for (var i = 0u; i < n_listed; i += 32) {
            var p = n_searchable;
            var word = 0u;
            if i + lane < n_listed {
                p = sh_list[i + lane];
                word = word_at(first_word, p);
            }
            place_position(lane, 4 * first_word, p, word, n_searchable, share);
            workgroupBarrier();
        }
    }
}

// Places all positions that fall in the buckets of the share, 32 in each round, in which a lane takes one.
fn place_positions(lane: u32, first_word: u32, n_searchable: u32, share: u32) {
    // The last word that a searchable position needs.
    let last = first_word + (n_searchable + 2) / 4;
    var ahead = pages[min(first_word + lane, last)];
    var after = pages[min(first_word + 32, last)];
    for (var start = 0u; start < n_searchable; start += 32) {
        if (start & 127) == 0 {
            sh_text[lane] = ahead;
            if lane == 0 {
                sh_text[32] = after;
            }
            let next = first_word + start / 4 + 32;
            ahead = pages[min(next + lane, last)];
            after = pages[min(next + 32, last)];
        }
        workgroupBarrier();
        let p = start + lane;
        let i = (p & 127) / 4;
        place_position(lane, 4 * first_word, p, funnel(sh_text[i], sh_text[i + 1], (p & 3) * 8), n_searchable, share);
    }
}

@compute @workgroup_size(32)
fn lz4_sort(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var i = lane; i < TABLE; i += 32) {
        atomicStore(&sh_lanes[i], 0u);
    }
    for (var index = workgroup.x; index < params.n_pages * SHARES; index += n_workgroups.x) {
        let page = index / SHARES;
        let share = index % SHARES;
        let first_word = page * (PAGE_SIZE / 4);
        let n = min(PAGE_SIZE, params.n_bytes - page * PAGE_SIZE);
        let fill = is_fill(lane, first_word, n);
        if share == 0 && lane == 0 {
            sizes[page] = select(0u, 8 | KIND_FILL, fill);
        }
        let n_searchable = select(n - 11, 0u, fill || n < 13);
        for (var i = lane; i < TABLE / 2 + 32; i += 32) {
            atomicStore(&sh_buckets[i], 0u);
        }
        if lane == 0 {
            atomicStore(&sh_earlier, 0u);
        }
        workgroupBarrier();
        count_positions(lane, first_word, n_searchable, share);
        workgroupBarrier();
        place_buckets(lane);
        if LISTS {
            place_listed(lane, first_word, n_searchable, share);
        } else {
            place_positions(lane, first_word, n_searchable, share);
        }
    }
}
