//! Inputs of conversions.

use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Seek};
use std::path::Path;

use crate::failure::Failure;
use crate::startup::{self, Stream};

/// An open input.
pub struct Input {
    /// Name for messages.
    pub name: String,
    /// Metadata of the regular file that the user named; `None` for standard input.
    pub metadata: Option<Metadata>,
    pub file: File,
    /// `None` if the input is not a regular file.
    pub opened: Option<Opened>,
}

/// Returns true if `path` on the command line stands for standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Input {
    /// Opens `path`, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let (name, opened) = if is_dash(path) {
            let opened = startup::require(Stream::Stdin).and_then(|()| stdin_file());
            ("standard input".to_owned(), opened)
        } else {
            (path.display().to_string(), File::open(path))
        };
        let with_length = |file: File| {
            let metadata = file.metadata()?;
            Ok((Opened::new(&file, &metadata)?, metadata, file))
        };
        let (opened, metadata, file) =
            opened
                .and_then(with_length)
                .map_err(|source| Failure::Open {
                    input: name.clone(),
                    source,
                })?;
        if metadata.is_dir() {
            return Err(Failure::Directory { input: name });
        }
        let named_file = metadata.is_file() && !is_dash(path);
        Ok(Self {
            name,
            metadata: named_file.then_some(metadata),
            file,
            opened,
        })
    }

    /// Returns the length in bytes, if known.
    pub fn length(&self) -> Option<u64> {
        self.metadata.as_ref().map(Metadata::len)
    }
}

/// A regular file that is being read, with its length when it was opened.
pub struct Opened {
    file: File,
    length: u64,
    start: u64,
}

impl Opened {
    /// Returns `None` if `file` is not a regular file.
    fn new(file: &File, metadata: &Metadata) -> io::Result<Option<Self>> {
        if !metadata.is_file() {
            return Ok(None);
        }
        let mut file = file.try_clone()?;
        Ok(Some(Self {
            start: file.stream_position()?,
            length: metadata.len(),
            file,
        }))
    }

    /// Fails with `UnexpectedEof` if the file was truncated before all of it was read. `n_read` is the number of bytes
    /// read, if known. A file that never had its stated length, such as some files of /proc, is not an error.
    pub fn check_length(&self, n_read: Option<u64>) -> io::Result<()> {
        let is_read = n_read.is_some_and(|n_read| self.start.saturating_add(n_read) >= self.length);
        let (now, before) = (self.file.metadata()?.len(), self.length);
        if is_read || now >= before {
            return Ok(());
        }
        let message =
            format!("the file was truncated while it was read: {now} of {before} bytes are left");
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, message))
    }
}

/// Opens standard input without a buffer.
fn stdin_file() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?;
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned()?;
    Ok(File::from(owned))
}

pub fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}
