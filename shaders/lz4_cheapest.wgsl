// Chooses the cheapest sequences of each page by dynamic programming, for level High of src/lz4/mod.rs.
//
// An invocation takes one page.
//
// pages      PAGE_SIZE bytes each, back to back; the last may be shorter
// costs      scratch: for each position, the least number of bytes from there to the end of the page; with AHEAD in 16 bits, since
//            only that of position 0 can be more, which is not read
// matches    output of lz4_longest.wgsl; then the choice for each searchable position: length | offset << 16; for a literal
//            the first position after it at which a match is chosen << 16, NEVER << 16 for none
// sizes      output of lz4_sort.wgsl; then as lz4_parse.wgsl writes them
// sequences  as lz4_parse.wgsl writes them
// dictionary as lib/dictionary.wgsl says; any words without one
//
// The words of one position, or of two costs, in 32 pages follow each other in matches and costs. Offsets above the position
// are those of the dictionary.
//
// Preconditions: those of lz4_sort.wgsl.
// Twin: src/lz4/cheapest.rs
//
// import: lib/dictionary, lib/lz4_backward, lib/lz4_length, lib/page_word

override PAGE_SIZE: u32 = 4096;
// Invocations of a workgroup: those of a subgroup, 32 or 64.
override WIDTH: u32 = 32;
// True if four positions are loaded before a choice is made for the last of them, which takes more registers.
override AHEAD: bool = true;
// True if a dictionary stands before each page.
override DICTIONARY: bool = false;

// Longest match without an extension byte.
const SHORT: u32 = 18;
// A match that goes on from the next position with more bytes than this is taken, whatever the longest match is.
const GOES_ON: u32 = 8;
// Length at which the comparisons of lz4_longest.wgsl stop.
const LONGEST: u32 = 128;

struct Params {
    n_bytes: u32,
    n_pages: u32,
    pad: u32,
    // 0 without a dictionary.
    dictionary_bytes: u32,
}

@group(0) @binding(0) var<storage, read> pages: array<u32>;
@group(0) @binding(1) var<storage, read_write> costs: array<u32>;
@group(0) @binding(2) var<storage, read_write> matches: array<u32>;
@group(0) @binding(3) var<storage, read_write> sequences: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;
@group(0) @binding(6) var<storage, read> dictionary: array<u32>;

// Not below the end of a page less 12.
const NEVER: u32 = 0xffff;
const KIND_STORED: u32 = 1u << 30;

// A page: its first word, its length, and the word of its first position in arrays of 32 pages, whose words are 32 apart.
struct Page {
    first_word: u32,
    n: u32,
    first: u32,
}

// A position: the longest match, the cost at its end, and the cost SHORT bytes on.
struct Position {
    own: u32,
    end_cost: u32,
    short_cost: u32,
}

// The position after the current one.
struct After {
    cost: u32,
    // Its match, with length 0 for none; its backward length, as far as it is known; the cost at its end.
    length: u32,
    offset: u32,
    backward: u32,
    end_cost: u32,
    // The first position from there on at which a match is chosen, or NEVER.
    next: u32,
}

// Loads the position p, of which `own` is the longest match. Costs are known from p + 4 on.
fn load(page: Page, p: u32, own: u32) -> Position {
    return Position(own, cost_at(page, p + (own & 0xff)), cost_at(page, min(p + SHORT, page.n - 1)));
}

// Returns the index of the word of `costs` that holds those of p, which is even, and of p + 1.
fn two_costs(page: Page, p: u32) -> u32 {
    return (page.first + page.first % 32) / 2 + 16 * p;
}

// Returns the cost of a position.
fn cost_at(page: Page, p: u32) -> u32 {
    if !AHEAD {
        return costs[page.first + 32 * p];
    }
    return (costs[two_costs(page, p & ~1u)] >> (16 * (p & 1))) & 0xffff;
}

// Keeps the costs of the position p, which is even, and of the next one.
fn keep_two_costs(page: Page, p: u32, cost: u32, next: u32) {
    costs[two_costs(page, p)] = (cost & 0xffff) | (next << 16);
}

// Keeps the cost of p, or, where they share a word, leaves it to be kept with that of the position before.
fn keep_cost(page: Page, p: u32, cost: u32, next: u32) {
    if !AHEAD {
        costs[page.first + 32 * p] = cost;
    } else if (p & 1) == 0 {
        keep_two_costs(page, p, cost, next);
    }
}

// Chooses between a literal and the match of p.
fn choose_at(page: Page, p: u32, here: Position, after: ptr<function, After>) {
    let goes_on = ((*after).backward & 7) > 0;
    let own_length = here.own & 0xff;
    var length = select(0u, (*after).length + 1, goes_on);
    var offset = (*after).offset;
    // A match that goes on ends where it did.
    var end_cost = (*after).end_cost;
    if length <= GOES_ON && own_length >= max(length, 1u) {
        length = own_length;
        offset = here.own >> 16;
        end_cost = here.end_cost;
    }
    var cost = (*after).cost + 1;
    var chosen = 0u;
    if length > 0 {
        let full = end_cost + 3 + extension(length - 4);
        if full < cost {
            cost = full;
            chosen = length;
        }
        if length > SHORT && here.short_cost + 3 < cost {
            cost = here.short_cost + 3;
            chosen = SHORT;
        }
    }
    matches[page.first + 32 * p] = chosen | (select(offset, (*after).next, chosen == 0) << 16);
    let is_own = offset == here.own >> 16;
    let backward = select((*after).backward - u32(goes_on), (here.own >> 8) & 0xff, is_own);
    *after = After(cost, length, offset, backward, end_cost, select(p, (*after).next, chosen == 0));
}

// Compares more of the bytes before the match of p, if it may go on further and less than four are known to be equal.
fn look_backward(page: Page, p: u32, after: ptr<function, After>) {
    let backward = (*after).backward;
    if backward >= MAY_GO_ON && backward < MAY_GO_ON + 4 {
        let room = backward_room(p, (*after).offset);
        let start = p - room;
        let source = source_word(page.first_word, start, (*after).offset);
        (*after).backward = backward_length(room, word_at(page.first_word, start), source);
    }
}

fn byte_at(first_word: u32, p: u32) -> u32 {
    return (pages[first_word + (p >> 2)] >> ((p & 3) * 8)) & 0xff;
}

// Returns the byte before the source of a match of p, in the page or in the dictionary.
fn byte_before_source(first_word: u32, p: u32, offset: u32) -> u32 {
    if DICTIONARY && offset > p {
        let source = i32(p) - 1 - i32(offset);
        return (dictionary_word(source >> 2) >> (u32(source & 3) * 8)) & 0xff;
    }
    return byte_at(first_word, p - 1 - offset);
}

// Returns true if there is a byte before the source of a match of p, in the page or in the dictionary: if `backward_room` is not 0,
// but V3D spills less with this form.
fn has_byte_before_source(p: u32, offset: u32) -> bool {
    if DICTIONARY && offset > p {
        return offset < p + params.dictionary_bytes;
    }
    return offset < p;
}

// Compares the byte before the match of p, for the fewest registers, whatever is known.
fn look_at_byte_before(page: Page, p: u32, after: ptr<function, After>) {
    (*after).backward = 0u;
    if (*after).length > 0 && has_byte_before_source(p, (*after).offset) {
        let source = byte_before_source(page.first_word, p, (*after).offset);
        (*after).backward = u32(byte_at(page.first_word, p - 1) == source);
    }
}

// Loads the position p, and chooses between a literal and its match.
fn load_and_choose(page: Page, p: u32, after: ptr<function, After>) {
    if AHEAD {
        look_backward(page, p + 1, after);
    } else {
        look_at_byte_before(page, p + 1, after);
    }
    let next = (*after).cost;
    choose_at(page, p, load(page, p, matches[page.first + 32 * p]), after);
    keep_cost(page, p, (*after).cost, next);
}

// Returns the longest matches of the positions from p on.
fn own_matches(page: Page, p: u32) -> vec4<u32> {
    let at = page.first + 32 * p;
    return vec4(matches[at], matches[at + 32], matches[at + 64], matches[at + 96]);
}

// Chooses at all searchable positions, from the last to the first.
fn choose(page: Page) {
    for (var p = page.n - 11; p < page.n; p++) {
        keep_cost(page, p, page.n - p, page.n - p - 1);
    }
    var after = After(11u, 0u, 0u, 0u, 0u, NEVER);
    var left = page.n - 11;
    while (left & 3) != 0 {
        left--;
        load_and_choose(page, left, &after);
    }
    if AHEAD {
        choose_ahead(page, left, after);
        return;
    }
    // Four in an iteration, since lavapipe ends the loops of an invocation after 65,535 iterations in all.
    while left > 0 {
        left -= 4u;
        load_and_choose(page, left + 3, &after);
        load_and_choose(page, left + 2, &after);
        load_and_choose(page, left + 1, &after);
        load_and_choose(page, left, &after);
    }
}

// Chooses at the positions before `end`, a multiple of four, behind which is `behind`. Each iteration loads what four positions need
// before it chooses, since each choice waits for the one before, and the next four matches.
fn choose_ahead(page: Page, end: u32, behind: After) {
    var after = behind;
    var own = own_matches(page, max(end, 4u) - 4);
    for (var left = end; left > 0;) {
        left -= 4u;
        let third = load(page, left + 3, own.w);
        let second = load(page, left + 2, own.z);
        let first = load(page, left + 1, own.y);
        let zeroth = load(page, left, own.x);
        own = own_matches(page, max(left, 4u) - 4);
        look_backward(page, left + 4, &after);
        choose_at(page, left + 3, third, &after);
        let third_cost = after.cost;
        choose_at(page, left + 2, second, &after);
        keep_two_costs(page, left + 2, after.cost, third_cost);
        choose_at(page, left + 1, first, &after);
        let first_cost = after.cost;
        choose_at(page, left, zeroth, &after);
        keep_two_costs(page, left, after.cost, first_cost);
    }
}

// Returns the four bytes that are `offset` before p, in the page or in the dictionary.
fn source_word(first_word: u32, p: u32, offset: u32) -> u32 {
    if DICTIONARY && p < offset {
        return dictionary_word_at(i32(p) - i32(offset));
    }
    return word_at(first_word, p - offset);
}

// Returns the end of a match that agrees up to `end` and may go on, at most to `limit`.
fn extended(first_word: u32, end: u32, offset: u32, limit: u32) -> u32 {
    for (var p = end; p < limit; p += 4) {
        let difference = word_at(first_word, p) ^ source_word(first_word, p, offset);
        if difference != 0 {
            return min(limit, p + (countTrailingZeros(difference) >> 3));
        }
    }
    return limit;
}

// Writes the chosen sequences, and the size of the block.
fn write_sequences_of(first_word: u32, first: u32, n: u32, index: u32) {
    let list = index * (PAGE_SIZE / 4);
    var n_sequences = 0u;
    var bytes = 0u;
    var anchor = 0u;
    var p = 0u;
    while p + 12 <= n {
        let chosen = matches[first + 32 * p];
        let length = chosen & 0xffff;
        if length == 0 {
            p = chosen >> 16;
            continue;
        }
        var end = p + length;
        let offset = chosen >> 16;
        // A shorter match that is not cut has been compared to its end, unless it began in a run.
        if length >= LONGEST || (offset == 1 && length != SHORT) {
            var limit = n - 5;
            if DICTIONARY && offset > p {
                // A match does not leave the dictionary.
                limit = min(limit, offset);
            }
            end = extended(first_word, end, offset, limit);
        }
        n_sequences++;
        sequences[list + n_sequences] = vec2(p | (chosen & 0xffff0000), bytes | (end << 16));
        bytes += sequence_bytes(p - anchor, end - p);
        p = end;
        anchor = end;
    }
    let size = bytes + 1 + (n - anchor) + extension(n - anchor);
    sequences[list] = vec2(n_sequences + 1, 0u);
    sequences[list + n_sequences + 1] = vec2(0u, bytes);
    sizes[index] = select(size, n | KIND_STORED, size >= n);
}

@compute @workgroup_size(WIDTH)
fn lz4_cheapest(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>) {
    for (var index = invocation.x; index < params.n_pages; index += WIDTH * n_workgroups.x) {
        let first_word = index * (PAGE_SIZE / 4);
        let first = (index / 32) * (32 * PAGE_SIZE) + index % 32;
        let n = min(PAGE_SIZE, params.n_bytes - index * PAGE_SIZE);
        if sizes[index] == 0 {
            sizes[index] = n | KIND_STORED;
        } else if sizes[index] < KIND_STORED {
            choose(Page(first_word, n, first));
            write_sequences_of(first_word, first, n, index);
        }
    }
}
