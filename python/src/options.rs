//! Names of levels and engines, and options of frames.

use pagepress::batch::BackendRequest;
use pagepress::lz4::Level;
use pagepress::lz4::frame::FrameOptions;
use pyo3::prelude::*;

use crate::dictionary::Dictionary;
use crate::errors::argument;

/// Returns the level of a name; `auto` is that of the engine.
pub(crate) fn level(py: Python<'_>, name: &str, auto: Level) -> PyResult<Level> {
    match name {
        "auto" => Ok(auto),
        "fast" => Ok(Level::Fast),
        "high" => Ok(Level::High),
        "sequential" => Ok(Level::Sequential),
        _ => Err(argument(
            py,
            &format!(
                "invalid level: {name:?}; give \"auto\", \"fast\", \"high\" or \"sequential\""
            ),
        )),
    }
}

/// Returns the engine of a name.
pub(crate) fn backend(py: Python<'_>, name: &str) -> PyResult<BackendRequest> {
    match name {
        "auto" => Ok(BackendRequest::Auto),
        "cpu" => Ok(BackendRequest::Cpu),
        "wgpu" => Ok(BackendRequest::Wgpu),
        "cuda" => Ok(BackendRequest::Cuda),
        _ => Err(argument(
            py,
            &format!("invalid engine: {name:?}; give \"auto\", \"cpu\", \"wgpu\" or \"cuda\""),
        )),
    }
}

/// The keyword arguments of calls that write frames.
pub(crate) struct Frame<'a> {
    pub(crate) level: &'a str,
    pub(crate) block_size: u32,
    pub(crate) content_checksum: bool,
    pub(crate) block_checksums: bool,
    pub(crate) index: bool,
    pub(crate) content_size: Option<u64>,
    pub(crate) dictionary: Option<&'a Dictionary>,
}

impl Frame<'_> {
    /// Returns the options of the crate.
    pub(crate) fn options(&self, py: Python<'_>, auto: Level) -> PyResult<FrameOptions> {
        Ok(FrameOptions {
            block_size: self.block_size,
            level: level(py, self.level, auto)?,
            content_checksum: self.content_checksum,
            block_checksums: self.block_checksums,
            content_size: self.content_size,
            index: self.index,
            dictionary: self.dictionary.map(|dictionary| dictionary.0.clone()),
        })
    }
}
