// Part of lz4_parse: sizes of sequences, and the sequences of a page.
//
// import: lib/lz4_length, lz4_parse/walk

// Sums over the matches of a segment.
struct Sums {
    n: u32,
    // Bytes of all sequences but the first, whose literals begin in an earlier segment.
    bytes: u32,
    first: vec2<u32>,
    // End of the last match.
    end: u32,
}

// Returns the next match of a list, or LAST, following a link. `next` is the entry at `row`, prefetched to hide latency.
fn take_match(page: Page, row: ptr<function, u32>, next: ptr<function, vec2<u32>>) -> vec2<u32> {
    if ((*next).x >> 16) == 0 {
        *row = (*next).x;
        *next = matches[entry_index(page, *row)];
    }
    return *next;
}

// Sums up the matches of a list.
fn add_up(page: Page, head: u32) -> Sums {
    var sums = Sums(0u, 0u, vec2(0u), 0u);
    var row = head;
    var next = matches[entry_index(page, row)];
    for (var k = 0u; k < SEGMENT / 4; k++) {
        let found = take_match(page, &row, &next);
        if found.x == LAST {
            break;
        }
        next = matches[entry_index(page, row + 1)];
        if k == 0 {
            sums.first = found;
        } else {
            let start = found.x & 0xffff;
            sums.bytes += sequence_bytes(start - sums.end, found.y - start);
        }
        sums.end = found.y;
        sums.n++;
        row++;
    }
    return sums;
}

// Writes the matches of a list as sequences from index `first` on, with places in the block from `place` on.
fn write_sequences(page: Page, head: u32, anchor_before: u32, first: u32, place: u32) {
    var anchor = anchor_before;
    var bytes = place;
    var row = head;
    var next = matches[entry_index(page, row)];
    for (var k = 0u; k < SEGMENT / 4; k++) {
        let found = take_match(page, &row, &next);
        if found.x == LAST {
            break;
        }
        row++;
        next = matches[entry_index(page, row)];
        let start = found.x & 0xffff;
        sequences[first + k] = vec2(found.x, bytes | (found.y << 16));
        bytes += sequence_bytes(start - anchor, found.y - start);
        anchor = found.y;
    }
}
