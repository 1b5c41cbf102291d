//! Checks untrusted WGSL, then parses and validates it with naga, with errors that show line and column.
//!
//! Parsers, validators and driver compilers recurse over a source and inline its calls: a small text can overflow their stack
//! or take hours. [`check`] bounds both in one pass over the tokens. [`compile_wgsl`](crate::compile_wgsl) calls it; programs
//! that give WGSL to other compilers can do the same, and run these on the stack that the source needs:
//!
//! ```
//! use wgsl_ptx::{front, naga};
//!
//! let wgsl = "@compute @workgroup_size(64) fn main() {}";
//! let module = front::check(wgsl)?.run(|| naga::front::wgsl::parse_str(wgsl))?;
//! assert_eq!(module.unwrap().entry_points[0].workgroup_size, [64, 1, 1]);
//!
//! let error = front::read("fn main() {\n    oops();\n}").unwrap_err();
//! assert!(error.to_string().starts_with("2:5: "));
//! # Ok::<(), front::SourceError>(())
//! ```

mod check;
mod declarations;
mod error;
mod limits;
mod measure;
mod sizes;
mod stack;
mod tokens;

use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{Module, Span};

pub use error::SourceError;
pub use stack::CompileStack;

/// Checks that a source is within the limits of compilers, and returns the stack that its compilation needs.
///
/// The documentation of [`compile_wgsl`](crate::compile_wgsl) lists the limits.
///
/// # Errors
/// The exceeded limit with its name and value.
pub fn check(wgsl: &str) -> Result<CompileStack, SourceError> {
    check::check(wgsl).map_err(SourceError)
}

/// Checks, parses and validates a source, which may use all capabilities that naga has.
///
/// # Errors
/// An exceeded limit, or naga's message.
pub fn read(wgsl: &str) -> Result<(Module, ModuleInfo), SourceError> {
    check(wgsl)?.run(|| parse(wgsl))?.map_err(SourceError)
}

/// Parses and validates a source that passed [`check`]. Run it on the [`CompileStack`] of that check.
///
/// # Errors
/// A message with line and column.
pub(crate) fn parse(wgsl: &str) -> Result<(Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| {
        let span = e.labels().next().map_or(Span::UNDEFINED, |(span, _)| span);
        located(wgsl, span, e.message())
    })?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|e| {
            let span = match e.as_inner() {
                ValidationError::Layouter(error) => module.types.get_span(error.ty),
                _ => e.spans().next().map_or(Span::UNDEFINED, |(span, _)| *span),
            };
            located(wgsl, span, with_causes(e.as_inner()))
        })?;
    Ok((module, info))
}

/// Joins an error message and those of its causes.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Characters of a line shown on each side of the error position.
const MAX_SHOWN: usize = 100;
/// Maximum characters of a compiler's message: it may contain a name as long as the source.
const MAX_WORDS: usize = 400;

/// Formats `line:column: message`, with the line and a mark below it; the message alone without a position. Columns count
/// characters from 1.
pub(crate) fn located(wgsl: &str, span: Span, message: impl std::fmt::Display) -> String {
    let mut message = message.to_string();
    if let Some((at, _)) = message.char_indices().nth(MAX_WORDS) {
        message.truncate(at);
        message.push('…');
    }
    let place = span
        .to_range()
        .and_then(|range| Some((wgsl.get(..range.start)?, wgsl.get(range.start..)?)));
    let Some((before, behind)) = place else {
        return message;
    };
    let line = before.matches('\n').count() + 1;
    let start = before.rsplit('\n').next().unwrap_or_default();
    let column = start.chars().count() + 1;
    // Show the end of a long line before the position, and the start of the text behind it.
    let shown = column - 1 - (column - 1).min(MAX_SHOWN);
    let start = start
        .char_indices()
        .nth(shown)
        .map_or("", |(at, _)| &start[at..]);
    let rest = behind.lines().next().unwrap_or_default();
    let rest = rest
        .char_indices()
        .nth(MAX_SHOWN)
        .map_or(rest, |(at, _)| &rest[..at]);
    // Tabs have the same width in both lines.
    let indent: String = start
        .chars()
        .map(|c| if c == '\t' { c } else { ' ' })
        .collect();
    format!("{line}:{column}: {message}\n{start}{rest}\n{indent}^")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_characters() {
        let wgsl = "// Größe\n\tlet é = x;\n";
        let at = wgsl.find('x').unwrap_or_default() as u32;
        let span = Span::new(at, at + 1);
        assert_eq!(
            located(wgsl, span, "no x"),
            "2:10: no x\n\tlet é = x;\n\t        ^"
        );
        assert_eq!(located(wgsl, Span::UNDEFINED, "no x"), "no x");
        assert_eq!(located("x", Span::new(7, 8), "no x"), "no x");
        assert_eq!(located("", Span::new(0, 0), "no x"), "no x");
    }

    #[test]
    fn what_is_wrong_is_marked() {
        let Err(message) = parse("fn a() {\n    b();\n}") else {
            unreachable!("there is no b");
        };
        assert!(
            message.starts_with("2:5: ") && message.ends_with("    b();\n    ^"),
            "{message}"
        );
    }
}
