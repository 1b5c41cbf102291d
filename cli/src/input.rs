//! Where a conversion reads from.

use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use crate::failure::Failure;

/// An input that is open.
pub struct Input {
    /// The name to speak of it by.
    pub name: String,
    /// Of a regular file.
    pub metadata: Option<Metadata>,
    pub reader: Box<dyn Read + Send>,
}

/// Whether a path on the command line stands for standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Input {
    /// Opens `path`, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if is_dash(path) {
            let name = "standard input".to_owned();
            return Ok(Self {
                name,
                metadata: None,
                reader: Box::new(io::stdin()),
            });
        }
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = opened.map_err(|source| Failure::Open {
            input: name.clone(),
            source,
        })?;
        if metadata.is_dir() {
            return Err(Failure::Directory { input: name });
        }
        let metadata = metadata.is_file().then_some(metadata);
        Ok(Self {
            name,
            metadata,
            reader: Box::new(file),
        })
    }

    /// Length in bytes, if it is known.
    pub fn length(&self) -> Option<u64> {
        self.metadata.as_ref().map(Metadata::len)
    }
}

pub fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}
