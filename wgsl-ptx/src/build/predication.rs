//! Predicates in place of branches around a few instructions.

use super::kernel::{Label, Line, PtxKernel};

/// Most instructions that are predicated in place of a branch around them.
const MAX_PREDICATED: usize = 6;

/// Returns true if an instruction may be predicated: not if all threads of a warp synchronise at it, and not if it has or
/// sets a predicate already.
fn may_be_predicated(text: &str) -> bool {
    const NOT: [&str; 9] = [
        "@",
        "bar.",
        "shfl.",
        "vote.",
        "redux.",
        "match.",
        "activemask.",
        "setp.",
        "ret",
    ];
    !NOT.iter().any(|start| text.starts_with(start)) && !text.contains(".pred")
}

/// Returns true if an instruction has side effects: if it does more than set a register that nothing else sets.
fn has_effects(text: &str) -> bool {
    const EFFECTS: [&str; 5] = ["ld.", "st.", "red.", "atom.", "mov.b"];
    EFFECTS.iter().any(|start| text.starts_with(start))
}

impl PtxKernel {
    /// Replaces a branch around a short run of instructions that ends in a store by predicates. The assembler if-converts other
    /// runs itself, but not these.
    pub(super) fn predicate_skipped(&mut self, label: Label) {
        let is_plain =
            |line: &&Line| matches!(line, Line::Instruction(text) if may_be_predicated(text));
        let n = self
            .lines
            .iter()
            .rev()
            .take(MAX_PREDICATED + 1)
            .take_while(is_plain)
            .count();
        let writes = matches!(self.lines.last(), Some(Line::Instruction(text)) if text.starts_with("st.") || text.starts_with("red."));
        let Some(at) = self.lines.len().checked_sub(n + 1) else {
            return;
        };
        let Line::Branch {
            condition: Some((register, value)),
            target,
            was_lost,
        } = self.lines[at]
        else {
            return;
        };
        if !writes || n > MAX_PREDICATED || target != label {
            return;
        }
        // The branch is taken, and the run skipped, if the register equals `value`.
        let not = if value { "!" } else { "" };
        self.lines.remove(at);
        self.count_branch(label, -1);
        self.convergence.is_lost = was_lost;
        for line in &mut self.lines[at..] {
            if let Line::Instruction(text) = line
                && has_effects(text)
            {
                *text = format!("@{not}{register} {text}");
            }
        }
    }
}
