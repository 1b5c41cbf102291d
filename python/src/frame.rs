//! Headers of frames.

use pagepress::lz4::Dictionary;
use pagepress::lz4::frame::{FrameEvent, FrameHeader, FrameReader, Step};
use pagepress::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::buffers::Input;
use crate::errors::raise;

/// Most bytes of content for each byte of a block: a match of 255 bytes more for each byte of its length.
const MOST_RATIO: u64 = 255;

/// Reads the header of the first frame; returns it with its end in `bytes`.
fn header(bytes: &[u8], dictionary: Option<&Dictionary>) -> Result<(FrameHeader, usize)> {
    let mut reader = FrameReader::new().with_dictionary(dictionary.cloned());
    let mut at = 0;
    loop {
        match reader.step(bytes.get(at..).unwrap_or_default())? {
            Step::Event {
                event: FrameEvent::Header(header),
                consumed,
            } => return Ok((header, at + consumed)),
            Step::Event { consumed, .. } => at += consumed,
            Step::More { consumed, .. } if consumed > 0 => at += consumed,
            Step::More { needed, .. } => {
                let (at, needed) = (bytes.len() as u64, needed as u64);
                return Err(Error::TruncatedFrame { at, needed });
            }
        }
    }
}

/// Returns the size of the content that the first frame states, if it does. Errors are those of the call that follows.
pub(crate) fn stated_content(bytes: &[u8], dictionary: Option<&Dictionary>) -> Option<u64> {
    header(bytes, dictionary).ok()?.0.content_size
}

/// Returns the bytes to allocate for content of a stated size; `None` if so many compressed bytes cannot have it.
pub(crate) fn allocation(stated: u64, n_compressed: usize) -> Option<usize> {
    let most = (n_compressed as u64).saturating_mul(MOST_RATIO);
    usize::try_from(stated).ok().filter(|_| stated <= most)
}

/// Returns the bytes up to the end of the first frame, skippable frames before it among them. Blocks are passed without decoding.
#[pyfunction]
pub(crate) fn frame_size(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
    let input = Input::new(data)?;
    let bytes = input.unchanging();
    end_of_frame(&bytes).map_err(|error| raise(py, &error))
}

fn end_of_frame(bytes: &[u8]) -> Result<usize> {
    let mut reader = FrameReader::new();
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match reader.step(rest)? {
            Step::Event {
                event: FrameEvent::End { .. },
                consumed,
            } => return Ok(at + consumed),
            Step::Event { consumed, .. } => at += consumed,
            Step::More { consumed, .. } if consumed > 0 => at += consumed,
            Step::More { needed, .. } => {
                // The end of a legacy frame is that of the input; inside any other one, that is an error.
                reader.finish(rest)?;
                let (at, needed) = (bytes.len() as u64, needed as u64);
                return match rest.is_empty() && !bytes.is_empty() {
                    true => Ok(bytes.len()),
                    false => Err(Error::TruncatedFrame { at, needed }),
                };
            }
        }
    }
}

/// Returns the fields of the first frame's header.
#[pyfunction]
pub(crate) fn frame_info<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let input = Input::new(data)?;
    let bytes = input.unchanging();
    let found = header(&bytes, None).map_err(|error| raise(py, &error))?;
    let (header, end) = found;
    let info = PyDict::new(py);
    info.set_item("block_size", header.block_max_size)?;
    info.set_item("block_linked", header.linked)?;
    info.set_item("content_checksum", header.content_checksum)?;
    info.set_item("block_checksums", header.block_checksums)?;
    info.set_item("content_size", header.content_size)?;
    info.set_item("legacy", header.legacy)?;
    info.set_item("header_end", end)?;
    Ok(info)
}
