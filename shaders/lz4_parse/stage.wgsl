// Part of lz4_parse: words of the page, from storage or from its copy in workgroup memory.
//
// The copy has rows of 32 words, 35 words apart: lanes at equal places of their segments, which are as long as rows, then use
// different banks. The three words between two rows repeat the first ones of the second, so that three words that
// follow each other in the page do so in the copy. Behind the rows, each lane has a word that nothing reads.

const ROW_BITS: u32 = 7;
const ROW_GAP: u32 = 3;
override STAGE: u32 = WORDS + 4;
override STAGE_END: u32 = STAGE + PAGE_SIZE / 4 + (PAGE_SIZE >> ROW_BITS) * ROW_GAP;
// Words of the copy that WIDTH words of the page take.
override STAGED_WIDTH: u32 = WIDTH + WIDTH / 32 * ROW_GAP;

// Returns the place in the copy, in bytes, of the word of the page that has byte p; its lowest two bits are those of p.
fn staged_byte(p: u32) -> u32 {
    return p + (p >> ROW_BITS) * (4 * ROW_GAP);
}

// Returns the word of the page that has byte p, and the next one.
fn two_words(page: Page, p: u32) -> vec2<u32> {
    if STAGED {
        let i = staged_byte(p) >> 2;
        return vec2(atomicLoad(&sh_words[i + STAGE]), atomicLoad(&sh_words[i + (STAGE + 1)]));
    }
    let at = page.first_word + (p >> 2);
    return vec2(pages[at], pages[at + 1]);
}

// Returns the word of the page that has byte p, and the next two.
fn three_words(page: Page, p: u32) -> vec3<u32> {
    if STAGED {
        let i = staged_byte(p) >> 2;
        return vec3(atomicLoad(&sh_words[i + STAGE]), atomicLoad(&sh_words[i + (STAGE + 1)]), atomicLoad(&sh_words[i + (STAGE + 2)]));
    }
    let at = page.first_word + (p >> 2);
    return vec3(pages[at], pages[at + 1], pages[at + 2]);
}

// Returns four words of `pages`, WIDTH apart, so that the loads of neighbouring lanes coalesce.
fn four_words(i: u32) -> vec4<u32> {
    return vec4(pages[i], pages[i + WIDTH], pages[i + 2 * WIDTH], pages[i + 3 * WIDTH]);
}

// Stages a word of the page at `at`, and its copy in the gap before its row if it is one of the row's first.
fn stage_word(at: u32, word: u32, is_first: bool) {
    atomicStore(&sh_words[at], word);
    if is_first {
        atomicStore(&sh_words[at - ROW_GAP], word);
    }
}

fn stage_words(at: u32, words: vec4<u32>, is_first: bool) {
    stage_word(at, words.x, is_first);
    stage_word(at + STAGED_WIDTH, words.y, is_first);
    stage_word(at + 2 * STAGED_WIDTH, words.z, is_first);
    stage_word(at + 3 * STAGED_WIDTH, words.w, is_first);
}

// Stages the page in workgroup memory. Four independent vector loads are in flight per lane, to hide latency.
fn stage(page: Page) {
    let is_first = (lane & 31) < ROW_GAP;
    var at = STAGE + (staged_byte(4 * lane) >> 2);
    if page.n == PAGE_SIZE {
        for (var i = lane; i < PAGE_SIZE / 4; i += 16 * WIDTH) {
            let a = four_words(page.first_word + i);
            let b = four_words(page.first_word + i + 4 * WIDTH);
            let c = four_words(page.first_word + i + 8 * WIDTH);
            let d = four_words(page.first_word + i + 12 * WIDTH);
            stage_words(at, a, is_first);
            stage_words(at + 4 * STAGED_WIDTH, b, is_first);
            stage_words(at + 8 * STAGED_WIDTH, c, is_first);
            stage_words(at + 12 * STAGED_WIDTH, d, is_first);
            at += 16 * STAGED_WIDTH;
        }
    } else {
        for (var i = lane; 4 * i < page.n; i += WIDTH) {
            stage_word(at, pages[page.first_word + i], is_first);
            at += STAGED_WIDTH;
        }
    }
}
