// Part of lz4_parse: the matches of a chunk as sequences, with their places in the block.
//
// import: lib/lz4_length, lz4_parse/slots, lz4_parse/walk

// Sums over the matches of a segment.
struct Sums {
    // Bytes of all sequences but the first, whose literals begin in an earlier segment.
    bytes: u32,
    first: vec2<u32>,
    // End of the last match.
    end: u32,
}

// Sums up the matches of a segment.
fn add_up(segment: Segment, chosen: Chosen) -> Sums {
    var sums = Sums(0u, vec2(0u), 0u);
    var left = chosen;
    for (var k = 0u; k < SEGMENT / 4; k++) {
        if is_empty(left) {
            break;
        }
        let found = load_match(segment, take_slot(&left));
        if k == 0 {
            sums.first = found;
        } else {
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
    for (var k = 0u; k < SEGMENT / 4; k++) {
        if is_empty(left) {
            break;
        }
        let found = load_match(segment, take_slot(&left));
        sequences[first + k] = vec2(found.x | (candidate_at(page, found.x) << 16), bytes | (found.y << 16));
        bytes += sequence_bytes(found.x - anchor, found.y - found.x);
        anchor = found.y;
    }
}
