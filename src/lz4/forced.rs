//! The choice of an instruction set by its name, so that one machine tests all that it has. Compiled only with
//! `--cfg pagepress_forced_instructions`.

use super::instructions::Instructions;

impl Instructions {
    /// The set that `PAGEPRESS_INSTRUCTIONS` names, such as `Avx2` or `Portable`; the best one without the variable.
    #[expect(
        clippy::panic,
        reason = "a test must not go on with other instructions"
    )]
    pub(super) fn forced() -> Self {
        let Ok(name) = std::env::var("PAGEPRESS_INSTRUCTIONS") else {
            return Self::best();
        };
        let is_named = |set: &Self| format!("{set:?}").contains(&name);
        match Self::available().find(is_named) {
            Some(set) => set,
            None => panic!("this machine has no {name}"),
        }
    }
}
