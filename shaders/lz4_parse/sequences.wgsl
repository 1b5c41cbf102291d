// Part of lz4_parse: the matches of a chunk as sequences, with their places in the block.
//
// import: lib/lz4_length, lz4_parse/stage, lz4_parse/slots, lz4_parse/walk

// Returns how far back the match at m extends, not before `anchor`.
fn extend_backward(page: Page, m: u32, offset: u32, anchor: u32) -> u32 {
    var start = m;
    while start > anchor && start > offset {
        let p = start - 1;
        let q = p - offset;
        let a = two_words(page, p).x >> ((p & 3) * 8);
        let b = two_words(page, q).x >> ((q & 3) * 8);
        if ((a ^ b) & 0xff) != 0 {
            break;
        }
        start = p;
    }
    return start;
}

// Returns the size of a sequence in bytes.
fn sequence_bytes(literals: u32, match_bytes: u32) -> u32 {
    return 3 + literals + extension(literals) + extension(match_bytes - 4);
}

// Sums over the matches of a segment.
struct Sums {
    // Bytes of all sequences but the first, whose literals begin in an earlier segment.
    bytes: u32,
    first: vec2<u32>,
    // End of the last match.
    end: u32,
}

// Sums up the matches of a segment, extended backward where BACKWARD says so.
fn add_up(page: Page, segment: Segment, chosen: Chosen) -> Sums {
    var sums = Sums(0u, vec2(0u), 0u);
    var left = chosen;
    for (var k = 0u; k < SEGMENT / 4; k++) {
        if is_empty(left) {
            break;
        }
        var found = load_match(segment, take_slot(&left));
        if k == 0 {
            sums.first = found;
        } else {
            if BACKWARD {
                found.x = extend_backward(page, found.x, candidate_at(page, found.x), sums.end);
            }
            sums.bytes += sequence_bytes(found.x - sums.end, found.y - found.x);
        }
        sums.end = found.y;
    }
    return sums;
}

// Writes the matches of a segment as sequences from index `first` on, with places in the block from `place` on.
fn write_sequences(page: Page, segment: Segment, chosen: Chosen, anchor_before: u32, first: u32, place: u32) {
    var anchor = anchor_before;
    var bytes = place;
    var left = chosen;
    if is_empty(left) {
        return;
    }
    var next = load_match(segment, take_slot(&left));
    var offset = candidate_at(page, next.x);
    for (var k = 0u; k < SEGMENT / 4; k++) {
        let found = next;
        let own_offset = offset;
        let is_last = is_empty(left);
        if !is_last {
            next = load_match(segment, take_slot(&left));
            offset = candidate_at(page, next.x);
        }
        var start = found.x;
        if BACKWARD {
            start = extend_backward(page, start, own_offset, anchor);
        }
        sequences[first + k] = vec2(start | (own_offset << 16), bytes | (found.y << 16));
        if is_last {
            break;
        }
        bytes += sequence_bytes(start - anchor, found.y - start);
        anchor = found.y;
    }
}
