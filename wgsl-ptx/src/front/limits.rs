//! Limits on sources. Parsers, validators and driver compilers recurse over a source and inline its calls, so a small text
//! could overflow the stack or take hours to compile. The limits are far above what kernels need; most are above those of
//! browsers (127 nested statements, 512 operators in an expression).

use std::fmt::Display;

use super::located;

/// Maximum bytes of a source.
pub(super) const MAX_SOURCE_BYTES: usize = 1 << 20;
/// Maximum tokens of a source without comments.
pub(super) const MAX_TOKENS: usize = 1 << 17;
/// Maximum tokens of a function, and of module scope as a whole: naga's time grows with the square of the number of
/// expressions.
pub(super) const MAX_FUNCTION_TOKENS: usize = 1 << 15;
/// Maximum nesting of brackets, template lists and `else if`.
pub(super) const MAX_NESTING: usize = 160;
/// Maximum height of an expression tree: operators, calls and accesses that need each other's results.
pub(super) const MAX_OPERATORS: usize = 1024;
/// Maximum length of a chain of uses: functions that call each other, nested structures.
pub(super) const MAX_DEPTH: usize = 512;
/// Maximum nesting of structures and template lists in a type.
pub(super) const MAX_TYPE_NESTING: usize = 64;
/// Maximum tokens of a declaration with all its uses of functions and types inlined.
pub(super) const MAX_INLINED_TOKENS: u64 = 1 << 20;
/// Maximum declarations of a source.
pub(super) const MAX_DECLARATIONS: usize = 1 << 13;
/// Maximum variables at module scope.
pub(super) const MAX_VARIABLES: usize = 1024;
/// Maximum members of a structure.
pub(super) const MAX_MEMBERS: usize = 4096;
/// Maximum elements of a zero value `T()`.
pub(super) const MAX_ZERO_ELEMENTS: u64 = 1 << 16;
/// Nesting, expression height and chain length above which a source is compiled on a thread with a large
/// stack.
pub(super) const DEEP: [usize; 3] = [16, 32, 32];

/// Formats the message for an exceeded limit.
pub(super) fn exceeded(
    source: &str,
    at: usize,
    what: impl Display,
    limit: impl Display,
    name: &str,
    remedy: &str,
) -> String {
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    let message = format!("{what}, more than the limit of {limit} ({name}): {remedy}");
    located(source, naga::Span::new(at, at), message)
}
