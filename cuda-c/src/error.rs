//! The crate's error type: a place in the CUDA source and a message.

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A source that does not compile. Displays as `line:column: message`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct Error {
    /// Line of the source, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The refused construct and the remedy.
    pub message: String,
}

/// An error at a byte of the source, before lines are counted.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) at: u32,
    pub(crate) message: String,
}

pub(crate) type Outcome<T> = std::result::Result<T, Fault>;

/// Returns an error at byte `at`.
pub(crate) fn fault<T>(at: u32, message: impl Into<String>) -> Outcome<T> {
    Err(Fault {
        at,
        message: message.into(),
    })
}

/// Returns line and column of a byte, both from 1.
pub(crate) fn place(source: &str, at: u32) -> (u32, u32) {
    let mut end = (at as usize).min(source.len());
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let before = &source[..end];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line as u32, before[start..].chars().count() as u32 + 1)
}

impl Fault {
    pub(crate) fn in_source(self, source: &str) -> Error {
        let (line, column) = place(source, self.at);
        Error {
            line,
            column,
            message: self.message,
        }
    }
}
