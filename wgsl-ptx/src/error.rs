//! The crate's error type: fields for programs, a message for people, and a stable code.

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a compilation or of a built module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A kernel does not compile.
    #[error("kernel {kernel} does not compile: {message}")]
    KernelCompile {
        /// Name of the entry point.
        kernel: String,
        /// The reason, as `line:column: reason` with the line of the source below it where the reason has a place.
        message: String,
    },
    /// An argument has a value outside its domain.
    #[error("invalid {name}: {value}; {expected}")]
    InvalidArgument {
        /// The argument, by its public name.
        name: &'static str,
        /// The value given.
        value: String,
        /// The domain or remedy.
        expected: &'static str,
    },
}

impl Error {
    /// Returns the stable code of the variant. Codes never change meaning.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::KernelCompile { .. } => "KERNEL_COMPILE",
            Self::InvalidArgument { .. } => "INVALID_ARGUMENT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn texts_have_all_fields() {
        let failed = Error::KernelCompile {
            kernel: "emit".into(),
            message: "1:1: no".into(),
        };
        assert_eq!(failed.to_string(), "kernel emit does not compile: 1:1: no");
        assert_eq!(failed.code(), "KERNEL_COMPILE");
        let invalid = Error::InvalidArgument {
            name: "sm",
            value: "1".into(),
            expected: "give more",
        };
        assert_eq!(invalid.to_string(), "invalid sm: 1; give more");
        assert_eq!(invalid.code(), "INVALID_ARGUMENT");
    }
}
