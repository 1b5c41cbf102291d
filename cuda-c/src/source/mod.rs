//! From text to tokens: the lexer and the preprocessor.

mod condition;
mod directives;
mod headers;
mod lexer;
mod macros;

pub(crate) use directives::preprocess;
pub(crate) use lexer::{Tok, Token};

/// Maximum bytes of a source.
pub(crate) const MAX_SOURCE_BYTES: usize = 1 << 20;
/// Maximum tokens of a source, and of the text that its macros expand to.
pub(crate) const MAX_TOKENS: usize = 1 << 17;
