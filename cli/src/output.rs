//! Where a conversion writes to. A file appears under its name only when it is whole: until then it is a temporary
//! file beside it, which goes away on any failure and on signals.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Exit code after a signal, as a shell has it for an interrupt.
const INTERRUPTED: i32 = 130;

/// The temporary file of the output being written.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// An output that is open.
pub struct Output {
    /// The name to speak of it by.
    pub name: String,
    target: Target,
}

enum Target {
    Stdout(io::Stdout),
    /// A device or pipe that exists.
    Special(File),
    Temporary {
        file: NamedTempFile,
        path: PathBuf,
        force: bool,
    },
}

impl Output {
    pub fn stdout() -> Self {
        Self {
            name: "standard output".to_owned(),
            target: Target::Stdout(io::stdout()),
        }
    }

    /// Prepares to write `path`. An existing file is refused without `force`, the input's in any case.
    pub fn create(path: &Path, input: &Path, force: bool) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let fail = |source| Failure::Write {
            output: name.clone(),
            source,
        };
        let target = match path.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                return Err(Failure::DirectoryOutput { output: name });
            }
            Ok(metadata) if !metadata.is_file() => {
                Target::Special(OpenOptions::new().write(true).open(path).map_err(fail)?)
            }
            Ok(_) => {
                // What a link names is replaced, not the link.
                let path = path.canonicalize().map_err(fail)?;
                if input.canonicalize().is_ok_and(|input| input == path) {
                    return Err(Failure::SameFile { output: name });
                }
                if !force {
                    return Err(Failure::Exists { output: name });
                }
                temporary(path, force).map_err(fail)?
            }
            Err(_) => temporary(path.to_owned(), force).map_err(fail)?,
        };
        Ok(Self { name, target })
    }

    /// Puts the whole output under its name, with the permissions and time of the input.
    pub fn commit(self, input: Option<&Metadata>) -> Result<(), Failure> {
        let Self { name, target } = self;
        let Target::Temporary { file, path, force } = target else {
            return Ok(());
        };
        let mut pending = pending();
        let persisted = if force {
            file.persist(&path).map_err(|error| error.error)
        } else {
            file.persist_noclobber(&path).map_err(|error| error.error)
        };
        *pending = None;
        let file = persisted.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Failure::Exists {
                output: name.clone(),
            },
            _ => Failure::Write {
                output: name.clone(),
                source,
            },
        })?;
        if let Some(metadata) = input {
            // The content is safe; a file system that keeps no times or modes is no failure.
            let _ = file.set_permissions(metadata.permissions());
            let _ = metadata.modified().and_then(|time| file.set_modified(time));
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stdout(stdout) => stdout.write(bytes),
            Target::Special(file) => file.write(bytes),
            Target::Temporary { file, .. } => file.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stdout(stdout) => stdout.flush(),
            Target::Special(file) => file.flush(),
            Target::Temporary { file, .. } => file.as_file_mut().flush(),
        }
    }
}

/// A temporary file beside `path`, with the permissions of a new file.
fn temporary(path: PathBuf, force: bool) -> io::Result<Target> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pagepress-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut pending = pending();
    let file = builder.tempfile_in(folder)?;
    *pending = Some(file.path().to_owned());
    Ok(Target::Temporary { file, path, force })
}

fn pending() -> MutexGuard<'static, Option<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has signals that end the program remove the temporary file first.
pub fn remove_temporary_files_on_signals() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if let Some(path) = pending().take() {
            // The program ends either way.
            let _ = std::fs::remove_file(path);
        }
        std::process::exit(INTERRUPTED);
    })
}

pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}
