//! Functions of `shaders/lib` that the compiler lowers to an instruction instead of inlining their body.
//!
//! A function of a source is an intrinsic if both its name and its text, apart from layout and comments, are those of the
//! library. A function with the same name and another body is compiled like any other.

/// A library function with a lowering of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intrinsic {
    /// `funnel`: one `shf.r.wrap`.
    Funnel,
    /// `agree`, in a workgroup of one warp: one `redux.sync`, from sm_80 on. The portable body is an atomic maximum in
    /// workgroup memory.
    Agree,
    /// `vote`, in a workgroup of one warp: one `vote.sync.any`, without the counter in workgroup memory of the portable
    /// body.
    Vote,
}

/// Intrinsics with the names and the files of their functions.
const LIBRARY: [(Intrinsic, &str, &str); 3] = [
    (
        Intrinsic::Funnel,
        "funnel",
        include_str!("../../shaders/lib/bits.wgsl"),
    ),
    (
        Intrinsic::Agree,
        "agree",
        include_str!("../../shaders/lib/agree.wgsl"),
    ),
    (
        Intrinsic::Vote,
        "vote",
        include_str!("../../shaders/lib/vote.wgsl"),
    ),
];

/// Returns the intrinsic that a function with this name and text is.
pub(super) fn find(name: &str, text: &str) -> Option<Intrinsic> {
    let (intrinsic, _, file) = LIBRARY.iter().find(|(_, known, _)| *known == name)?;
    let known = crate::wgsl::function(file, name)?;
    (normalized(text) == normalized(known)).then_some(*intrinsic)
}

/// Returns a source without line comments and without whitespace except between words.
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
    fn every_intrinsic_is_a_function_of_the_library() {
        for (intrinsic, name, file) in LIBRARY {
            let text = crate::wgsl::function(file, name);
            assert_eq!(text.and_then(|text| find(name, text)), Some(intrinsic));
        }
    }

    #[test]
    fn name_and_body_count_and_layout_does_not() {
        let known = "fn funnel(a: u32, b: u32, s: u32) -> u32 {
            return (a >> s) | ((b << 1) << (31 - s));
        }";
        assert_eq!(find("funnel", known), Some(Intrinsic::Funnel));
        let laid_out = known
            .replace("return", "// shifts\n  return")
            .replace(" | ", "|");
        assert_eq!(find("funnel", &laid_out), Some(Intrinsic::Funnel));
        assert_eq!(find("funnel", &known.replace("31", "30")), None);
        let no_space = known.replace("return (", "return(");
        assert_eq!(find("funnel", &no_space), Some(Intrinsic::Funnel));
        assert_eq!(find("other", &known.replace("funnel", "other")), None);
        assert_eq!(find("vote", &known.replace("funnel", "vote")), None);
    }
}
