//! Encoders for every instruction set, for those that compare them.

use super::encode::Encoder;
use super::instructions::Instructions;
use super::parse::Parse;

impl Encoder {
    /// An encoder for each instruction set that this machine has, the best one first. All give the same bytes.
    #[doc(hidden)]
    #[must_use]
    pub fn for_all_instructions(parse: &Parse) -> Vec<Self> {
        Instructions::available()
            .map(|instructions| Self::with_instructions(parse, instructions))
            .collect()
    }
}
