//! Unnamed files (O_TMPFILE), which Linux supports on most file systems.

#[cfg(target_os = "linux")]
pub use linux::{link, open};

#[cfg(not(target_os = "linux"))]
pub use other::{link, open};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat};

    use crate::output::access::Access;

    /// Opens an unnamed file, if the file system supports it and `link` can name it later.
    pub fn open(folder: &Path, access: Access) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(access.mode());
        let file = File::from(rustix::fs::open(folder, flags, mode)?);
        source(&file).metadata()?;
        Ok(file)
    }

    /// Names `file` as `path`, which must not exist.
    pub fn link(file: &File, path: &Path) -> io::Result<()> {
        linkat(CWD, source(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
        Ok(())
    }

    /// Returns the path by which an unprivileged process can link an open file.
    fn source(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use crate::output::access::Access;

    /// Fails: this system has no unnamed files.
    pub fn open(_folder: &Path, _access: Access) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fails: this system has no unnamed files.
    pub fn link(_file: &File, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
