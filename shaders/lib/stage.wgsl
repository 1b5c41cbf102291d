// Copies from storage to workgroup memory, of 16 bytes each, that an engine may run asynchronously.
//
// Intrinsics: wgsl-ptx knows these functions by their names and texts. The file that imports them declares `Part`, a vector of 8 bytes,
// `left` and `right`, arrays of Unit in storage, and `sh_staged`, an array of Part in workgroup memory. `to` is a multiple of 2 in rows of
// 16 bytes.

struct Unit {
    first: Part,
    second: Part,
}

fn stage_left(to: u32, place: u32, inside: bool) {
    if inside {
        sh_staged[to] = left[place].first;
        sh_staged[to + 1] = left[place].second;
    } else {
        sh_staged[to] = Part();
        sh_staged[to + 1] = Part();
    }
}

fn stage_right(to: u32, place: u32, inside: bool) {
    if inside {
        sh_staged[to] = right[place].first;
        sh_staged[to + 1] = right[place].second;
    } else {
        sh_staged[to] = Part();
        sh_staged[to + 1] = Part();
    }
}

// Ends the invocation's group of copies.
fn end_stage() {
}

// Waits for all groups of copies but the last `n_pending`, and synchronises the workgroup.
fn await_staged(n_pending: u32) {
    workgroupBarrier();
}
