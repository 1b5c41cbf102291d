// Part of lz4_parse: the matches of a segment.
//
// Matches have at least four bytes, so four positions share a slot: a bit in `Chosen`, a register, says that a match starts
// there, and a byte of workgroup memory has the position's lowest two bits and, above them, the match's length minus 4, or
// LONG_CODE. Ends of longer matches are in half words of their own, one for 64 positions. The words of all lanes
// interleave, so that banks do not conflict.

// The positions of a lane.
struct Segment {
    begin: u32,
    end: u32,
}

override SLOTS: u32 = CHUNK / 32;
override LONG_ENDS: u32 = SLOTS + CHUNK / 16;
const LONG_CODE: u32 = 63;

// The slots of a segment in which matches start, one bit each. Segments of up to 128 positions use `low` alone.
struct Chosen {
    low: u32,
    high: u32,
}

// Returns the slot of m in its segment.
fn slot_of(segment: Segment, m: u32) -> u32 {
    return (m - segment.begin) >> 2;
}

fn with_slot(chosen: Chosen, slot: u32) -> Chosen {
    let bit = 1u << (slot & 31);
    if SEGMENT <= 128 || slot < 32 {
        return Chosen(chosen.low | bit, chosen.high);
    }
    return Chosen(chosen.low, chosen.high | bit);
}

fn has_slot(chosen: Chosen, slot: u32) -> bool {
    let word = select(chosen.high, chosen.low, SEGMENT <= 128 || slot < 32);
    return ((word >> (slot & 31)) & 1) != 0;
}

// Returns `chosen` with the slots of `old` from `slot` on.
fn followed_by(chosen: Chosen, old: Chosen, slot: u32) -> Chosen {
    let mask = 0xffffffffu << (slot & 31);
    if SEGMENT <= 128 || slot < 32 {
        return Chosen(chosen.low | (old.low & mask), old.high);
    }
    return Chosen(chosen.low, chosen.high | (old.high & mask));
}

fn is_empty(chosen: Chosen) -> bool {
    return (chosen.low | chosen.high) == 0;
}

fn n_chosen(chosen: Chosen) -> u32 {
    return countOneBits(chosen.low) + select(0u, countOneBits(chosen.high), SEGMENT > 128);
}

// Removes the first slot, and returns it.
fn take_slot(chosen: ptr<function, Chosen>) -> u32 {
    if SEGMENT <= 128 || (*chosen).low != 0 {
        let slot = countTrailingZeros((*chosen).low);
        (*chosen).low &= (*chosen).low - 1;
        return slot;
    }
    let slot = countTrailingZeros((*chosen).high);
    (*chosen).high &= (*chosen).high - 1;
    return 32 + slot;
}

fn slot_word(slot: u32) -> u32 {
    return SLOTS + (slot >> 2) * WIDTH + lane;
}

fn load_slot(slot: u32) -> u32 {
    return (atomicLoad(&sh_words[slot_word(slot)]) >> ((slot & 3) * 8)) & 0xff;
}

fn long_end_word(slot: u32) -> u32 {
    return LONG_ENDS + (slot >> 5) * WIDTH + lane;
}

fn store_long_end(slot: u32, end: u32) {
    let at = long_end_word(slot);
    let is_upper = (slot & 16) != 0;
    let both = atomicLoad(&sh_words[at]);
    atomicStore(&sh_words[at], select((both & 0xffff0000) | end, (both & 0xffff) | (end << 16), is_upper));
}

// Stores the match from m to `end` in its slot.
fn store_match(slot: u32, m: u32, end: u32) {
    let code = min(end - m - 4, LONG_CODE);
    if code == LONG_CODE {
        store_long_end(slot, end);
    }
    let at = slot_word(slot);
    let s = (slot & 3) * 8;
    atomicStore(&sh_words[at], (atomicLoad(&sh_words[at]) & ~(0xffu << s)) | (((code << 2) | (m & 3)) << s));
}

// Returns the start and the end of the match in a slot.
fn load_match(segment: Segment, slot: u32) -> vec2<u32> {
    let stored = load_slot(slot);
    let m = segment.begin + 4 * slot + (stored & 3);
    let long = (atomicLoad(&sh_words[long_end_word(slot)]) >> (slot & 16)) & 0xffff;
    return vec2(m, select(m + 4 + (stored >> 2), long, (stored >> 2) == LONG_CODE));
}
