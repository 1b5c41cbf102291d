//! Permissions of a file while it is written.

/// Read permissions of a file before it has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only the owner.
    Private,
    /// Everyone whom the umask allows to read new files.
    NewFile,
}

impl Access {
    /// Returns the permissions to open with.
    #[cfg(unix)]
    pub const fn mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::NewFile => 0o666,
        }
    }
}
