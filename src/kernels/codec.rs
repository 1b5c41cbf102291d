//! The kernels of the codec: sources, entry points, bindings, and what makes them safe to run without checks.

use super::{Access, KernelInfo};

const PLACE_WGSL: &str = shader!("lz4_place.wgsl");

/// All kernels of the codec, in the order in which they process a page.
pub const KERNELS: [&KernelInfo; 11] = [
    &BEGIN,
    &PARSE,
    &SORT,
    &LONGEST,
    &CHEAPEST,
    &PLACE_TILES,
    &PLACE_SUMS,
    &EMIT,
    &TOKENS,
    &TOKENS_MANY,
    &COPY,
];

pub(super) static BEGIN: KernelInfo = kernel("lz4_begin", PLACE_WGSL, &[R, W, U]);
pub(super) static PARSE: KernelInfo = kernel(
    "lz4_parse",
    shader!("lz4_parse.wgsl"),
    &[R, W, W, W, W, U, R],
);
pub(super) static SORT: KernelInfo = {
    let wgsl = shader!("lz4_sort.wgsl");
    // SAFETY: `lz4_sort` processes pages below `n_pages`, and reads words of searchable positions, which twelve bytes of the
    // page follow, with lists at most 20 bytes more, and the word before one where the page has it. It counts the positions of each
    // bucket before it places them, by the same comparisons, so each has a slot of its own among as many slots as the page has searchable
    // positions. Loops count positions, buckets or lanes.
    // It clears the workgroup memory that it reads before it has written it: the buckets, for each share, and the staged order.
    unsafe { KernelInfo::trusted("lz4_sort", wgsl, &[R, W, W, U], true) }
};
pub(super) static LONGEST: KernelInfo = {
    let wgsl = shader!("lz4_longest.wgsl");
    // SAFETY: `lz4_longest` follows the slots that `lz4_sort` wrote in the same submission, of which it wrote the number for each page
    // that is no fill, and stages the 64 slots before them, or copies of the page's first one. The first slot of a page begins a
    // bucket, so candidates are slots of it, and up to three slots before the last one are staged, too. A comparison reads less than
    // 20 bytes after the page, which are staged with it. Before a match and its source it reads up to four bytes, of those that the
    // page or the dictionary has there. The kernel writes the match of a position, of which there is one for each
    // slot, and those of searchable positions in runs, in the columns of 32 pages. For a run it reads two words before the position where
    // the page has them. It clears the bits of buckets, and writes the other workgroup memory before it reads it.
    // Loops count candidates, positions or bytes. The index of a dictionary has a word for each bucket, with as many candidates as there are
    // slots before its end, and eight bytes of the dictionary follow a candidate; comparisons end with the dictionary, and read less
    // than two words behind it.
    unsafe { KernelInfo::trusted("lz4_longest", wgsl, &[R, R, R, W, U, R], true) }
};
pub(super) static CHEAPEST: KernelInfo = kernel(
    "lz4_cheapest",
    shader!("lz4_cheapest.wgsl"),
    &[R, W, W, W, W, U, R],
);
pub(super) static PLACE_TILES: KernelInfo = kernel("lz4_place_tiles", PLACE_WGSL, &[R, W, U]);
pub(super) static PLACE_SUMS: KernelInfo = kernel("lz4_place_sums", PLACE_WGSL, &[R, W, U]);
pub(super) static EMIT: KernelInfo =
    kernel("lz4_emit", shader!("lz4_emit.wgsl"), &[R, R, R, R, W, W, U]);
pub(super) static TOKENS: KernelInfo = {
    let wgsl = shader!("lz4_tokens.wgsl");
    // SAFETY: `lz4_tokens` trusts neither table nor blocks: it compares every entry of the table with `n_packed_words`, and
    // every read with the end of the block, but for the words that it loads before that comparison: they begin at the end
    // of the block at most. Each sequence but the last has at least four bytes of its page, and the first one five without a dictionary,
    // so a page has at most PAGE_SIZE / 4 entries, or one more with a dictionary: ENTRIES has room for them. A step of a loop consumes
    // input. It writes the workgroup memory that it reads: all staged entries at first.
    unsafe { KernelInfo::trusted("lz4_tokens", wgsl, &[R, R, W, W, U], true) }
};
pub(super) static TOKENS_MANY: KernelInfo = kernel(
    "lz4_tokens_many",
    shader!("lz4_tokens_many.wgsl"),
    &[R, R, W, W, U],
);
pub(super) static COPY: KernelInfo =
    kernel("lz4_copy", shader!("lz4_copy.wgsl"), &[R, R, R, W, W, U, R]);
/// The kernel for workgroups of 64 invocations.
pub(super) static COPY_WIDE: KernelInfo = kernel(
    "lz4_copy",
    shader!("lz4_copy.wide.wgsl"),
    &[R, R, R, W, W, U, R],
);

pub(super) const R: Access = Access::Read;
pub(super) const W: Access = Access::ReadWrite;
pub(super) const U: Access = Access::Uniform;

const fn kernel(name: &'static str, wgsl: &'static str, bindings: &'static [Access]) -> KernelInfo {
    // SAFETY: as each kernel's head says, on the buffers and parameters of one job:
    // - `lz4_begin` writes word 0 of the places, which every job has.
    // - `lz4_parse` processes pages below `n_pages`, reads words of the page below `n` and at most 32 bytes after them, and
    //   compares candidates' offsets with the position before it reads there. Scratch is indexed by workgroup (the grid is
    //   as many as there is scratch for) and by positions below PAGE_SIZE, behind which there is a count; every loop advances in the
    //   page, and the loop over pages in the counter of pages taken.
    //   With a dictionary, offsets above the position are those of the dictionary, which matches do not leave: they lead to
    //   positions of its index, which eight bytes follow, or to later ones before its end, and the kernel reads at most two
    //   words behind that. Its index has a word for each bucket.
    // - `lz4_cheapest` processes pages below `n_pages`, for each position of which `costs` and `matches` have a word. A match
    //   that `lz4_longest` wrote in the same submission ends in its page, as does one that goes on from the next position. It goes on
    //   over bytes that `lz4_longest` or this kernel has compared, so there are as many before its source. A page has at most a match
    //   for every four bytes before its last five. Loops count positions or bytes of a page; a chosen match has at least four bytes.
    //   It reads up to four bytes before a match and before its source, of those that the page or the dictionary has there, and costs
    //   of positions of the page.
    //   With a dictionary, offsets above the position are those of the dictionary, which matches do not leave: the kernel reads
    //   the word before its first one at the earliest, and less than two words behind it.
    // - `lz4_place_tiles`, `lz4_place_sums` compare pages with `n_pages` and tiles with `n_tiles`.
    // - `lz4_emit` follows `sequences`, `sizes` and `places`, which the launches before it wrote in the same
    //   submission: blocks are no longer than their pages, so they end inside `packed`, which is as long as all pages.
    // - `lz4_tokens_many` trusts neither table nor blocks, as `lz4_tokens`: it follows a chain of tokens below the end of its block, wherever
    //   the chain begins. Lanes store the entries that they counted, each from the sum of the lanes before it on, if the sum of all is at most
    //   ENTRIES; of other pages, the first eight at most. Loops count sequences, rounds or lanes.
    // - `lz4_copy` follows the entries that `lz4_tokens` or `lz4_tokens_many` wrote in the same submission for each page with a number of
    //   entries in its status: literals lie in the block, matches begin in the page and behind their sources, and the last entry is
    //   the end of the page, so a lane finds an entry for each byte before it. Words behind that end, and those of other
    //   pages, load neither literals nor matches. In every iteration, the first lane of a row that waits has sources before
    //   it, so its loop ends.
    //   With a dictionary, `lz4_tokens` compared offsets with the bytes of the dictionary and of the page before the match, so
    //   sources lie in one of them; the words that hold them begin at most three bytes before, in the word of 0 before the
    //   dictionary at the earliest.
    // Workgroup memory is cleared for all of them.
    unsafe { KernelInfo::trusted(name, wgsl, bindings, false) }
}
