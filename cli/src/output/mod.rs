//! Outputs of conversions. A file appears under its name only when it is complete, with owner, permissions and time of
//! its input; after an error or a signal nothing of it remains.

mod access;
mod attributes;
mod pending;
mod sparse;
mod unnamed;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::startup::{self, Stream};
use access::Access;
use pending::{PendingFile, folder_of};
use sparse::SparseWriter;

/// The outputs that are written as sparse files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SparseMode {
    Never,
    /// New files.
    NewFiles,
    /// Also standard output, if it is a file.
    Everywhere,
}

/// An open output.
pub struct Output {
    /// Name for messages.
    pub name: String,
    writer: SparseWriter,
    /// `None` for outputs that are written in place: standard output, a device or a pipe.
    unpublished: Option<Unpublished>,
}

/// A file that does not have its final name yet.
struct Unpublished {
    file: PendingFile,
    path: PathBuf,
    force: bool,
}

impl Output {
    /// Opens standard output without a buffer.
    pub fn stdout(holes: SparseMode) -> Result<Self, Failure> {
        let name = "standard output".to_owned();
        let writer = startup::require(Stream::Stdout)
            .and_then(|()| stdout_file())
            .and_then(|file| match holes {
                SparseMode::Everywhere => SparseWriter::with_holes(file),
                SparseMode::Never | SparseMode::NewFiles => Ok(SparseWriter::without_holes(file)),
            });
        Ok(Self {
            name,
            writer: writer.map_err(Failure::stdout)?,
            unpublished: None,
        })
    }

    /// Prepares to write `path`. An existing file is an error without `force`; an input file always is. With
    /// `private`, other users cannot read the file until it gets the permissions of its input.
    pub fn create(
        path: &Path,
        inputs: &[&Path],
        force: bool,
        private: bool,
        holes: SparseMode,
    ) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let fail = |source| Failure::Write {
            output: name.clone(),
            source,
        };
        let path = match path.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                return Err(Failure::DirectoryOutput { output: name });
            }
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(path).map_err(fail)?;
                return Ok(Self {
                    name,
                    writer: SparseWriter::without_holes(file),
                    unpublished: None,
                });
            }
            Ok(_) => {
                // Replaces the target of a symbolic link, not the link.
                let path = path.canonicalize().map_err(fail)?;
                let is_output =
                    |input: &&Path| input.canonicalize().is_ok_and(|input| input == path);
                if inputs.iter().any(is_output) {
                    return Err(Failure::SameFile { output: name });
                }
                if !force {
                    return Err(Failure::Exists { output: name });
                }
                path
            }
            Err(_) => path.to_owned(),
        };
        let access = if private {
            Access::Private
        } else {
            Access::NewFile
        };
        let (file, pending) = PendingFile::create(folder_of(&path), access).map_err(fail)?;
        let writer = match holes {
            SparseMode::Never => SparseWriter::without_holes(file),
            SparseMode::NewFiles | SparseMode::Everywhere => {
                SparseWriter::with_holes(file).map_err(fail)?
            }
        };
        Ok(Self {
            writer,
            unpublished: Some(Unpublished {
                file: pending,
                path,
                force,
            }),
            name,
        })
    }

    /// Gives the complete output its name, and owner, permissions and time of the input.
    pub fn commit(mut self, input: Option<&Metadata>) -> Result<(), Failure> {
        let finished = self.writer.finish();
        let file = self.writer.file();
        let settled = finished.and_then(|()| settle(file));
        let published = settled.and_then(|()| match self.unpublished {
            Some(unpublished) => {
                if let Some(input) = input {
                    attributes::copy(input, file);
                }
                let Unpublished {
                    file: pending,
                    path,
                    force,
                } = unpublished;
                pending.publish(file, &path, force)?;
                // On Windows the rename resets attributes, such as read-only.
                #[cfg(windows)]
                if let Some(input) = input {
                    let _ = file.set_permissions(input.permissions());
                }
                Ok(())
            }
            None => Ok(()),
        });
        let output = self.name;
        published.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Failure::Exists { output },
            _ => Failure::Write { output, source },
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Opens standard output without a buffer.
fn stdout_file() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(owned))
}

/// Reports errors that network file systems delay until a file is closed.
#[cfg(unix)]
fn settle(file: &File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;

    let duplicate = file.try_clone()?.into_raw_fd();
    // SAFETY: `into_raw_fd` gave this descriptor away, so that nothing else closes or uses it.
    if unsafe { libc::close(duplicate) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

/// Other systems report errors with each write.
#[cfg(not(unix))]
fn settle(_file: &File) -> io::Result<()> {
    Ok(())
}

pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}
