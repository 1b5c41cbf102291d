//! A file that gets its name only when it is complete. Where the system supports it, the file has no name until then,
//! so nothing remains even after SIGKILL; elsewhere it has a temporary name in the folder of the output.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, TempPath};

use super::access::Access;
use super::unnamed;
use crate::signals;

/// The temporary name in use, for the signal handler.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The file of an output, before it has the output's name.
#[derive(Debug)]
pub struct PendingFile {
    /// `None` if the file has no name.
    name: Option<TempPath>,
}

impl PendingFile {
    /// Opens a file that can be given a name in `folder`.
    pub fn create(folder: &Path, access: Access) -> io::Result<(File, Self)> {
        if let Ok(file) = unnamed::open(folder, access) {
            return Ok((file, Self { name: None }));
        }
        Self::create_named(folder, access)
    }

    /// Opens a file with a temporary name in `folder`.
    fn create_named(folder: &Path, access: Access) -> io::Result<(File, Self)> {
        #[cfg_attr(not(unix), allow(unused_mut, reason = "only Unix has modes"))]
        let mut builder = temporary_name();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(access.mode()));
        #[cfg(not(unix))]
        let _ = access;
        signals::clean_up_before_ending(abandon)?;
        let mut temporary = temporary();
        let (file, name) = builder.tempfile_in(folder)?.into_parts();
        *temporary = Some(name.to_path_buf());
        Ok((file, Self { name: Some(name) }))
    }

    /// Renames `file`, which was opened with this, to `path`. With `force` it replaces an existing file atomically;
    /// without, an existing file is an error of kind `AlreadyExists`.
    pub fn publish(mut self, file: &File, path: &Path, force: bool) -> io::Result<()> {
        let mut temporary = temporary();
        let published = match self.name.take() {
            Some(name) if force => name.persist(path).map_err(|error| error.error),
            Some(name) => name.persist_noclobber(path).map_err(|error| error.error),
            None => publish_unnamed(file, path, force, &mut temporary),
        };
        *temporary = None;
        published
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            let mut temporary = temporary();
            drop(name);
            *temporary = None;
        }
    }
}

/// Names an unnamed file. No system call replaces a name by such a file, so with `force` it first gets a temporary
/// name.
fn publish_unnamed(
    file: &File,
    path: &Path,
    force: bool,
    temporary: &mut Option<PathBuf>,
) -> io::Result<()> {
    match unnamed::link(file, path) {
        Err(error) if force && error.kind() == io::ErrorKind::AlreadyExists => {}
        linked => return linked,
    }
    signals::clean_up_before_ending(abandon)?;
    let named = temporary_name().make_in(folder_of(path), |name| {
        *temporary = Some(name.to_owned());
        unnamed::link(file, name)
    })?;
    let name = named.into_temp_path();
    name.persist(path).map_err(|error| error.error)
}

/// Returns the folder of `path`.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary_name() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".pagepress-").suffix(".tmp");
    builder
}

fn temporary() -> MutexGuard<'static, Option<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the file with a temporary name and prevents new ones, because the process is about to end.
fn abandon() {
    let mut temporary = temporary();
    if let Some(path) = temporary.take() {
        // The process ends in either case.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(temporary);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use std::fs;
    use std::io::{self, Write};

    use super::{Access, PendingFile};

    /// Both kinds of files, on systems that support both.
    type Create = fn(&std::path::Path, Access) -> io::Result<(fs::File, PendingFile)>;
    const KINDS: [Create; 2] = [PendingFile::create, PendingFile::create_named];

    #[test]
    fn a_name_appears_with_the_whole_file_and_replaces_another_only_by_force() {
        for create in KINDS {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("out");
            for (content, force, done) in [
                ("old", false, true),
                ("no", false, false),
                ("new", true, true),
            ] {
                let (mut file, pending) = create(folder.path(), Access::Private).expect("opens");
                file.write_all(content.as_bytes()).expect("writes");
                let published = pending.publish(&file, &path, force);
                match published {
                    Ok(()) => assert!(done, "{content}"),
                    Err(error) => {
                        assert_eq!((error.kind(), done), (io::ErrorKind::AlreadyExists, false))
                    }
                }
                assert_eq!(folder.path().read_dir().expect("lists").count(), 1);
            }
            assert_eq!(fs::read(&path).expect("reads"), b"new");
            drop(create(folder.path(), Access::NewFile).expect("opens"));
            assert_eq!(folder.path().read_dir().expect("lists").count(), 1);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_private_from_the_start() {
        use std::os::unix::fs::MetadataExt;

        for create in KINDS {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let (file, _pending) = create(folder.path(), Access::Private).expect("opens");
            assert_eq!(file.metadata().expect("is open").mode() & 0o7777, 0o600);
        }
    }
}
