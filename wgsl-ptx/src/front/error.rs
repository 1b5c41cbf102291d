//! The error of a source.

/// The reason why a source is refused.
///
/// Its text is `line:column: reason`, with the line of the source and a mark below it; the reason alone where it has no
/// place. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub(super) String);

impl From<SourceError> for String {
    fn from(error: SourceError) -> Self {
        error.0
    }
}
