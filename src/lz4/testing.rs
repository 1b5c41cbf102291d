//! Access to each instruction set of this machine, for tests and benchmarks that compare them.

use super::dictionary::Dictionary;
use super::encode::Encoder;
use super::instructions::Instructions;
use super::parse::Parse;

impl Encoder {
    /// Returns an encoder for each instruction set of this machine, the best one first. All write the same bytes.
    #[doc(hidden)]
    #[must_use]
    pub fn for_all_instructions(parse: &Parse, dictionary: Option<&Dictionary>) -> Vec<Self> {
        Instructions::available()
            .map(|instructions| Self::with_instructions(parse, dictionary.cloned(), instructions))
            .collect()
    }
}

#[cfg(pagepress_forced_instructions)]
impl Instructions {
    /// Returns the instruction set that the variable `PAGEPRESS_INSTRUCTIONS` names, such as `Avx2` or `Portable`; without
    /// the variable the best one.
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
