//! WGSL functions whose body PTX replaces by something shorter of the same meaning.
//!
//! A function of a source is replaced if its text is, but for spaces and comments, one of this table: a function of the
//! same name that does something else is left alone.

/// A function that PTX knows better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intrinsic {
    /// One `shf.r.wrap`: the low word of a pair of words shifted right.
    Funnel,
    /// The largest of the codes of a workgroup of one warp: one `redux.sync`, where there is that instruction. The
    /// portable body lets the invocations meet in shared memory.
    Agree,
    /// Whether an invocation of a workgroup of one warp says yes: one `vote.sync.any`, without the shared memory in
    /// which the portable body counts votes. So nothing but this function may look at `n_votes` and at its pointer.
    Vote,
}

const TABLE: [(Intrinsic, &str); 3] = [
    (
        Intrinsic::Funnel,
        "fn funnel(a: u32, b: u32, s: u32) -> u32 {
            return (a >> s) | ((b << 1) << (31 - s));
        }",
    ),
    (
        Intrinsic::Agree,
        "fn agree(round: ptr<function, u32>, code: u32) -> u32 {
            *round += 1u;
            if code != NOTHING {
                atomicMax(&shared_words[AGREED], (*round << 8) | code);
            }
            let all = workgroupUniformLoad(&shared_words[AGREED]);
            return select(NOTHING, all & 255, (all >> 8) == *round);
        }",
    ),
    (
        Intrinsic::Vote,
        "fn vote(votes: ptr<function, u32>, yes: bool) -> bool {
            if yes {
                atomicAdd(&n_votes, 1u);
            }
            let before = *votes;
            *votes = workgroupUniformLoad(&n_votes);
            return *votes != before;
        }",
    ),
];

/// The intrinsic with this text.
pub(super) fn find(text: &str) -> Option<Intrinsic> {
    let text = text.trim_start();
    let (intrinsic, known) = TABLE.iter().find(|(_, known)| {
        let name = known.split('(').next().unwrap_or(known);
        text.starts_with(name)
    })?;
    (normalized(text) == normalized(known)).then_some(*intrinsic)
}

/// A source without comments to the end of a line, and without spaces but between words.
fn normalized(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut normal = String::with_capacity(text.len());
    let mut gap = false;
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    for c in lines.flat_map(|line| line.chars().chain(['\n'])) {
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && is_word(c) && normal.ends_with(is_word) {
            normal.push(' ');
        }
        gap = false;
        normal.push(c);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_counts_and_layout_does_not() {
        let known = TABLE[0].1;
        assert_eq!(find(known), Some(Intrinsic::Funnel));
        let laid_out = known
            .replace("return", "// shifts\n  return")
            .replace(" | ", "|");
        assert_eq!(find(&laid_out), Some(Intrinsic::Funnel));
        assert_eq!(find(&known.replace("31", "30")), None);
        assert_eq!(
            find(&known.replace("return (", "return(")),
            Some(Intrinsic::Funnel)
        );
        assert_eq!(find("fn other() {}"), None);
    }
}
