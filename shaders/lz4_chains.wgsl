// Links each position of a page to the latest earlier one with the same hash, for level High of src/lz4/mod.rs.
//
// A workgroup is 32 lanes and takes shares `workgroup_id.x`, `+ num_workgroups.x`, ...: a share is a page and the TABLE
// buckets whose positions it links. In each round a lane takes one position.
//
// pages  PAGE_SIZE bytes each, back to back; the last may be shorter
// links  one word per position, written where the position is searchable: the distance back to the earlier one, 0 for none
//
// Preconditions: n_bytes > 0, n_pages = ceil(n_bytes / PAGE_SIZE).
// Twin: src/lz4/sorted.rs
//
// import: lib/page_word

override PAGE_SIZE: u32 = 4096;
override BUCKET_BITS: u32 = 11;

const TABLE: u32 = 2048;
override SHARES: u32 = (1u << BUCKET_BITS) / TABLE;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pad: vec2<u32>,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read_write> links: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// For each bucket of the share, its latest position + 1; 0 for none.
var<workgroup> sh_latest: array<atomic<u32>, TABLE>;
// The bucket of each lane's position, or NONE.
var<workgroup> sh_buckets: array<u32, 32>;

const NONE: u32 = 0xffffffffu;

// Links the positions from `start` on, one per lane, that fall in the buckets of `share`.
fn link_positions(lane: u32, first_word: u32, first: u32, n: u32, share: u32, start: u32) {
    let p = start + lane;
    var bucket = NONE;
    var earlier = 0u;
    if p + 12 <= n {
        bucket = (word_at(first_word, p) * 2654435761u) >> (32 - BUCKET_BITS);
    }
    let is_mine = bucket / TABLE == share;
    sh_buckets[lane] = select(NONE, bucket, is_mine);
    if is_mine {
        earlier = atomicLoad(&sh_latest[bucket % TABLE]);
    }
    workgroupBarrier();
    if is_mine {
        // Four lanes before this one at a time, the nearest first.
        for (var group = (lane >> 2) + 1; group > 0; group--) {
            let i = 4 * (group - 1);
            var found = select(0u, i + 1, i < lane && sh_buckets[i] == bucket);
            found = select(found, i + 2, i + 1 < lane && sh_buckets[i + 1] == bucket);
            found = select(found, i + 3, i + 2 < lane && sh_buckets[i + 2] == bucket);
            found = select(found, i + 4, i + 3 < lane && sh_buckets[i + 3] == bucket);
            if found != 0 {
                earlier = start + found;
                break;
            }
        }
        atomicMax(&sh_latest[bucket % TABLE], p + 1);
        links[first + p] = select(p + 1 - earlier, 0u, earlier == 0);
    }
    workgroupBarrier();
}

@compute @workgroup_size(32)
fn lz4_chains(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    for (var index = workgroup.x; index < params.n_pages * SHARES; index += n_workgroups.x) {
        let page = index / SHARES;
        let n = min(PAGE_SIZE, params.n_bytes - page * PAGE_SIZE);
        for (var i = lane; i < TABLE; i += 32) {
            atomicStore(&sh_latest[i], 0u);
        }
        workgroupBarrier();
        for (var start = 0u; start + 12 <= n; start += 32) {
            link_positions(lane, page * (PAGE_SIZE / 4), page * PAGE_SIZE, n, index % SHARES, start);
        }
    }
}
