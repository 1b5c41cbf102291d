// Sorts the searchable positions of each page that are in no run by the hash of their words, for level High of src/lz4/mod.rs.
//
// A workgroup is 32 lanes and takes shares `workgroup_id.x`, `+ num_workgroups.x`, ...: a share is a page and TABLE of its
// buckets. It counts the positions of each bucket, then places them in order, one per lane and round. With several shares it lists
// its own positions first.
//
// pages  PAGE_SIZE bytes each, back to back; the last may be shorter
// order  PAGE_SIZE words per page, of which each of these positions has one, its slot: the position
// sizes  one word per page: 8 | KIND_FILL for a page that repeats its first eight bytes, else its number of slots
//
// The slots of a bucket follow each other, in the order of their positions, so the candidates of a slot are the slots before it.
//
// Preconditions: n_bytes > 0, n_pages = ceil(n_bytes / PAGE_SIZE).
// Twin: src/lz4/sorted.rs
//
// import: lib/bits, lib/lz4_bucket, lib/lz4_run, lib/peers

override PAGE_SIZE: u32 = 4096;
override BUCKET_BITS: u32 = 11;

const TABLE_BITS: u32 = 11;
const TABLE: u32 = 1 << TABLE_BITS;
// Products of the words in a share's buckets, less one: a share has as many.
override LAST_PRODUCT: u32 = 0xffffffffu >> (BUCKET_BITS - TABLE_BITS);
// Words of buckets of one lane: each has two buckets.
const ROW: u32 = TABLE / 64;
override SHARES: u32 = (1u << BUCKET_BITS) / TABLE;
const KIND_FILL: u32 = 2u << 30;
// Stands for no bucket, among the values that `peers` tells apart.
const NONE: u32 = 0xfffu;
// Positions that are listed at once.
const LISTED: u32 = 512;
// True if shares have so few of the positions that listing them first is less work.
override LISTS: bool = SHARES > 2;
// True if a lane loads the words of the positions that it lists together, which takes more registers.
override AHEAD: bool = true;
// True if the order of a page of one share is made in workgroup memory: then lanes write slots that follow each other.
override STAGES: bool = false;
override STAGED: u32 = select(1u, PAGE_SIZE / 2, STAGES);
// Positions that a list holds: fewer than 32 wait for the next ones.
override LIST: u32 = select(1u, LISTED + 32, LISTS);

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
var<workgroup> sh_sums: array<u32, 32>;
// The words of 128 positions, the one before them and the one after them.
var<workgroup> sh_text: array<u32, 34>;
// With LISTS, positions of the share that are not placed yet, position | bucket of the share << 16, and their number.
var<workgroup> sh_list: array<u32, LIST>;
var<workgroup> sh_n_listed: u32;
// With STAGES, the positions of two slots in each word.
var<workgroup> sh_order: array<atomic<u32>, STAGED>;
// 1 if the page is no fill.
var<workgroup> sh_differs: u32;
// The first share of the workgroup: read from here, it is the same for all lanes in the eyes of every compiler.
var<workgroup> sh_first: u32;
// Sorted positions in the buckets of earlier shares.
var<workgroup> sh_earlier: atomic<u32>;
// The slot after the last bucket of the share.
var<workgroup> sh_end: u32;

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

// Returns the product of the first bucket of a share.
fn first_product(share: u32) -> u32 {
    // By less than 32 for one share, too.
    return (share << (31 - (BUCKET_BITS - TABLE_BITS))) << 1;
}

// Counts a position with this product, if it is sorted and its bucket is in the share, whose first product is `first`; returns 1 if its
// bucket is in an earlier share.
fn count_position(product: u32, is_sorted: bool, first: u32) -> u32 {
    if is_sorted & (product - first <= LAST_PRODUCT) {
        let bucket = bucket_of_product(product);
        atomicAdd(&sh_buckets[cell(bucket)], 1u << (16 * (bucket & 1)));
    }
    return select(0u, 1u, is_sorted & (product < first));
}

// Does the same for those of the four positions from p on that are searchable and in no run, given the words before p, at p and behind.
fn count_four(p: u32, before: u32, word: u32, after: u32, n_searchable: u32, first: u32) -> u32 {
    let changes = changes_at(p, before, vec2(word, after));
    let second = product_of(funnel(word, after, 8));
    let third = product_of(funnel(word, after, 16));
    let fourth = product_of(funnel(word, after, 24));
    return count_position(product_of(word), (p < n_searchable) & !is_run(changes, 0), first)
        + count_position(second, (p + 1 < n_searchable) & !is_run(changes, 1), first)
        + count_position(third, (p + 2 < n_searchable) & !is_run(changes, 2), first)
        + count_position(fourth, (p + 3 < n_searchable) & !is_run(changes, 3), first);
}

// The word before a position, or its own at the begin of a page, and five words from there on, which are loaded together.
struct Words {
    before: u32,
    text: vec4<u32>,
    last: u32,
}

// Returns the word of the position p, the one before and the four behind.
fn five_words_at(first_word: u32, p: u32) -> Words {
    let i = first_word + p / 4;
    return Words(
        pages[first_word + max(p / 4, 1) - 1],
        vec4(pages[i], pages[i + 1], pages[i + 2], pages[i + 3]),
        pages[i + 4],
    );
}

// Counts the positions of each bucket of the share, and those in the buckets of earlier shares.
fn count_positions(lane: u32, first_word: u32, n_searchable: u32, share: u32) {
    let first = first_product(share);
    var earlier = 0u;
    if LISTS {
        for (var p = 16 * lane; p < n_searchable; p += 512) {
            let words = five_words_at(first_word, p);
            let text = words.text;
            earlier += count_four(p, words.before, text.x, text.y, n_searchable, first);
            earlier += count_four(p + 4, text.x, text.y, text.z, n_searchable, first);
            earlier += count_four(p + 8, text.y, text.z, text.w, n_searchable, first);
            earlier += count_four(p + 12, text.z, text.w, words.last, n_searchable, first);
        }
    } else {
        for (var p = 4 * lane; p < n_searchable; p += 128) {
            // A word follows that of a searchable position.
            let i = first_word + p / 4;
            let before = pages[first_word + max(p / 4, 1) - 1];
            earlier += count_four(p, before, pages[i], pages[i + 1], n_searchable, first);
        }
    }
    if earlier != 0 {
        atomicAdd(&sh_earlier, earlier);
    }
}

// Returns the sum of `own` of the lanes before this one. A loop to `lane` would be unrolled to 32 branches in each other, which take two
// scalar registers each on AMD.
fn sum_before(lane: u32, own: u32) -> u32 {
    var sum = own;
    for (var d = 1u; d < 32; d *= 2) {
        sh_sums[lane] = sum;
        workgroupBarrier();
        if lane >= d {
            sum += sh_sums[lane - d];
        }
        workgroupBarrier();
    }
    return sum - own;
}

// Replaces the number of positions of each bucket by its first slot. Returns the slot after the last bucket of the share.
fn place_buckets(lane: u32) -> u32 {
    // A lane takes a row.
    let row = lane * (ROW + 1);
    var own = 0u;
    for (var i = row; i < row + ROW; i++) {
        let counts = atomicLoad(&sh_buckets[i]);
        own += (counts & 0xffff) + (counts >> 16);
    }
    var slot = atomicLoad(&sh_earlier) + sum_before(lane, own);
    for (var i = row; i < row + ROW; i++) {
        let counts = atomicLoad(&sh_buckets[i]);
        let second = slot + (counts & 0xffff);
        atomicStore(&sh_buckets[i], slot | (second << 16));
        slot = second + (counts >> 16);
    }
    if lane == 31 {
        sh_end = slot;
    }
    workgroupBarrier();
    return sh_end;
}

// Places the position p, which falls in the bucket `own` of the share, if it is one of its positions. Lanes with the same bucket take
// slots in their order.
fn place_position(lane: u32, first: u32, p: u32, own: u32, is_mine: bool) {
    let lanes = peers(lane, select(NONE, own, is_mine));
    let slot = (atomicLoad(&sh_buckets[cell(own)]) >> (16 * (own & 1))) & 0xffff;
    workgroupBarrier();
    if is_mine {
        let to = slot + countOneBits(lanes & ((1u << lane) - 1));
        if STAGES {
            atomicOr(&sh_order[to / 2], p << (16 * (to & 1)));
        } else {
            order[first + to] = p;
        }
        if (lanes >> lane) == 1 {
            atomicAdd(&sh_buckets[cell(own)], countOneBits(lanes) << (16 * (own & 1)));
        }
    }
}

// Returns a bit for each of the four positions from p on that is in no run and falls in the buckets of the share, whose first product is
// `first`, given the words before p, at p and behind.
fn mine_of_four(p: u32, before: u32, word: u32, after: u32, first: u32) -> u32 {
    let changes = changes_at(p, before, vec2(word, after));
    var bits = 0u;
    for (var j = 0u; j < 4; j++) {
        let is_mine = product_of(funnel(word, after, 8 * j)) - first <= LAST_PRODUCT;
        bits |= select(0u, 1u << j, is_mine & !is_run(changes, j));
    }
    return bits;
}

// Does the same for the 16 positions from p on, in turn, up to n_searchable.
fn mine_in_turn(first_word: u32, p: u32, n_searchable: u32, first: u32) -> u32 {
    var bits = 0u;
    for (var k = 0u; p + k < n_searchable && k < 16; k += 4) {
        let i = first_word + (p + k) / 4;
        let before = pages[first_word + max((p + k) / 4, 1) - 1];
        bits |= mine_of_four(p + k, before, pages[i], pages[i + 1], first) << k;
    }
    return bits;
}

// Does the same for the 16 positions from p on, given their words.
fn mine_of_words(words: Words, p: u32, first: u32) -> u32 {
    let text = words.text;
    return mine_of_four(p, words.before, text.x, text.y, first)
        | (mine_of_four(p + 4, text.x, text.y, text.z, first) << 4)
        | (mine_of_four(p + 8, text.y, text.z, text.w, first) << 8)
        | (mine_of_four(p + 12, text.z, text.w, words.last, first) << 12);
}

// Returns the word k of five.
fn word_of(words: Words, k: u32) -> u32 {
    return select(words.text[k & 3], words.last, k == 4);
}

// Appends those of LISTED positions from `start` on that are searchable, in no run, and fall in the buckets of the share to the list,
// which has `n_held`, and returns their number. A lane takes 16 positions that follow each other.
fn list_positions(lane: u32, first_word: u32, start: u32, n_held: u32, n_searchable: u32, share: u32) -> u32 {
    let begin = start + 16 * lane;
    let first = first_product(share);
    // Lanes without a searchable position load the words after the last one.
    let at = min(begin, n_searchable);
    let words = five_words_at(first_word, at);
    var bits = 0u;
    if AHEAD {
        bits = mine_of_words(words, begin, first);
    } else {
        bits = mine_in_turn(first_word, begin, n_searchable, first);
    }
    bits &= (1u << min(16, n_searchable - at)) - 1;
    sh_sums[lane] = countOneBits(bits);
    workgroupBarrier();
    var to = n_held;
    for (var i = 0u; i < 32; i++) {
        to += select(0u, sh_sums[i], i < lane);
    }
    while bits != 0 {
        let k = countTrailingZeros(bits);
        let i = first_word + (begin + k) / 4;
        let word = select(pages[i], word_of(words, k / 4), AHEAD);
        let after = select(pages[i + 1], word_of(words, k / 4 + 1), AHEAD);
        let product = product_of(funnel(word, after, 8 * (k & 3)));
        sh_list[to] = (begin + k) | ((bucket_of_product(product) % TABLE) << 16);
        to++;
        bits &= bits - 1;
    }
    if lane == 31 {
        sh_n_listed = to;
    }
    return workgroupUniformLoad(&sh_n_listed);
}

// Places the positions that fall in the buckets of the share, of several of the page: listed first, since most are not among them.
// Only the last round has lanes without a position.
fn place_listed(lane: u32, first_word: u32, n_searchable: u32, share: u32) {
    var n_held = 0u;
    for (var start = 0u; start < n_searchable; start += LISTED) {
        let n_listed = list_positions(lane, first_word, start, n_held, n_searchable, share);
        let n_placed = select(n_listed & ~31u, n_listed, start + LISTED >= n_searchable);
        for (var i = 0u; i < n_placed; i += 32) {
            let entry = sh_list[min(i + lane, LIST - 1)];
            place_position(lane, 4 * first_word, entry & 0xffff, entry >> 16, i + lane < n_placed);
        }
        n_held = n_listed - min(n_placed, n_listed);
        if n_placed > 0 && lane < n_held {
            sh_list[lane] = sh_list[n_placed + lane];
        }
        workgroupBarrier();
    }
}

// Places all positions that are in no run and fall in the buckets of the share, 32 in each round, in which a lane takes one.
fn place_positions(lane: u32, first_word: u32, n_searchable: u32, share: u32) {
    // The last word that a searchable position needs.
    let last = first_word + (n_searchable + 2) / 4;
    var ahead = pages[min(first_word + max(lane, 1) - 1, last)];
    var after = pages[min(first_word + 31 + (lane & 1), last)];
    for (var start = 0u; start < n_searchable; start += 32) {
        if (start & 127) == 0 {
            sh_text[lane] = ahead;
            if lane < 2 {
                sh_text[32 + lane] = after;
            }
            let next = first_word + start / 4 + 31;
            ahead = pages[min(next + lane, last)];
            after = pages[min(next + 32 + (lane & 1), last)];
            workgroupBarrier();
        }
        let p = start + lane;
        let i = (p & 127) / 4;
        let text = vec2(sh_text[i + 1], sh_text[i + 2]);
        let bucket = bucket_of(funnel(text.x, text.y, (p & 3) * 8));
        let is_sorted = (p < n_searchable) & !is_run(changes_at(p & ~3u, sh_text[i], text), p & 3);
        place_position(lane, 4 * first_word, p, bucket % TABLE, is_sorted & (bucket / TABLE == share));
    }
}

// Writes the order of a page from workgroup memory.
fn write_order(lane: u32, first: u32, n_slots: u32) {
    workgroupBarrier();
    for (var slot = lane; slot < n_slots; slot += 32) {
        order[first + slot] = (atomicLoad(&sh_order[slot / 2]) >> (16 * (slot & 1))) & 0xffff;
    }
}

@compute @workgroup_size(32)
fn lz4_sort(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    if lane == 0 {
        sh_first = workgroup.x;
    }
    for (var index = workgroupUniformLoad(&sh_first); index < params.n_pages * SHARES; index += n_workgroups.x) {
        let page = index / SHARES;
        let share = index % SHARES;
        let first_word = page * (PAGE_SIZE / 4);
        let n = min(PAGE_SIZE, params.n_bytes - page * PAGE_SIZE);
        let fill = is_fill(lane, first_word, n);
        let n_searchable = select(n - 11, 0u, fill || n < 13);
        // The last positions of the share before are placed.
        workgroupBarrier();
        for (var i = lane; i < TABLE / 2 + 32; i += 32) {
            atomicStore(&sh_buckets[i], 0u);
        }
        if STAGES {
            for (var i = lane; i < STAGED; i += 32) {
                atomicStore(&sh_order[i], 0u);
            }
        }
        if lane == 0 {
            atomicStore(&sh_earlier, 0u);
        }
        workgroupBarrier();
        count_positions(lane, first_word, n_searchable, share);
        workgroupBarrier();
        let end = place_buckets(lane);
        if share == SHARES - 1 && lane == 0 {
            sizes[page] = select(end, 8 | KIND_FILL, fill);
        }
        if LISTS {
            place_listed(lane, first_word, n_searchable, share);
        } else {
            place_positions(lane, first_word, n_searchable, share);
        }
        if STAGES {
            write_order(lane, 4 * first_word, end);
        }
    }
}
