//! The crate's error type: a place in the CUDA source and a message.

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A source that does not compile. Displays as `line:column: message`, or as the message alone if it has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.prefix())]
pub struct Error {
    /// Line of the source, from 1; 0 for errors without a place in it, in options for instance.
    pub line: u32,
    /// Column in characters, from 1; 0 for errors without a place.
    pub column: u32,
    /// The refused construct and the remedy.
    pub message: String,
}

impl Error {
    fn prefix(&self) -> String {
        match (self.line, self.column) {
            (0, _) => String::new(),
            (line, column) => format!("{line}:{column}: "),
        }
    }

    /// Returns the error with its line of the source below, and a caret below the column.
    #[must_use]
    pub fn with_line(&self, source: &str) -> String {
        let Some(index) = self.line.checked_sub(1) else {
            return self.to_string();
        };
        let line = source.lines().nth(index as usize).unwrap_or("");
        // Tabs stay, so that the caret is below its column.
        let indent: String = line
            .chars()
            .take((self.column as usize).saturating_sub(1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        format!("{self}\n{line}\n{indent}^")
    }
}

/// An error at a byte of the source, before lines are counted.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) at: u32,
    pub(crate) message: String,
}

/// The place of errors that have none in the source.
pub(crate) const NO_PLACE: u32 = u32::MAX;

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
    /// Returns the error as one of an option, at no place of the source.
    pub(crate) fn in_option(self, option: &str) -> Self {
        Self {
            at: NO_PLACE,
            message: format!("{option}: {}", self.message),
        }
    }

    pub(crate) fn in_source(self, source: &str) -> Error {
        let (line, column) = match self.at {
            NO_PLACE => (0, 0),
            at => place(source, at),
        };
        Error {
            line,
            column,
            message: self.message,
        }
    }
}
