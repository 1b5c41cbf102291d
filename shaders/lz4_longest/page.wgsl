// Part of lz4_longest: words of the page, from storage or from its copy in workgroup memory.
//
// import: lib/bits

// The words of the page, and those behind it that comparisons read.
override TEXT: u32 = select(1u, PAGE_SIZE / 4 + 4, STAGES);

// With STAGES, the page.
var<workgroup> sh_page: array<u32, TEXT>;

// The next six functions return words of the page, or of the 16 bytes behind it, by their index, which counts from `base_of`. They
// differ in literal offsets, which become those of load instructions only in the function that loads.
fn one_of_page(i: u32) -> u32 {
    if STAGES {
        return sh_page[i];
    }
    return pages[i];
}

fn two_of_page(i: u32) -> vec2<u32> {
    if STAGES {
        return vec2(sh_page[i], sh_page[i + 1]);
    }
    return vec2(pages[i], pages[i + 1]);
}

fn three_of_page(i: u32) -> vec3<u32> {
    if STAGES {
        return vec3(sh_page[i], sh_page[i + 1], sh_page[i + 2]);
    }
    return vec3(pages[i], pages[i + 1], pages[i + 2]);
}

fn two_of_page_after(i: u32) -> vec2<u32> {
    if STAGES {
        return vec2(sh_page[i + 1], sh_page[i + 2]);
    }
    return vec2(pages[i + 1], pages[i + 2]);
}

fn three_of_page_after(i: u32) -> vec3<u32> {
    if STAGES {
        return vec3(sh_page[i + 1], sh_page[i + 2], sh_page[i + 3]);
    }
    return vec3(pages[i + 1], pages[i + 2], pages[i + 3]);
}

fn fourth_of_page_after(i: u32) -> u32 {
    if STAGES {
        return sh_page[i + 4];
    }
    return pages[i + 4];
}

// Returns the index of the first word of a page in what the functions above read.
fn base_of(first_word: u32) -> u32 {
    return select(first_word, 0u, STAGES);
}

// Returns the four bytes from byte p of the page on.
fn text_at(first_word: u32, p: u32) -> u32 {
    let words = two_of_page(base_of(first_word) + (p >> 2));
    return funnel(words.x, words.y, (p & 3) * 8);
}
