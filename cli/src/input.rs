//! Inputs of conversions.

use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read, Seek};
use std::path::Path;

use crate::failure::Failure;
use crate::startup::{self, Stream};

/// An input that is open.
pub struct Input {
    /// The name to speak of it by.
    pub name: String,
    /// Attributes of the regular file that the user named; `None` for standard input.
    pub metadata: Option<Metadata>,
    pub reader: WholeFile,
}

/// True if `path` on the command line stands for standard input or output.
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
        let opened = opened.and_then(|file| Ok((file.metadata()?, WholeFile::new(file)?)));
        let (metadata, reader) = opened.map_err(|source| Failure::Open {
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
            reader,
        })
    }

    /// Length in bytes, if it is known.
    pub fn length(&self) -> Option<u64> {
        self.metadata.as_ref().map(Metadata::len)
    }
}

/// Reads a file to its end. A regular file that ends before the length it had when it was opened, since it became
/// shorter meanwhile, is an error of kind `UnexpectedEof`.
pub struct WholeFile {
    file: File,
    /// Length when opened; `None` if this is no regular file.
    length: Option<u64>,
    position: u64,
}

impl WholeFile {
    fn new(mut file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let length = metadata.is_file().then_some(metadata.len());
        let position = match length {
            Some(_) => file.stream_position()?,
            None => 0,
        };
        Ok(Self {
            file,
            length,
            position,
        })
    }

    /// The file, to be read at any place.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Fails if the file became shorter than it was. Its length must have changed, too: some files of the system are
    /// said to be longer than what they contain.
    fn check_end(&self) -> io::Result<()> {
        let Some(length) = self.length.filter(|length| self.position < *length) else {
            return Ok(());
        };
        if self.file.metadata()?.len() >= length {
            return Ok(());
        }
        let position = self.position;
        Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!(
                "the file became shorter while it was read: {position} of {length} bytes were there"
            ),
        ))
    }
}

impl Read for WholeFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.file.read(buffer)?;
        self.position += n_read as u64;
        if n_read == 0 && !buffer.is_empty() {
            self.check_end()?;
        }
        Ok(n_read)
    }
}

/// Standard input without a buffer.
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
