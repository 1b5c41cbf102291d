// Part of lz4_parse: words of the page, from storage or from its copy in workgroup memory.

// Returns word i of the page and the next one.
fn two_words(page: Page, i: u32) -> vec2<u32> {
    if STAGED {
        let at = BUCKETS + i;
        return vec2(atomicLoad(&sh_words[at]), atomicLoad(&sh_words[at + 1]));
    }
    let at = page.first_word + i;
    return vec2(pages[at], pages[at + 1]);
}

// Returns word i of the page and the next two.
fn three_words(page: Page, i: u32) -> vec3<u32> {
    if STAGED {
        let at = BUCKETS + i;
        return vec3(atomicLoad(&sh_words[at]), atomicLoad(&sh_words[at + 1]), atomicLoad(&sh_words[at + 2]));
    }
    let at = page.first_word + i;
    return vec3(pages[at], pages[at + 1], pages[at + 2]);
}

// Returns four words of `pages`, WIDTH apart, so that the loads of neighbouring lanes coalesce.
fn four_words(i: u32) -> vec4<u32> {
    return vec4(pages[i], pages[i + WIDTH], pages[i + 2 * WIDTH], pages[i + 3 * WIDTH]);
}

fn stage_words(i: u32, words: vec4<u32>) {
    let at = BUCKETS + i;
    atomicStore(&sh_words[at], words.x);
    atomicStore(&sh_words[at + WIDTH], words.y);
    atomicStore(&sh_words[at + 2 * WIDTH], words.z);
    atomicStore(&sh_words[at + 3 * WIDTH], words.w);
}

// Stages the page in workgroup memory. Four independent vector loads are in flight per lane, to hide latency.
fn stage(page: Page) {
    if page.n == PAGE_SIZE {
        for (var i = lane; i < PAGE_SIZE / 4; i += 16 * WIDTH) {
            let a = four_words(page.first_word + i);
            let b = four_words(page.first_word + i + 4 * WIDTH);
            let c = four_words(page.first_word + i + 8 * WIDTH);
            let d = four_words(page.first_word + i + 12 * WIDTH);
            stage_words(i, a);
            stage_words(i + 4 * WIDTH, b);
            stage_words(i + 8 * WIDTH, c);
            stage_words(i + 12 * WIDTH, d);
        }
    } else {
        for (var i = lane; 4 * i < page.n; i += WIDTH) {
            atomicStore(&sh_words[BUCKETS + i], pages[page.first_word + i]);
        }
    }
}
