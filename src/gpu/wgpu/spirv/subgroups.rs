//! Intrinsics by operations of subgroups, which WGSL has in browsers only as an extension.
//!
//! They take fewer instructions than words in workgroup memory. More than that, with the portable `agree` NVIDIA's compiler keeps masks of
//! the invocations that take part in barriers, and tests before each barrier in a loop if they have converged: `lz4_parse` has 38 of these
//! tests with it, and none with this one (`docs/decisions/066`).

use wgsl_ptx::intrinsics::{AGREE, PEERS};

/// Declaration of kernels that have a word for each of up to [`MOST_SUBGROUPS`] from `AGREED` on, and `lane`, the local invocation index.
const AGREED_WORDS: &str = "const AGREED_WORDS: u32 = 4;";
const MOST_SUBGROUPS: u32 = 4;
/// Invocations of a workgroup whose [`PEERS`] are one word of a ballot.
const BALLOT: u32 = 32;

/// [`AGREE`] in a workgroup of one subgroup.
const AGREE_IN_ONE: &str = "fn agree(round: ptr<function, u32>, code: u32) -> u32 {
    workgroupBarrier();
    return subgroupMax(code);
}";

/// [`PEERS`] in a workgroup of one subgroup.
const PEERS_IN_ONE: &str = "fn peers(lane: u32, value: u32) -> u32 {
    workgroupBarrier();
    var lanes = 0xffffffffu;
    for (var i = 0u; i < 12; i++) {
        let is_one = ((value >> i) & 1) != 0;
        let ones = subgroupBallot(is_one).x;
        lanes &= select(~ones, ones, is_one);
    }
    return lanes;
}";

/// Returns [`AGREE`] in a workgroup of `n` subgroups of `size` consecutive invocations.
fn agree_in(n: u32, size: u32) -> String {
    format!(
        "fn agree(round: ptr<function, u32>, code: u32) -> u32 {{
    atomicStore(&sh_words[AGREED + lane / {size}], subgroupMax(code));
    workgroupBarrier();
    var all = 0u;
    for (var i = 0u; i < {n}; i++) {{
        all = max(all, atomicLoad(&sh_words[AGREED + i]));
    }}
    workgroupBarrier();
    return subgroupMax(all);
}}"
    )
}

/// Returns the source with operations of subgroups of `size` invocations in place of its intrinsics, in workgroups of `n` invocations.
/// Returns `None` if there are no intrinsics, or no operations for such workgroups.
pub(super) fn with_operations(wgsl: &str, n: u32, size: u32) -> Option<String> {
    if !wgsl.contains(AGREE) && !wgsl.contains(PEERS) {
        return None;
    }
    if n == size {
        let text = wgsl.replace(AGREE, AGREE_IN_ONE);
        return Some(match size {
            BALLOT => text.replace(PEERS, PEERS_IN_ONE),
            _ => text,
        });
    }
    let has_words = n > size && n.is_multiple_of(size) && n / size <= MOST_SUBGROUPS;
    (has_words && wgsl.contains(AGREED_WORDS))
        .then(|| wgsl.replace(AGREE, &agree_in(n / size, size)))
}
