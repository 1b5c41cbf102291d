//! Blocks without a frame, one by one and in batches on all cores.

use pagepress::lz4::formats::{self, Format, measure_block};
use pagepress::lz4::{self, Level};
use pagepress::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::buffers::{Input, NewBytes, Output, new_bytes};
use crate::dictionary::Dictionary;
use crate::errors::{argument, raise};
use crate::frame::allocation;
use crate::options;
use crate::threads::run;

/// Bytes of the size before a block.
const PREFIX_BYTES: usize = 4;

/// Form and level of new blocks.
#[derive(Clone, Copy)]
struct Form<'a> {
    level: Level,
    size_prefix: bool,
    dictionary: Option<&'a lz4::Dictionary>,
}

impl Form<'_> {
    fn compress(&self, content: &[u8]) -> Result<Vec<u8>> {
        match self.dictionary {
            None if self.size_prefix => {
                formats::compress(content, Format::SizePrefixed, self.level)
            }
            None => formats::compress(content, Format::Block, self.level),
            Some(dictionary) => {
                let block = dictionary.compress_block(content, self.level)?;
                if !self.size_prefix {
                    return Ok(block);
                }
                let mut prefixed = (content.len() as u32).to_le_bytes().to_vec();
                prefixed.extend_from_slice(&block);
                Ok(prefixed)
            }
        }
    }
}

/// Splits a size-prefixed block.
fn split(bytes: &[u8]) -> Result<(u32, &[u8])> {
    match bytes.split_first_chunk::<PREFIX_BYTES>() {
        Some((size, block)) => Ok((u32::from_le_bytes(*size), block)),
        None => Err(Error::TruncatedFrame {
            at: bytes.len() as u64,
            needed: (PREFIX_BYTES - bytes.len()) as u64,
        }),
    }
}

/// Returns block and size of the content, which has at most `size` bytes or, with a prefix, those that it states.
fn measured<'a>(
    bytes: &'a [u8],
    size_prefix: bool,
    size: Option<u64>,
    dictionary: Option<&lz4::Dictionary>,
) -> Result<(&'a [u8], usize)> {
    let fits = |n_bytes: u64, block: &[u8]| {
        let limit = size.unwrap_or(u64::MAX);
        match allocation(n_bytes, block.len()) {
            _ if n_bytes > limit => Err(Error::OutputLimit { limit }),
            Some(n_bytes) => Ok(n_bytes),
            // The block is shorter than content of that size: decoding says why.
            None => {
                let actual = measure_block(block).map_err(corrupt)?;
                Err(Error::ContentSizeMismatch {
                    stored: n_bytes,
                    actual,
                })
            }
        }
    };
    if size_prefix {
        let (stored, block) = split(bytes)?;
        return Ok((block, fits(stored.into(), block)?));
    }
    match (dictionary, size) {
        // Only the decoder knows how far matches reach into the dictionary.
        (Some(_), Some(n_bytes)) => Ok((bytes, fits(n_bytes, bytes)?)),
        _ => Ok((bytes, fits(measure_block(bytes).map_err(corrupt)?, bytes)?)),
    }
}

fn corrupt(source: lz4::BlockError) -> Error {
    Error::CorruptPage { page: 0, source }
}

fn decompress(block: &[u8], dictionary: Option<&lz4::Dictionary>, out: &mut [u8]) -> Result<()> {
    let decompressed = match dictionary {
        Some(dictionary) => dictionary.decompress_block(block, out),
        None => lz4::decompress_block(block, out),
    };
    decompressed.map_err(corrupt)
}

/// Compresses one block.
#[pyfunction]
#[pyo3(signature = (data, *, level="auto", size_prefix=false, dictionary=None))]
pub(crate) fn compress_block<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    level: &str,
    size_prefix: bool,
    dictionary: Option<&Dictionary>,
) -> PyResult<Bound<'py, PyBytes>> {
    let form = Form {
        level: options::level(py, level, Level::Sequential)?,
        size_prefix,
        dictionary: dictionary.map(|dictionary| &dictionary.0),
    };
    let input = Input::new(data)?;
    let content = input.bytes();
    let block = run(py, || form.compress(content)).map_err(|error| raise(py, &error))?;
    Ok(PyBytes::new(py, &block))
}

/// Decompresses one block.
#[pyfunction]
#[pyo3(signature = (data, *, size=None, size_prefix=false, dictionary=None, into=None))]
pub(crate) fn decompress_block<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    size: Option<u64>,
    size_prefix: bool,
    dictionary: Option<&Dictionary>,
    into: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let input = Input::new(data)?;
    let bytes = input.unchanging();
    let dictionary = dictionary.map(|dictionary| &dictionary.0);
    let found = run(py, || measured(&bytes, size_prefix, size, dictionary));
    let (block, n_bytes) = found.map_err(|error| raise(py, &error))?;
    let Some(into) = into else {
        let filled = new_bytes(py, n_bytes, |out| decompress(block, dictionary, out))?;
        return Ok(filled.map_err(|error| raise(py, &error))?.into_any());
    };
    let mut output = Output::new(into)?;
    Output::check_apart(
        py,
        std::slice::from_ref(&output),
        std::slice::from_ref(&input),
    )?;
    let out = output.bytes();
    let actual = out.len() as u64;
    let needed = n_bytes as u64;
    let room = out.get_mut(..n_bytes);
    let room = room.ok_or_else(|| raise(py, &Error::OutputTooSmall { needed, actual }))?;
    let done = run(py, || decompress(block, dictionary, room));
    done.map_err(|error| raise(py, &error))?;
    Ok(n_bytes.into_pyobject(py)?.into_any())
}

/// Compresses many blocks on all cores.
#[pyfunction]
#[pyo3(signature = (chunks, *, level="auto", size_prefix=false))]
pub(crate) fn compress_blocks<'py>(
    py: Python<'py>,
    chunks: Vec<Bound<'py, PyAny>>,
    level: &str,
    size_prefix: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let form = Form {
        level: options::level(py, level, Level::Sequential)?,
        size_prefix,
        dictionary: None,
    };
    let inputs: Vec<Input> = chunks.iter().map(Input::new).collect::<PyResult<_>>()?;
    let contents: Vec<&[u8]> = inputs.iter().map(Input::bytes).collect();
    let compress = || {
        contents
            .par_iter()
            .map(|content| form.compress(content))
            .collect()
    };
    let blocks: Result<Vec<Vec<u8>>> = run(py, compress);
    let blocks = blocks.map_err(|error| raise(py, &error))?;
    Ok(blocks.iter().map(|block| PyBytes::new(py, block)).collect())
}

/// Decompresses many blocks on all cores, to the given buffers or to new objects.
#[pyfunction]
#[pyo3(signature = (blocks, *, sizes=None, size_prefix=false, into=None))]
pub(crate) fn decompress_blocks<'py>(
    py: Python<'py>,
    blocks: Vec<Bound<'py, PyAny>>,
    sizes: Option<Vec<u64>>,
    size_prefix: bool,
    into: Option<Vec<Bound<'py, PyAny>>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let counts = [sizes.as_ref().map(Vec::len), into.as_ref().map(Vec::len)];
    if counts.into_iter().flatten().any(|n| n != blocks.len()) {
        let message = format!(
            "sizes and into need one element for each of {} blocks",
            blocks.len()
        );
        return Err(argument(py, &message));
    }
    let inputs: Vec<Input> = blocks.iter().map(Input::new).collect::<PyResult<_>>()?;
    let bytes: Vec<_> = inputs.iter().map(Input::unchanging).collect();
    let size = |i: usize| sizes.as_ref().and_then(|sizes| sizes.get(i).copied());
    let measure = || {
        let blocks = bytes.par_iter().enumerate();
        let measured = blocks.map(|(i, block)| measured(block, size_prefix, size(i), None));
        measured.collect::<Result<Vec<_>>>()
    };
    let found = run(py, measure).map_err(|error| raise(py, &error))?;
    let Some(into) = into else {
        let new = |(_, n_bytes): &(&[u8], usize)| NewBytes::new(py, *n_bytes);
        let mut contents: Vec<_> = found.iter().map(new).collect::<PyResult<_>>()?;
        decompress_all(
            py,
            &found,
            contents.iter_mut().map(NewBytes::memory).collect(),
        )?;
        let finished = contents.into_iter().map(|bytes| bytes.finish().into_any());
        return Ok(finished.collect());
    };
    let mut outputs: Vec<Output> = into.iter().map(Output::new).collect::<PyResult<_>>()?;
    Output::check_apart(py, &outputs, &inputs)?;
    decompress_all(py, &found, outputs.iter_mut().map(Output::bytes).collect())?;
    found
        .iter()
        .map(|(_, n_bytes)| Ok(n_bytes.into_pyobject(py)?.into_any()))
        .collect()
}

/// Decompresses blocks, with the sizes of their contents, to the start of memory of their own, on all cores.
fn decompress_all(py: Python<'_>, blocks: &[(&[u8], usize)], outs: Vec<&mut [u8]>) -> PyResult<()> {
    let decode = |(&(block, n_bytes), out): (&(&[u8], usize), &mut [u8])| {
        let (needed, actual) = (n_bytes as u64, out.len() as u64);
        let room = out.get_mut(..n_bytes);
        let room = room.ok_or(Error::OutputTooSmall { needed, actual })?;
        decompress(block, None, room)
    };
    let done = run(py, || blocks.par_iter().zip(outs).try_for_each(decode));
    done.map_err(|error| raise(py, &error))
}
