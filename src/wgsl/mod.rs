//! Reading WGSL with naga, within limits, and errors that say where in it.
//!
//! Every source goes through [`check`] before any compiler sees it, our own or that of wgpu and the driver.

mod check;
mod declarations;
mod library;
mod limits;
mod room;
mod sizes;
mod tokens;

use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{Module, Span};

pub(crate) use check::check;
pub(crate) use library::function;

/// The module of a source, checked.
///
/// # Errors
/// What is wrong, with line and column.
#[cfg(feature = "wgpu")]
pub(crate) fn read(wgsl: &str) -> Result<(Module, ModuleInfo), String> {
    check(wgsl)?.run(|| parse(wgsl))?
}

/// The module of a source that [`check`] let pass; for a deep one on a thread with [room](room::Room).
///
/// # Errors
/// What is wrong, with line and column.
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

/// An error message with those of its causes.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Characters of a line that a message shows, on each side of its place.
const MAX_SHOWN: usize = 100;
/// Characters of a compiler's words that a message has: they may hold a name as long as the source.
const MAX_WORDS: usize = 400;

/// `line:column: message`, with the line and a mark below it; the message alone where there is no place. Columns count
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
    // The end of a long line, and the beginning of what is behind the place.
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
    // Tabs are as wide in both lines.
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
