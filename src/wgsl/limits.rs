//! Limits on sources. Parsers, validators and the compilers of drivers walk a source by recursion and inline its calls,
//! so that a small text could overflow the stack or take hours. The limits are far beyond what kernels need: a browser
//! takes less of most (127 nested statements, 512 operators in an expression).

/// Bytes of a source.
pub(crate) const MAX_SOURCE_BYTES: usize = 1 << 20;
/// Tokens of a source, comments left out.
pub(crate) const MAX_TOKENS: usize = 1 << 17;
/// Tokens of a function, and of all that stands outside of functions: naga takes a time that grows with the square of
/// their expressions.
pub(crate) const MAX_FUNCTION_TOKENS: usize = 1 << 15;
/// Brackets, template lists and `else if` inside each other.
pub(crate) const MAX_NESTING: usize = 160;
/// Operators, calls and accesses that need each other's results: the height of an expression's tree.
pub(crate) const MAX_OPERATORS: usize = 1024;
/// Declarations of which each uses the next: functions that call each other, structures inside structures.
pub(crate) const MAX_DEPTH: usize = 512;
/// Structures and template lists inside each other, where a type has the types that it names inside.
pub(crate) const MAX_TYPE_NESTING: usize = 64;
/// Tokens of a declaration with those of the functions it calls and the types it names, once a use.
pub(crate) const MAX_INLINED_TOKENS: u64 = 1 << 20;
/// Declarations of a source.
pub(crate) const MAX_DECLARATIONS: usize = 1 << 13;
/// Variables outside of functions.
pub(crate) const MAX_VARIABLES: usize = 1024;
/// Members of a structure.
pub(crate) const MAX_MEMBERS: usize = 4096;
/// Elements of a value that is written `T()`.
pub(crate) const MAX_ZERO_ELEMENTS: u64 = 1 << 16;
/// From this much nesting, and these many operators or declarations in a chain, a source is compiled on a thread that
/// has room for them.
pub(super) const DEEP: [usize; 3] = [16, 32, 32];
